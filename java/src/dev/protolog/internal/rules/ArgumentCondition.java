package dev.protolog.internal.rules;

import dev.protolog.internal.rules.SelectorException.Kind;
import dev.protolog.internal.text.Arguments;
import dev.protolog.internal.text.TemplateException;
import java.math.BigInteger;

/**
 * A condition on one integer argument: {@code arg1 == 42}. As
 * {@code protolog-core/src/control/selector/argument.rs} has it; {@code argument_conditions.tsv} in
 * {@code protolog-core/testdata} has vectors for both.
 *
 * <p>Invariant: what is no integer, or is not there, meets no condition.
 *
 * @param number that of the argument, from 1
 * @param value the lowest 64 bits of what it is compared with
 * @param isBeyond true if that is more than any argument can be: more than fits in 63 bits
 */
record ArgumentCondition(int number, Comparison comparison, long value, boolean isBeyond) implements Condition {
    private static final int MAX_NUMBER = 15;
    private static final String OPERATORS = "=!<>";

    /** The ways to compare an argument with a value. */
    enum Comparison {
        EQUAL("=="),
        NOT_EQUAL("!="),
        AT_MOST("<="),
        AT_LEAST(">="),
        LESS("<"),
        MORE(">");

        private final String text;

        Comparison(String text) {
            this.text = text;
        }

        private boolean holds(int order) {
            return switch (this) {
                case EQUAL -> order == 0;
                case NOT_EQUAL -> order != 0;
                case AT_MOST -> order <= 0;
                case AT_LEAST -> order >= 0;
                case LESS -> order < 0;
                case MORE -> order > 0;
            };
        }
    }

    /** A condition and the end of its text. */
    record Parsed(ArgumentCondition condition, int end) {}

    /** Of a call: its template has an integer there. */
    @Override
    public boolean holds(KnownCall call) {
        try {
            // A condition on templates has this name, too.
            var template = dev.protolog.internal.text.Template.parse(call.template());
            return number <= template.size() && (template.mask() >>> 2 * (number - 1) & 3) == Arguments.INTEGER;
        } catch (TemplateException e) {
            return false;
        }
    }

    @Override
    public boolean isUnknown(KnownCall call) {
        return call.template().isEmpty();
    }

    /** True if it holds for a message with these arguments. */
    boolean holds(IntegerArguments arguments) {
        return arguments.isInteger(number - 1) && comparison.holds(isBeyond ? -1 : Long.compare(arguments.integer(number - 1), value));
    }

    /**
     * Takes a condition from a place in a text; null where no comparison follows {@code arg} and a
     * number. {@code column} is that of the place.
     */
    static Parsed parse(String text, int from, int column) throws SelectorException {
        if (!text.startsWith("arg", from)) {
            return null;
        }
        int digits = from + "arg".length();
        int number = end(text, digits, "0123456789", true);
        int operator = end(text, number, " \t", true);
        if (number == digits || operator == text.length() || OPERATORS.indexOf(text.charAt(operator)) < 0) {
            return null;
        }
        int space = end(text, operator, OPERATORS, true);
        int begin = end(text, space, " \t", true);
        int end = end(text, begin, " \t\"", false);
        ArgumentCondition read = of(text.substring(digits, number), text.substring(operator, space), text.substring(begin, end));
        if (read == null) {
            throw new SelectorException(Kind.BAD_ARGUMENT, column, SelectorParser.trim(text.substring(from, end)));
        }
        return new Parsed(read, end);
    }

    private static ArgumentCondition of(String digits, String operator, String text) {
        boolean isNegative = text.startsWith("-");
        String number = isNegative ? text.substring(1) : text;
        int radix = number.startsWith("0x") ? 16 : 10;
        number = radix == 16 ? number.substring("0x".length()) : number;
        boolean isNumber = !number.isEmpty() && number.chars().allMatch(it -> it < 0x80 && Character.digit(it, radix) >= 0);
        String significant = digits.replaceFirst("^0+(?=.)", "");
        int index = significant.length() > 2 ? 0 : Integer.parseInt(significant);
        if (!isNumber || index < 1 || index > MAX_NUMBER) {
            return null;
        }
        BigInteger value = new BigInteger(isNegative ? "-" + number : number, radix);
        boolean isBeyond = value.signum() > 0 && value.bitLength() == Long.SIZE;
        if (!isBeyond && value.bitLength() >= Long.SIZE) {
            return null;
        }
        for (Comparison comparison : Comparison.values()) {
            if (comparison.text.equals(operator)) {
                return new ArgumentCondition(index, comparison, value.longValue(), isBeyond);
            }
        }
        return null;
    }

    /** The end of the characters from a place on that are these, or are none of these. */
    private static int end(String text, int from, String these, boolean isOfThese) {
        int at = from;
        while (at < text.length() && these.indexOf(text.charAt(at)) >= 0 == isOfThese) {
            at++;
        }
        return at;
    }

    @Override
    public String toString() {
        return "arg" + number + " " + comparison.text + " " + (isBeyond ? Long.toUnsignedString(value) : Long.toString(value));
    }
}
