package dev.protolog;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A message of unprocessed calls: its template is taken apart once, and it is in the trace's dictionary before it is used.
 *
 * <p>Invariant: the number of messages is limited, since a program may build templates at run time.
 */
record RuntimeMessage(long id, String text, Template template, LogLevel level) {
    private static final int MAX = 20_000;
    private static final AtomicInteger COUNT = new AtomicInteger();

    /** The message of a template, which may be none: then {@link #template} is null. Null beyond the limit. */
    static RuntimeMessage of(GroupState state, LogLevel level, String text) {
        RuntimeMessage known = state.messages[level.ordinal()].get(text);
        return known != null ? known : add(state, level, text);
    }

    private static RuntimeMessage add(GroupState state, LogLevel level, String text) {
        if (COUNT.get() >= MAX) {
            return null;
        }
        Template template = null;
        try {
            template = Template.parse(text);
        } catch (TemplateException e) {
            // Its calls are recorded as the text that tells so.
        }
        RuntimeMessage made = new RuntimeMessage(MessageId.of("", text, level, state.fullName), text, template, level);
        if (template != null) {
            Sessions.announce(state, made);
        }
        RuntimeMessage before = state.messages[level.ordinal()].putIfAbsent(text, made);
        if (before != null) {
            return before;
        }
        COUNT.incrementAndGet();
        if (template != null) {
            // For a session that began meanwhile.
            Sessions.announce(state, made);
        }
        return made;
    }
}
