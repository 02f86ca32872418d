package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingsText;

/** An invalid selector. Its message has the column and the offending text. */
public final class SelectorException extends Exception {
    private static final long serialVersionUID = 1;

    private final Kind kind;

    /** The ways in which a selector can be invalid. */
    enum Kind {
        EMPTY("empty selector",
                "name a group or module (`net`), a file (`net.rs:120-180`), a text of the template (`\"retry\"`), an id (`#58f2c41b9a07d36e`), a level (`debug`) or the value of an argument (`arg1 == 42`)"),
        NO_CONDITION("missing condition after `and`", "write a condition after `and`, as in `net and debug`"),
        NO_AND("missing `and` before", "write `and` between conditions, as in `net and debug`"),
        FUNCTION("no call is known by its function in",
                "name its lines, as in `net.rs:120-180`; `protologtool configuration site list 'fn send'` finds them in the sources"),
        NO_NAME("missing name after", "write a name after it, as in `group net`"),
        BAD_NAME("invalid name", "write `group` and the name in quotation marks, as in `group \"my logger\"`"),
        BAD_ID("invalid id", "write `#` and up to 16 hexadecimal digits, as `configuration site list` prints them"),
        BAD_LINES("invalid lines in", "write one line or two, from 1, as in `net.rs:120-180`"),
        BAD_LEVELS("no level in", "write the less severe level first, as in `verbose-debug`"),
        BAD_ARGUMENT("invalid condition on an argument",
                "write an argument from 1 to 15, one of `==`, `!=`, `<`, `<=`, `>` and `>=`, and an integer, as in `arg1 == 42`"),
        NO_QUOTE("open quotation mark in", "close the quotation mark; between two of them, `\\\"` and `\\\\` stand for `\"` and `\\`"),
        TOO_MANY("too many conditions", "write at most 8 conditions"),
        TOO_LONG("selector is too long", "write at most 2,048 bytes");

        private final String what;
        private final String help;

        Kind(String what, String help) {
            this.what = what;
            this.help = help;
        }
    }

    SelectorException(Kind kind, int column, String text) {
        super(message(kind, column, text), null, false, false);
        this.kind = kind;
    }

    /** The help line, which begins with a verb. */
    public String help() {
        return kind.help;
    }

    private static String message(Kind kind, int column, String text) {
        String quoted = text.isEmpty() || kind == Kind.NO_CONDITION ? "" : " `" + SettingsText.oneLine(text) + "`";
        return "column " + column + ": " + kind.what + quoted;
    }
}
