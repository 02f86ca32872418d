package dev.protolog;

import java.time.Instant;

/** Id and name of the thread of an event, as traces have them, and its time. */
record Origin(int threadId, String threadName, Instant time) {}
