package dev.protolog.internal.groups;

import dev.protolog.LogLevel;
import java.util.Locale;

/**
 * The levels that a setting gives a group: those that sessions may record, and those that are
 * printed. Null changes nothing.
 */
public record Setting(Integer trace, Integer text) {
    static final Setting NONE = new Setting(null, null);

    /** The parts of this setting that a later one leaves out. */
    Setting without(Setting later) {
        return new Setting(later.trace == null ? trace : null, later.text == null ? text : null);
    }

    /**
     * The shortest words that mean the same. A set with gaps is shown as its least severe level.
     */
    @Override
    public String toString() {
        String words = "";
        if (trace != null) {
            words = trace != 0 ? name(trace) : text == null ? "notrace" : "off";
        }
        if (text == null || text == 0 && words.equals("off")) {
            return words;
        }
        return words + (words.isEmpty() ? "" : ",") + (text == 0 ? "notext" : "text:" + name(text));
    }

    private static String name(int levels) {
        return LogLevel.values()[Integer.numberOfTrailingZeros(levels)].name().toLowerCase(Locale.ROOT);
    }
}
