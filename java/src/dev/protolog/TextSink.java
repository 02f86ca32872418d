package dev.protolog;

/** A receiver of the messages of groups that are printed. {@link ProtoLog#setSink} chooses it. */
@FunctionalInterface
public interface TextSink {
    /**
     * Takes a message, on a thread of this library, which may wait. The thread that logs goes on
     * meanwhile: it waits at most 50 ms for its message, and not at all while the sink is behind.
     * Messages that come while about 1 MiB of them are queued are dropped;
     * {@link ProtoLog#droppedText} counts them, and once the sink takes messages again, it is shown
     * one that says how many. A message that the sink itself prints goes to standard error, and so
     * does one that it throws at.
     */
    void show(TextLine line);
}
