package dev.protolog.internal.text;

import java.util.ArrayList;
import java.util.List;

/**
 * A template, taken apart, and how it is rendered.
 *
 * <pre>
 * conversion = "%" [ "0" ] [ width ] [ "." precision ] letter
 * letter     = d | o | x    integer      f | e | g    float      b    boolean      s    text
 * </pre>
 *
 * <p>The rules are C's printf on 64-bit values: {@code %x} and {@code %o} show negative integers in
 * two's complement, {@code %f} and {@code %e} have six digits by default. Width and precision are
 * at most 255; zeros pad numbers only; precision is for floats (digits) and texts (characters
 * kept).
 *
 * <p>Invariants: to its users it never changes; a value of this class holds no more than 32
 * conversions.
 */
public final class Template {
    private static final int MAX_CONVERSIONS = 32;
    private static final int MAX_NUMBER = 255;

    private final String text;
    /** The literal texts before, between and after the conversions: one more than conversions. */
    private final List<String> texts = new ArrayList<>();
    private final List<Conversion> conversions = new ArrayList<>();

    /** The names of arguments: empty for one that has none, and left out for the last ones. */
    private final String[] names;

    /** The name of spans with this template, once somebody has asked. */
    private String spanName;

    private Template(NamedTemplate named) {
        text = named.text();
        names = named.names().split(",");
    }

    /** The name of spans with this template. */
    public String spanName() {
        if (spanName == null) {
            spanName = SpanName.of(text);
        }
        return spanName;
    }

    public static Template parse(String text) throws TemplateException {
        return parse(new NamedTemplate(text, ""));
    }

