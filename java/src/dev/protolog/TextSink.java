package dev.protolog;

/** A receiver of the messages of groups that are printed. {@link ProtoLog#setSink} chooses it. */
@FunctionalInterface
public interface TextSink {
    /**
     * Takes a message, on the thread that logs it. A message that the sink itself logs is counted as lost. If the sink throws, the message goes
     * to standard error.
     */
    void show(TextLine line);
}
