package dev.protolog.internal.groups;

import dev.protolog.internal.text.NamedTemplate;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The limits of {@link RuntimeMessage}s, of all groups together.
 *
 * <p>Invariant: messages are limited in number and in length, since a program may build templates
 * at run time. Beyond that, {@link RuntimeMessage#ANY_TEXT} is left for each group and level, of
 * which there are fewer.
 */
public final class MessageLimits {
    private static final int MAX = 20_000;
    private static final int MAX_OF_ANY_TEXT = MAX / 2;
    private static final AtomicInteger COUNT = new AtomicInteger();
    /**
     * The most characters of all templates. Each is kept with its parts, and is in the dictionary
     * of each session.
     */
    private static final long MAX_LENGTH = 8 << 20;
    private static final AtomicLong LENGTH = new AtomicLong();

    private MessageLimits() {}

    /** True if one more message of this text may be kept. */
    public static boolean allow(NamedTemplate text) {
        boolean isAnyText = text.text().equals(RuntimeMessage.ANY_TEXT);
        return COUNT.get() < MAX + (isAnyText ? MAX_OF_ANY_TEXT : 0) && (isAnyText || LENGTH.get() + length(text) <= MAX_LENGTH);
    }

    /** Counts a message that is kept. */
    public static void add(NamedTemplate text) {
        COUNT.incrementAndGet();
        LENGTH.addAndGet(length(text));
    }

    /** Forgets the messages of a group that is gone. */
    static void forget(GroupState state) {
        for (var byLevel : state.messages) {
            for (RuntimeMessage message : byLevel.values()) {
                COUNT.decrementAndGet();
                LENGTH.addAndGet(-length(message.named()));
            }
        }
    }

    private static int length(NamedTemplate text) {
        return text.text().length() + text.names().length();
    }
}
