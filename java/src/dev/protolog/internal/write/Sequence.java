package dev.protolog.internal.write;

/**
 * A packet sequence of a session: the state that a writer hands on to the next one with its id,
 * when its thread has ended.
 *
 * <p>Invariant: only the writer that has it uses it; times and chunk ids continue.
 */
public final class Sequence {
    public final int id;
    int nextChunk;
    /** Messages ever written. */
    public long messages;
    /** The messages that the session has counted. */
    public long counted;
    /** The time of the last packet, in nanoseconds of BOOTTIME. */
    long time;
    /** Losses that no packet of the sequence reports yet; of a session that streams. */
    public final Losses losses = new Losses();
    /**
     * The messages that limits have suppressed: all, and those that no packet reports yet. Null
     * before the first.
     */
    private volatile Losses suppressed;
    private volatile Losses unreported;

    public Sequence(int id) {
        this.id = id;
    }

    /**
     * Counts a message that a limit has suppressed at this time. No lock that other threads take
     * for their messages: the session looks here when it is asked for its losses. False where there
     * is no memory for that.
     */
    public boolean suppress(int group, long time, boolean isReported) {
        try {
            if (suppressed == null) {
                unreported = new Losses();
                suppressed = new Losses();
            }
        } catch (OutOfMemoryError | StackOverflowError e) {
            return false;
        }
        suppressed.addAt(group, LossCause.LIMITED, time);
        if (isReported) {
            unreported.addAt(group, LossCause.LIMITED, time);
        }
        return true;
    }

    /** Adds all messages that limits have suppressed. */
    public void addSuppressedTo(Losses all) {
        if (suppressed != null) {
            suppressed.all().forEach(count -> count.addTo(all));
        }
    }

    /** Those that no packet reports yet; null where there were never any. */
    public Losses unreported() {
        return suppressed == null ? null : unreported;
    }
}
