package dev.protolog;

import dev.protolog.internal.text.CallStacks;
import java.time.Instant;

/**
 * The thread, the time and the place of an event that a bridge passes on: another logger may hand
 * it over later, and by another thread.
 *
 * @param threadId Java's id of the thread; 0 if only its name is known
 * @param threadName its name; null if only its id is known
 * @param time when the event was logged
 * @param location the place of the call, as {@code com/foo/Main.java:12}; null if it is not known
 */
public record EventOrigin(long threadId, String threadName, Instant time, String location) {
    /** The place of a frame. */
    public static String location(StackTraceElement frame) {
        return frame == null ? null : CallStacks.place(frame.getClassName(), frame.getFileName(), frame.getLineNumber());
    }
}
