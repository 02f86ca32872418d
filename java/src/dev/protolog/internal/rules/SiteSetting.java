package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import dev.protolog.internal.groups.SettingsText;
import java.util.ArrayList;
import java.util.List;

/**
 * The effect of a rule on a call. A part that is null stays as it is.
 *
 * @param trace true if sessions record it
 * @param text true if it is printed
 * @param limit the limit of each call; {@link Limit#NONE} for no limit
 * @param groupLimit the limit of all calls together that the rule takes in a group
 * @param sample the rate at which messages are sampled; {@link Rate#NONE} for all of them
 * @param repeat true if identical consecutive messages become one
 * @param resets earlier rules no longer hold
 */
record SiteSetting(Boolean trace, Boolean text, Limit limit, Limit groupLimit, Rate sample, Boolean repeat, boolean resets) {
    /** That of a rule that says nothing. */
    static final SiteSetting NONE = new SiteSetting(null, null, null, null, null, null, false);

    private static final String LIMIT = "limit";
    private static final String GROUP_LIMIT = "group-limit";
    private static final String SAMPLE = "sample";
    private static final String REPEAT = "repeat";

    /** A word that is none. */
    static final class BadWord extends Exception {
        private static final long serialVersionUID = 1;

        BadWord(String word) {
            super(word, null, false, false);
        }

        /** What is wrong with a limit or a rate, and the help line; null for another word. */
        String[] problem() {
            String rate = valueOf(SAMPLE, getMessage());
            if (rate != null) {
                return problem("invalid rate", rate, Rate.help(rate));
            }
            String limit = valueOf(LIMIT, getMessage());
            limit = limit == null ? valueOf(GROUP_LIMIT, getMessage()) : limit;
            return limit == null ? null : problem("invalid limit", limit, Limit.HELP);
        }

        private static String[] problem(String what, String value, String help) {
            return new String[] {what + " `" + SettingsText.oneLine(SettingParts.trim(value)) + "`", help};
        }

        /** The word in one line; empty where there is none. */
        String word() {
            return SettingsText.oneLine(getMessage());
        }
    }

    /** The switches alone, and what it ends. */
    SiteSetting switchesOnly() {
        return new SiteSetting(trace, text, null, null, null, null, resets);
    }

    /** The same with the switches of another one. */
    SiteSetting withSwitches(SiteSetting other) {
        return new SiteSetting(other.trace, other.text, limit, groupLimit, sample, repeat, resets);
    }

    /**
     * The switches of a call whose messages are one or the other: of on and off, on; as the group
     * or off, as the group.
     */
    SiteSetting or(SiteSetting other) {
        return new SiteSetting(or(trace, other.trace), or(text, other.text), null, null, null, null, false);
    }

    private static Boolean or(Boolean one, Boolean other) {
        boolean isOn = one != null && one || other != null && other;
        return isOn ? Boolean.TRUE : one == null || other == null ? null : Boolean.FALSE;
    }

    /** True if it sets or ends what calls have whatever their arguments: limits, rates, merging. */
    boolean isOfCalls() {
        return limit != null || groupLimit != null || sample != null || repeat != null;
    }

    /** That of a limit alone. */
    static SiteSetting ofLimit(Limit limit, boolean isOfGroup) {
        return new SiteSetting(null, null, isOfGroup ? null : limit, isOfGroup ? limit : null, null, null, false);
    }

    /** That of a rate alone. */
    static SiteSetting ofRate(Rate rate) {
        return new SiteSetting(null, null, null, null, rate, null, false);
    }

