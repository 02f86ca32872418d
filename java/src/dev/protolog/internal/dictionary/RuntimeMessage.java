package dev.protolog.internal.dictionary;

import dev.protolog.LogLevel;
import dev.protolog.MessageId;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.text.Template;
import dev.protolog.internal.text.TemplateException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A message of unprocessed calls: its template is taken apart once, and it is in the trace's
 * dictionary before it is used.
 *
 * <p>Invariant: messages are limited in number and in length, since a program may build templates
 * at run time. Beyond that, {@link #ANY_TEXT} is left for each group and level, of which there are
 * fewer.
 */
public record RuntimeMessage(long id, String text, Template template, LogLevel level, Set<String> locations) {
    /** The most places of calls that are kept, of those of sessions that ask for them. */
    private static final int MAX_LOCATIONS = 16;

    /** The template of texts that have none of their own. */
    public static final String ANY_TEXT = "%s";

    private static final int MAX = 20_000;
    private static final int MAX_OF_ANY_TEXT = MAX / 2;
    private static final AtomicInteger COUNT = new AtomicInteger();
    /**
     * The most characters of all templates. Each is kept with its parts, and is in the dictionary
     * of each session.
     */
    private static final long MAX_LENGTH = 8 << 20;
    private static final AtomicLong LENGTH = new AtomicLong();

    /**
     * The message of a template, which may be none: then {@link #template} is null. Null beyond the
     * limit. {@code location} is the place of the call, null where no session asks for it.
     */
    public static RuntimeMessage of(GroupState state, LogLevel level, String text, String location) {
        RuntimeMessage known = state.messages[level.ordinal()].get(text);
        if (known == null) {
            return add(state, level, text, location);
        }
        boolean isNew = location != null && known.locations.size() < MAX_LOCATIONS && known.locations.add(location);
        if (isNew && known.template != null) {
            SessionDictionary.addToAll(state, known, location);
        }
        return known;
    }

    /** Forgets the messages of a group that is gone. */
    public static void forget(GroupState state) {
        for (var byLevel : state.messages) {
            for (String text : byLevel.keySet()) {
                COUNT.decrementAndGet();
                LENGTH.addAndGet(-text.length());
            }
        }
    }

    private static RuntimeMessage add(GroupState state, LogLevel level, String text, String location) {
        boolean isAnyText = text.equals(ANY_TEXT);
        if (COUNT.get() >= MAX + (isAnyText ? MAX_OF_ANY_TEXT : 0) || !isAnyText && LENGTH.get() + text.length() > MAX_LENGTH) {
            return null;
        }
        Template template = null;
        try {
            template = Template.parse(text);
        } catch (TemplateException e) {
            // Its calls are recorded as the text that tells so.
        }
        Set<String> locations = ConcurrentHashMap.newKeySet();
        if (location != null) {
            locations.add(location);
        }
        long id = MessageId.of("", text, level, state.fullName);
        RuntimeMessage made = new RuntimeMessage(id, text, template, level, locations);
        if (template != null) {
            SessionDictionary.addToAll(state, made);
        }
        RuntimeMessage before = state.messages[level.ordinal()].putIfAbsent(text, made);
        if (before != null) {
            return of(state, level, text, location);
        }
        COUNT.incrementAndGet();
        LENGTH.addAndGet(text.length());
        if (template != null) {
            // For a session that began meanwhile.
            SessionDictionary.addToAll(state, made);
        }
        return made;
    }
}
