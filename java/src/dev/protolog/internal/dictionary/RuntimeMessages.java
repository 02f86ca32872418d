package dev.protolog.internal.dictionary;

import dev.protolog.LogLevel;
import dev.protolog.MessageId;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.MessageLimits;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.text.Template;
import dev.protolog.internal.text.TemplateException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The messages of unprocessed calls, as they come. Invariant: a message is in the dictionary of
 * each trace before it is used there.
 */
public final class RuntimeMessages {
    /** The most places of calls that are kept, of those of sessions that ask for them. */
    private static final int MAX_LOCATIONS = 16;

    private RuntimeMessages() {}

    /**
     * The message of a template, which may be none: then {@link RuntimeMessage#template} is null.
     * Null beyond the limit. {@code location} is the place of the call, null where no session asks
     * for it.
     */
    public static RuntimeMessage of(GroupState state, LogLevel level, String text, String location) {
        RuntimeMessage known = state.messages[level.ordinal()].get(text);
        if (known == null) {
            return add(state, level, text, location);
        }
        boolean isNew = location != null && known.locations().size() < MAX_LOCATIONS && known.locations().add(location);
        if (isNew && known.template() != null) {
            SessionDictionary.addToAll(state, known, location);
        }
        return known;
    }

    private static RuntimeMessage add(GroupState state, LogLevel level, String text, String location) {
        if (!MessageLimits.allow(text)) {
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
        MessageLimits.add(text);
        if (template != null) {
            // For a session that began meanwhile.
            SessionDictionary.addToAll(state, made);
        }
        return made;
    }
}
