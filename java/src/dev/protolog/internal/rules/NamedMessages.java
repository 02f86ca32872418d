package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.text.Controls;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The messages that a text names: those with this template, or those that a selector takes. Each is
 * looked at when it comes for the first time, since calls become known as a program runs.
 */
public final class NamedMessages {
    /** The most messages that are remembered; beyond it all are looked at anew. */
    private static final int MAX = 1 << 16;

    private final String text;
    /** Null where the text is none. */
    private final Selector selector;
    private final Map<Long, Boolean> seen = new ConcurrentHashMap<>();
    /** The version of the dictionaries that {@link #known} is from, and their calls. */
    private volatile long version = -1;
    private volatile Map<Long, List<KnownCall>> known = Map.of();

    private NamedMessages(String text, Selector selector) {
        this.text = text;
        this.selector = selector;
    }

    /**
     * Those that a template or a selector names.
     *
     * @throws IllegalArgumentException if it asks for arguments, which nobody looks at here
     */
    public static NamedMessages of(String text) {
        Selector read;
        try {
            read = Selector.parse(text);
        } catch (SelectorException e) {
            return new NamedMessages(text, null);
        }
        if (read.isByArguments()) {
            throw new IllegalArgumentException("onMessage takes no condition on an argument: `" + Controls.escaped(text)
                    + "`; name calls, or write a text of a template in quotation marks");
        }
        return new NamedMessages(text, read);
    }

    /** True if a message is one; {@code template} is null where a dictionary has it. */
    public boolean has(long id, String group, LogLevel level, String template) {
        Boolean isOne = seen.get(id);
        if (isOne == null) {
            KnownCall call = new KnownCall(id, level, group, "", "", List.of(), template == null ? "" : template);
            isOne = (template == null ? inDictionary(id, call) : List.of(call)).stream().anyMatch(this::takes);
            if (seen.size() >= MAX) {
                seen.clear();
            }
            seen.put(id, isOne);
        }
        return isOne;
    }

    private boolean takes(KnownCall call) {
        return call.template().equals(text) || selector != null && selector.takes(call);
    }

    private List<KnownCall> inDictionary(long id, KnownCall unknown) {
        long now = Dictionaries.version();
        if (now != version) {
            known = KnownCalls.all();
            version = now;
        }
        return known.getOrDefault(id, List.of(unknown));
    }
}