    /** Reads the words after {@code =}. */
    static SiteSetting parse(String words) throws BadWord {
        Boolean trace = null;
        Boolean text = null;
        Limit limit = null;
        Limit groupLimit = null;
        Rate sample = null;
        Boolean repeat = null;
        boolean resets = false;
        for (String each : words.split(",", -1)) {
            String word = SettingParts.trim(each);
            if (is(word, "on")) {
                trace = true;
            } else if (is(word, "off")) {
                trace = false;
                text = text == null ? Boolean.FALSE : text;
            } else if (is(word, "notrace")) {
                trace = false;
            } else if (is(word, "text") || is(word, "notext")) {
                text = is(word, "text");
            } else if (is(word, "nolimit")) {
                limit = Limit.NONE;
            } else if (is(word, "nogroup-limit")) {
                groupLimit = Limit.NONE;
            } else if (is(word, "nosample")) {
                sample = Rate.NONE;
            } else if (is(word, REPEAT) || is(word, "no" + REPEAT)) {
                repeat = is(word, REPEAT);
            } else if (is(word, "default")) {
                resets = true;
            } else if (limitOf(LIMIT, word) != null) {
                limit = limitOf(LIMIT, word);
            } else if (limitOf(GROUP_LIMIT, word) != null) {
                groupLimit = limitOf(GROUP_LIMIT, word);
            } else if (rateOf(word) != null) {
                sample = rateOf(word);
            } else {
                throw new BadWord(word);
            }
        }
        return new SiteSetting(trace, text, limit, groupLimit, sample, repeat, resets);
    }

    /** The rest of it before a later one of the same calls: the parts that this one leaves out. */
    SiteSetting before(SiteSetting later) {
        return new SiteSetting(later.trace == null ? trace : null, later.text == null ? text : null,
                later.limit == null ? limit : null, later.groupLimit == null ? groupLimit : null,
                later.sample == null ? sample : null, later.repeat == null ? repeat : null, resets);
    }

    /** What two rules make of a call, of which {@code later} is the later one. */
    SiteSetting then(SiteSetting later) {
        return later.resets ? later : new SiteSetting(later.trace == null ? trace : later.trace, later.text == null ? text : later.text,
                later.limit == null ? limit : later.limit, later.groupLimit == null ? groupLimit : later.groupLimit,
                later.sample == null ? sample : later.sample, later.repeat == null ? repeat : later.repeat, resets);
    }

    /** The same for calls that it may not sample. */
    SiteSetting withoutRate() {
        return sample == null || sample == Rate.NONE ? this : new SiteSetting(trace, text, limit, groupLimit, null, repeat, resets);
    }

    /** True if it does more than to end others. */
    boolean acts() {
        return trace != null || text != null || isOfCalls();
    }

    boolean switchesOn() {
        return trace != null && trace || text != null && text;
    }

    /** The words of a rule that does the same where there is no other one; {@code -} for none. */
    String state() {
        String words = new SiteSetting(trace, text, limit == Limit.NONE ? null : limit, groupLimit == Limit.NONE ? null : groupLimit,
                sample == Rate.NONE ? null : sample, repeat == null || !repeat ? null : repeat, false).toString();
        return words.isEmpty() ? "-" : words;
    }

    /** The shortest words that mean the same. */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        if (resets) {
            words.add("default");
        }
        if (trace != null) {
            words.add(trace ? "on" : text == null ? "notrace" : "off");
        }
        if (text != null && (text || trace == null || trace)) {
            words.add(text ? "text" : "notext");
        }
        addValue(words, LIMIT, limit, Limit.NONE);
        addValue(words, GROUP_LIMIT, groupLimit, Limit.NONE);
        addValue(words, SAMPLE, sample, Rate.NONE);
        if (repeat != null) {
            words.add(repeat ? REPEAT : "no" + REPEAT);
        }
        return String.join(",", words);
    }

    private static void addValue(List<String> words, String name, Object value, Object none) {
        if (value != null) {
            words.add(value == none ? "no" + name : name + ":" + value);
        }
    }

    static boolean is(String word, String name) {
        return Limit.isAscii(word) && word.equalsIgnoreCase(name);
    }

    /** The limit in a word of this name: {@code limit:100/s}, or with a space; null for none. */
    private static Limit limitOf(String name, String word) {
        String value = valueOf(name, word);
        return value == null ? null : Limit.parse(value);
    }

    private static Rate rateOf(String word) {
        String value = valueOf(SAMPLE, word);
        return value == null ? null : Rate.parse(value);
    }

    /** The text behind this name in a word: {@code NAME:TEXT}, or with a space; null for none. */
    static String valueOf(String name, String word) {
        boolean fits = word.length() > name.length() && is(word.substring(0, name.length()), name) && ": ".indexOf(word.charAt(name.length())) >= 0;
        return fits ? word.substring(name.length() + 1) : null;
    }
}
