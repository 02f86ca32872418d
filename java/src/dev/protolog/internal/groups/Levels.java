package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.WrittenName;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The levels of each group that are printed: the property {@code protolog.level}, for example
 * {@code INFO} or {@code WARN,WALK=VERBOSE,"my logger"=off}. An entry without a name is for all
 * groups; one with a name wins, also over {@link IProtoLogGroup#isLogToLogcat}. Without the
 * property all levels are on.
 *
 * <p>Invariants: read once, when the first call asks; a group whose {@code isEnabled()} is false
 * stays off.
 */
public final class Levels {
    static final String PROPERTY = "protolog.level";

    /** The least severe level that is on; empty: none is. */
    private Optional<LogLevel> general = Optional.of(LogLevel.VERBOSE);
    private final Map<String, Optional<LogLevel>> byGroup = new HashMap<>();

    private Levels() {}

    static Levels current() {
        return Holder.CURRENT;
    }

    /** Parses a value of the property. Invalid parts are reported as problems and ignored. */
    public static Levels parse(String property) {
        Levels levels = new Levels();
        for (int start = 0; start == 0 || start < property.length();) {
            int from = start;
            while (from < property.length() && Character.isWhitespace(property.charAt(from))) {
                from++;
            }
            int comma = property.indexOf(',', WrittenName.quotedEnd(property, from));
            int end = comma < 0 ? property.length() : comma;
            levels.add(property.substring(start, end).strip());
            start = end + 1;
        }
        return levels;
    }

    /** The levels of the group of this name that are printed, a bit for each. */
    public int printed(String name, boolean isLogToLogcat) {
        Optional<LogLevel> least = byGroup.get(name);
        if (least == null) {
            least = isLogToLogcat ? general : Optional.empty();
        }
        return least.isPresent() ? LevelSet.andAbove(least.get()) : 0;
    }

    private void add(String entry) {
        int equals = entry.indexOf('=', WrittenName.quotedEnd(entry, 0));
        String word = entry.substring(equals + 1).strip().toUpperCase(Locale.ROOT);
        Optional<LogLevel> least = Optional.empty();
        if (!word.equals("OFF")) {
            try {
                least = Optional.of(LogLevel.valueOf(word));
            } catch (IllegalArgumentException notALevel) {
                LogPrinter.problem("not a level in -D" + PROPERTY + ": `" + entry + "`",
                        "use verbose, debug, info, warn, error, wtf or off, or GROUP=LEVEL");
                return;
            }
        }
        if (equals < 0) {
            general = least;
        } else {
            byGroup.put(WrittenName.read(entry.substring(0, equals).strip()), least);
        }
    }

    private static final class Holder {
        static final Levels CURRENT = parse(System.getProperty(PROPERTY, LogLevel.VERBOSE.name()));
    }
}
