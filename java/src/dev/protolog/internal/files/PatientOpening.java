package dev.protolog.internal.files;

import dev.protolog.internal.process.RuntimeThread;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * Opens files for reading where another user may put a pipe in their place at any moment: to open
 * one is to wait for its writer, and Java has no way to open a file without that. So a thread
 * opens, for a moment, and is left behind if the file does not come by then.
 *
 * <p>Invariants: a caller waits for a moment at most, also if the thread can't start; few threads
 * are left behind, however often there is a pipe.
 */
public final class PatientOpening<T extends Closeable> implements Runnable {
    private static final long MOMENT_NANOS = 1_000_000_000;
    /** The most threads that are left behind: then nothing is opened that way any more. */
    private static final int MOST_LEFT = 4;
    /** The threads that are left behind; guarded by the class. */
    private static int left;

    private final Opening<T> opening;
    /** The outcome; guarded by this. */
    private T opened;
    private Throwable failed;
    private boolean isGivenUp;

    /** A way to open a file. */
    public interface Opening<T extends Closeable> {
        T open() throws IOException;
    }

    private PatientOpening(Opening<T> opening) {
        this.opening = opening;
    }

    /** The file that {@code opening} opens; people know it by this path. */
    public static <T extends Closeable> T open(Path shown, Opening<T> opening) throws IOException {
        synchronized (PatientOpening.class) {
            if (left >= MOST_LEFT) {
                throw waits(shown);
            }
        }
        PatientOpening<T> patient = new PatientOpening<>(opening);
        RuntimeThread.start(patient, "protolog-open");
        return patient.outcome(shown);
    }

    /** Opens a regular file, of which a link may be the name. */
    public static FileInputStream regular(Path path) throws IOException {
        return open(path, () -> {
            FileInputStream in = new FileInputStream(path.toFile());
            try {
                // A pipe has no position: then this is an error. Nobody interrupts this thread,
                // which would close the file.
                in.getChannel().position();
                return in;
            } catch (IOException | RuntimeException | Error e) {
                in.close();
                throw e;
            }
        });
    }

    private synchronized T outcome(Path shown) throws IOException {
        boolean isInterrupted = false;
        long end = System.nanoTime() + MOMENT_NANOS;
        try {
            while (opened == null && failed == null) {
                long nanos = end - System.nanoTime();
                if (nanos <= 0) {
                    isGivenUp = true;
                    count(1);
                    throw waits(shown);
                }
                try {
                    // Not 0, which is for ever.
                    wait(nanos / 1_000_000 + 1);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (failed instanceof IOException e) {
            throw e;
        } else if (failed != null) {
            throw new IOException(failed);
        }
        return opened;
    }

    @Override
    public void run() {
        T result = null;
        Throwable error = null;
        try {
            result = opening.open();
        } catch (IOException | RuntimeException | Error e) {
            error = e;
        }
        synchronized (this) {
            opened = result;
            failed = error;
            notifyAll();
            if (!isGivenUp) {
                return;
            }
        }
        count(-1);
        try {
            if (result != null) {
                result.close();
            }
        } catch (IOException e) {
            // Nobody has it.
        }
    }

    private static synchronized void count(int more) {
        left += more;
    }

    private static FileSystemException waits(Path shown) {
        return new FileSystemException(shown.toString(), null, "it does not open, as a pipe that no program writes");
    }
}
