package dev.protolog.internal.process;

import java.time.Instant;

/** Id and name of the thread of an event, as traces have them, and its time. */
public record Origin(int threadId, String threadName, Instant time) {}
