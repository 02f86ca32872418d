package dev.protolog.internal.groups;

import dev.protolog.LogLevel;
import dev.protolog.internal.text.NamedTemplate;
import dev.protolog.internal.text.Template;
import java.util.Set;

/**
 * A message of a group's unprocessed calls: its template is taken apart once.
 *
 * @param named the template as it was given, and the names of its arguments
 * @param template null where the text is none; its calls are recorded as the text that tells so
 * @param locations the places of its calls, as far as sessions ask for them; it grows
 */
public record RuntimeMessage(long id, NamedTemplate named, Template template, LogLevel level, Set<String> locations) {
    /** The template of texts that have none of their own. */
    public static final String ANY_TEXT = "%s";

    /** Its key among the messages of its group and level: without names, the text alone. */
    public Object key() {
        return named.names().isEmpty() ? named.text() : named;
    }

    /** The template as it was given. */
    public String text() {
        return named.text();
    }
}
