package dev.protolog;

/**
 * The events of a cause of a session's triggers.
 *
 * @param cause the cause
 * @param fired events that make a file
 * @param suppressed events that came less than {@link Triggers#interval} after one that makes a
 *     file, or after the end of the session
 * @param written files that were written
 * @param failed files that could not be written
 */
public record TriggerCounts(String cause, long fired, long suppressed, long written, long failed) {
    @Override
    public String toString() {
        return cause + ": " + fired + " fired, " + suppressed + " suppressed, " + written + " written, " + failed + " failed";
    }
}
