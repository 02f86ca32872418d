package dev.protolog;

import java.time.Duration;
import java.util.Objects;

/**
 * An operation that may take so long, and no longer: at its end it fires the triggers of all
 * sessions that have any, if it has taken longer.
 *
 * <pre>{@code
 * try (Deadline deadline = new Deadline("slow query", Duration.ofMillis(50))) {
 *     query();
 * }
 * }</pre>
 */
public final class Deadline implements AutoCloseable {
    private final String cause;
    private final long limit;
    private final long begun = System.nanoTime();
    private boolean isOver;

    /** Begins an operation; {@code cause} is that of the file of one that is late. */
    public Deadline(String cause, Duration limit) {
        this.cause = Objects.requireNonNull(cause);
        long nanos = Long.MAX_VALUE;
        try {
            nanos = limit.toNanos();
        } catch (ArithmeticException e) {
            // It is never late.
        }
        this.limit = nanos;
    }

    /** True if the operation has taken longer by now. */
    public boolean isLate() {
        return System.nanoTime() - begun > limit;
    }

    /** Ends the operation. Further calls do nothing. */
    @Override
    public void close() {
        if (!isOver) {
            isOver = true;
            if (isLate()) {
                ProtoLog.trigger(cause);
            }
        }
    }
}
