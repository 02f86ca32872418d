package dev.protolog;

import java.io.IOException;
import java.nio.file.FileSystemException;

/**
 * Says why {@link Session#stop} could not write a trace whole, and what the session has counted
 * nevertheless. Its cause is the error of the file.
 */
public final class StopException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient Summary summary;

    StopException(IOException cause, Summary summary) {
        super(reason(cause), cause);
        this.summary = summary;
    }

    /** The message of an error, which has to say more than the file that it is about. */
    private static String reason(IOException error) {
        boolean isBare = error instanceof FileSystemException file && file.getReason() == null || error.getMessage() == null;
        String name = error.getClass().getSimpleName();
        return !isBare ? error.getMessage() : error.getMessage() == null ? name : name + ": " + error.getMessage();
    }

    /**
     * The counts of the session: its losses, and the messages in its file or, if the session keeps
     * its messages, in its buffer. Null after the exception was written to a stream of objects and
     * read again.
     */
    public Summary summary() {
        return summary;
    }
}
