package dev.protolog.internal.dictionary;

import dev.protolog.LogLevel;
import dev.protolog.MessageId;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.MessageLimits;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.text.NamedTemplate;
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

    /** As below, of arguments without names. */
    public static RuntimeMessage of(GroupState state, LogLevel level, String text, String location) {
        return of(state, level, text, "", location);
    }

    /**
     * The message of a template, which may be none: then {@link RuntimeMessage#template} is null.
     * Null beyond the limit. {@code location} is the place of the call, null where no session asks
     * for it.
     */
    public static RuntimeMessage of(GroupState state, LogLevel level, String text, String names, String location) {
        Object key = names.isEmpty() ? text : new NamedTemplate(text, names);
        RuntimeMessage known = state.messages[level.ordinal()].get(key);
        return known == null ? add(state, level, key, location) : at(state, known, location);
    }

    /** A message that is known, with one more place perhaps. */
    private static RuntimeMessage at(GroupState state, RuntimeMessage known, String location) {
        boolean isNew = location != null && known.locations().size() < MAX_LOCATIONS && known.locations().add(location);
        if (isNew && known.template() != null) {
            SessionDictionary.addToAll(state, known, location);
        }
        return known;
    }

    private static RuntimeMessage add(GroupState state, LogLevel level, Object key, String location) {
        NamedTemplate text = key instanceof NamedTemplate named ? named : new NamedTemplate((String) key, "");
        if (!MessageLimits.allow(text)) {
            return null;
        }
        Template template = null;
        try {
            text = text == key ? text : NamedTemplate.parse(text.text());
            template = Template.parse(text);
        } catch (TemplateException e) {
            // Its calls are recorded as the text that tells so.
        }
        Set<String> locations = ConcurrentHashMap.newKeySet();
        if (location != null) {
            locations.add(location);
        }
        long id = MessageId.of("", text.text(), text.names(), level, state.fullName);
        RuntimeMessage made = new RuntimeMessage(id, key, text, template, level, locations);
        if (template != null) {
            SessionDictionary.addToAll(state, made);
        }
        RuntimeMessage before = state.messages[level.ordinal()].putIfAbsent(made.key(), made);
        if (before != null) {
            return at(state, before, location);
        }
        MessageLimits.add(text);
        if (template != null) {
            // For a session that began meanwhile.
            SessionDictionary.addToAll(state, made);
        }
        return made;
    }
}
