package dev.protolog;

import dev.protolog.internal.process.ThreadIdentity;
import java.time.Instant;

/**
 * A message as text, of one or more lines, with its level and its group's tag, the time at which it
 * was logged, and the id and the name of the thread that logged it.
 */
public record TextLine(LogLevel level, String tag, String text, Instant time, int threadId, String threadName) {
    /** A message that the current thread logs now. */
    public TextLine(LogLevel level, String tag, String text) {
        this(level, tag, text, Instant.now(), ThreadIdentity.currentId(), Thread.currentThread().getName());
    }
}