    /** A template with the names of its arguments. */
    public static Template parse(NamedTemplate named) throws TemplateException {
        String text = named.text();
        if (text == null) {
            throw new TemplateException("no template");
        }
        Template template = new Template(named);
        StringBuilder between = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            char next = text.charAt(at);
            if (next != '%') {
                between.append(next);
                at++;
            } else if (text.startsWith("%%", at)) {
                between.append('%');
                at += 2;
            } else {
                Parser parser = new Parser(text, at);
                template.conversions.add(parser.conversion());
                template.texts.add(between.toString());
                between.setLength(0);
                at = parser.at;
            }
        }
        template.texts.add(between.toString());
        if (template.size() > MAX_CONVERSIONS) {
            throw new TemplateException("more than " + MAX_CONVERSIONS + " conversions");
        }
        return template;
    }

    /** Number of arguments the template takes. */
    public int size() {
        return conversions.size();
    }

    /** The letter of a conversion. */
    public char letter(int index) {
        return conversions.get(index).letter;
    }

    /** The name of an argument; null where it has none. */
    public String argumentName(int index) {
        return index < names.length && !names[index].isEmpty() ? names[index] : null;
    }

    /** Types of the arguments, two bits each: 00 text, 01 integer, 10 float, 11 boolean. */
    public long mask() {
        long mask = 0;
        for (int i = 0; i < conversions.size(); i++) {
            mask |= conversions.get(i).kind() << 2 * i;
        }
        return mask;
    }

    /** The values that a trace has of arguments, which must fit as those of {@link #render}. */
    public Object[] values(Object[] args) throws TemplateException {
        checkCount(args.length);
        Object[] values = new Object[args.length];
        for (int i = 0; i < args.length; i++) {
            values[i] = conversions.get(i).value(args[i]);
        }
        return values;
    }

    /** The template with no more than the letters of conversions, as Perfetto understands it. */
    public String bare() {
        StringBuilder out = new StringBuilder(texts.get(0).replace("%", "%%"));
        for (int i = 0; i < conversions.size(); i++) {
            out.append('%').append(conversions.get(i).letter).append(texts.get(i + 1).replace("%", "%%"));
        }
        return out.toString();
    }

    /**
     * The text with these arguments, which must fit in number and type. Null fits all: 0, 0.0,
     * false, "null".
     */
    public String render(Object[] args) throws TemplateException {
        checkCount(args.length);
        StringBuilder out = new StringBuilder(texts.get(0));
        for (int i = 0; i < args.length; i++) {
            out.append(conversions.get(i).render(args[i])).append(texts.get(i + 1));
        }
        return out.toString();
    }

    private void checkCount(int passed) throws TemplateException {
        if (passed != size()) {
            throw new TemplateException("takes " + size() + (size() == 1 ? " argument" : " arguments") + ", got " + passed);
        }
    }

    /** The template as it was given. */
    @Override
    public String toString() {
        return text;
    }

    /** One conversion; {@code precision} is -1 where not given. */
    private record Conversion(char letter, boolean zeros, int width, int precision) {
        long kind() {
            return switch (letter) {
                case 'd', 'o', 'x' -> 1;
                case 'f', 'e', 'g' -> 2;
                case 'b' -> 3;
                default -> 0;
            };
        }

        String render(Object arg) throws TemplateException {
            int digits = precision < 0 ? 6 : precision;
            return pad(switch (letter) {
                case 'd' -> Long.toString(integer(arg));
                case 'o' -> Long.toOctalString(bits(arg));
                case 'x' -> Long.toHexString(bits(arg));
                case 'f' -> FloatText.fixed(floating(arg), digits);
                case 'e' -> FloatText.exponent(floating(arg), digits);
                case 'g' -> FloatText.general(floating(arg), digits);
                case 'b' -> Boolean.toString(bool(arg));
                default -> cut(MessageText.textOf(arg));
            });
        }

        /** The value that a trace has of an argument. */
        Object value(Object arg) throws TemplateException {
            return switch ((int) kind()) {
                case Arguments.INTEGER -> (Object) (letter == 'd' ? integer(arg) : bits(arg));
                case Arguments.FLOATING -> floating(arg);
                case Arguments.BOOL -> bool(arg);
                default -> MessageText.textOf(arg);
            };
        }

        private long integer(Object arg) throws TemplateException {
            if (arg == null) {
                return 0;
            } else if (arg instanceof Character c) {
                return c;
            }
            return fitting(arg, Numbers.integer(arg));
        }

        private long bits(Object arg) throws TemplateException {
            return arg == null || arg instanceof Character ? integer(arg) : fitting(arg, Numbers.bits(arg));
        }

        /** Integers fit too, as Java widens them where a double is expected. */
        private double floating(Object arg) throws TemplateException {
            return arg == null || arg instanceof Character ? integer(arg) : fitting(arg, Numbers.floating(arg));
        }

        private <T> T fitting(Object arg, T value) throws TemplateException {
            if (value == null) {
                throw unfit(arg);
            }
            return value;
        }

        private boolean bool(Object arg) throws TemplateException {
            if (arg == null || arg instanceof Boolean) {
                return arg != null && (Boolean) arg;
            }
            throw unfit(arg);
        }

        private TemplateException unfit(Object arg) {
            return new TemplateException("%" + letter + " does not take " + arg.getClass().getName());
        }

        private String cut(String text) {
            boolean fits = precision < 0 || text.codePointCount(0, text.length()) <= precision;
            return fits ? text : text.substring(0, text.offsetByCodePoints(0, precision));
        }

        private String pad(String shown) {
            int missing = width - shown.codePointCount(0, shown.length());
            if (missing <= 0) {
                return shown;
            }
            int sign = shown.startsWith("-") ? 1 : 0;
            if (!zeros || Character.isLetter(shown.charAt(sign)) && kind() == 2) {
                return " ".repeat(missing) + shown; // inf and nan are not padded with zeros
            }
            return shown.substring(0, sign) + "0".repeat(missing) + shown.substring(sign);
        }
    }

    /** Reads one conversion; {@code at} goes from its per cent sign to the character after it. */
    private static final class Parser {
        private final String text;
        private final int start;
        private int at;

        Parser(String text, int start) {
            this.text = text;
            this.start = start;
            this.at = start;
        }

        Conversion conversion() throws TemplateException {
            at++;
            boolean zeros = text.startsWith("0", at);
            if (zeros) {
                at++;
            }
            int width = number("width");
            int precision = -1;
            if (text.startsWith(".", at)) {
                at++;
                precision = number("precision");
                if (precision < 0) {
                    throw error("no digits after the point in");
                }
            }
            if (at == text.length()) {
                throw error("unfinished");
            }
            int letter = text.codePointAt(at);
            at += Character.charCount(letter);
            if ("doxfegbs".indexOf(letter) < 0) {
                throw error("unknown");
            } else if (zeros && ("bs".indexOf(letter) >= 0 || width < 0)) {
                throw error(width < 0 ? "zero padding without a width in" : "zero padding of text in");
            } else if (precision >= 0 && "doxb".indexOf(letter) >= 0) {
                throw error("precision in");
            }
            return new Conversion((char) letter, zeros, width, precision);
        }

        /** The number at {@code at}; -1 if there is no digit. */
        private int number(String what) throws TemplateException {
            int number = -1;
            for (; at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9'; at++) {
                number = Math.min(Math.max(number, 0) * 10 + text.charAt(at) - '0', MAX_NUMBER + 1);
            }
            if (number > MAX_NUMBER) {
                throw error(what + " over " + MAX_NUMBER + " in");
            }
            return number;
        }

        private TemplateException error(String problem) {
            return new TemplateException(problem + " conversion `" + text.substring(start, at) + "`");
        }
    }
}
