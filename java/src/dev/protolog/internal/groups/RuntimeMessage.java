package dev.protolog.internal.groups;

import dev.protolog.LogLevel;
import dev.protolog.internal.text.NamedTemplate;
import dev.protolog.internal.text.Template;
import java.util.Set;

/**
 * A message of a group's unprocessed calls: its template is taken apart once.
 *
 * @param key the template as calls have written it, or {@code named} where a bridge names arguments
 * @param named the template, and the names of its arguments
 * @param template null where the text is none; its calls are recorded as the text that tells so
 * @param locations the places of its calls, as far as sessions ask for them; it grows
 */
public record RuntimeMessage(long id, Object key, NamedTemplate named, Template template, LogLevel level, Set<String> locations) {
    /** The template of texts that have none of their own. */
    public static final String ANY_TEXT = "%s";

    /** The template, without names. */
    public String text() {
        return named.text();
    }
}
