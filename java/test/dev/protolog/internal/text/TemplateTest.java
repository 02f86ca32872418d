package dev.protolog.internal.text;

import static dev.protolog.SelfTest.check;
import static dev.protolog.SelfTest.rows;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Templates: what each conversion prints, what is refused, and that nothing throws. Rows are
 * template, text, arguments.
 */
public final class TemplateTest {
    private TemplateTest() {}

    public static void run(Path vectors) throws IOException {
        rendersAsPrintf();
        printsNumbersAsAnotherPrintf(vectors.resolve("numbers.tsv"));
        pads();
        keepsDigitsExact();
        takesJavasTypes();
        takesNull();
        showsWhatDoesNotFit();
        refuses();
        packsMasks();
    }

    private static void rendersAsPrintf() {
        row("", "");
        row("100%%", "100%");
        row("%b %d %% 0x%x %s", "true 10000 % 0x7530 test", true, 10000, 30000, "test");
        row("%f, %e, %g, %b", "0.400000, 5.000000e-01, 0.6, true", 0.4, 0.5, 0.6, true);
        row("%x %o", "ffffffffffffffff 1777777777777777777777", -1L, -1L);
        row("%x %o %x %x %x", "ffffffff 37777777777 ffffffff ffffffff 7fffffff", -1, -1, (byte) -1, (short) -1, Integer.MAX_VALUE);
        row("%d", "-9223372036854775808", Long.MIN_VALUE);
        row("größer %s 🦀", "größer 漢字 🦀", "漢字");
    }

    private static void printsNumbersAsAnotherPrintf(Path file) throws IOException {
        for (String[] row : rows(file, "conversion\tbits\ttext")) {
            long bits = Long.parseUnsignedLong(row[1], 16);
            boolean isInteger = "dox".indexOf(row[0].charAt(row[0].length() - 1)) >= 0;
            Object value = isInteger ? (Object) bits : (Object) Double.longBitsToDouble(bits);
            check(row[0] + " of " + row[1], text(row[0], new Object[] {value}), row[2]);
        }
    }

    private static void pads() {
        row("[%5d][%05d][%05d]", "[   42][00042][-0042]", 42, 42, -42);
        row("[%2d][%02d][%007d][%00d]", "[1234][-1234][0000007][7]", 1234, -1234, 7, 7);
        row("[%6b][%6s][%3s][%3s]", "[  true][  größ][larger][  🦀]", true, "größ", "larger", "🦀");
        row("[%8.3f][%08.2f]", "[   3.142][-0003.14]", 3.14159, -3.14159);
        row("[%08x][%4x][%06x]", "[0000beef][ffffffffffffffff][00beef]", 0xbeef, -1L, 0xbeef);
        row("[%05f][%06e][%06g]", "[ -inf][   nan][   inf]",
                Double.NEGATIVE_INFINITY, Double.NaN, Double.POSITIVE_INFINITY);
        row("[%.2s][%6.3s][%.0s][%.1s]", "[gr][   abc][][🦀]", "größe", "abcdef", "x", "🦀🦀");
        row("[%255d]", "[" + " ".repeat(254) + "7]", 7);
    }

    private static void keepsDigitsExact() {
        row("%.20f %.0f %.0f %.1f", "0.10000000000000000555 2 4 0.1", 0.1, 2.5, 3.5, 0.15);
        row("%f %f", "340282346638528859811704183484516925440.000000 -0.000000", Float.MAX_VALUE, -0.0);
        row("%.0f %.3f", "-0 -0.000", -0.4, -0.0001);
        row("%e %.2e %.2e %.0e", "0.000000e+00 -0.00e+00 1.00e+01 1e+300", 0.0, -0.0, 9.9999999, 1e300);
        row("%.3e %e", "5.563e-309 4.940656e-324", Double.MIN_NORMAL / 4, Double.MIN_VALUE);
        row("%g %g %g %g %g", "0 -0 1e-05 0.0001 123456", 0.0, -0.0, 1e-5, 1e-4, 123456.0);
        row("%g %g %g %g", "1.23457e+06 1e+06 100 1.79769e+308", 1234567.0, 999999.5, 100.0, Double.MAX_VALUE);
        row("%.1g %.0g %.10g", "0.1 2e+01 1234.5678", 0.15, 25.0, 1234.5678);
    }

    private static void takesJavasTypes() {
        row("%d %d %d %d %d", "-1 2 3 4 99", (byte) -1, (short) 2, 3, 4L, 'c');
        row("%x %o", "ffffffff 37777777600", (byte) -1, (byte) -128);
        row("%.1f %.1f %.9f %.1f", "7.0 97.0 0.100000001 0.1", 7, 'a', 0.1f, 0.1);
        row("%s %s %s %s %s", "1 1.5 true c null", 1, 1.5, true, 'c', null);
        row("%s", "<" + Grumpy.class.getName() + ".toString: java.lang.IllegalStateException>", new Grumpy());
    }

    private static void takesNull() {
        row("%s %d %f %b", "null 0 0.000000 false", null, null, null, null);
        row("%x %o %e %g %3d", "0 0 0.000000e+00 0   0", null, null, null, null, null);
        check("one null", text("%s", null), "null");
        check("no array", text("none", null), "none");
    }

    private static void showsWhatDoesNotFit() {
        row("%d", "FORMAT_ERROR \"%d\", args=(): takes 1 argument, got 0");
        row("%d", "FORMAT_ERROR \"%d\", args=(1, null): takes 1 argument, got 2", 1, null);
        row("%d", "FORMAT_ERROR \"%d\", args=(1.5): %d does not take java.lang.Double", 1.5);
        row("%f", "FORMAT_ERROR \"%f\", args=(x): %f does not take java.lang.String", "x");
        row("%b", "FORMAT_ERROR \"%b\", args=(1): %b does not take java.lang.Integer", 1);
        row(null, "FORMAT_ERROR \"null\", args=(1): no template", 1);
        check("null array", text("%s %s", null), "FORMAT_ERROR \"%s %s\", args=(): takes 2 arguments, got 0");
    }

    private static void refuses() {
        refused("50%", "unfinished conversion `%`");
        refused("a %5", "unfinished conversion `%5`");
        refused("%.3", "unfinished conversion `%.3`");
        refused("ab %q c", "unknown conversion `%q`");
        refused("%D", "unknown conversion `%D`");
        refused("%é", "unknown conversion `%é`");
        refused("%🦀", "unknown conversion `%🦀`");
        refused("100% sure", "unknown conversion `% `");
        refused("%-5d", "unknown conversion `%-`");
        refused("%1$s", "unknown conversion `%1$`");
        refused("%5%", "unknown conversion `%5%`");
        refused("%0d", "zero padding without a width in conversion `%0d`");
        refused("%05s", "zero padding of text in conversion `%05s`");
        refused("%03b", "zero padding of text in conversion `%03b`");
        refused("%.2d", "precision in conversion `%.2d`");
        refused("%.f", "no digits after the point in conversion `%.`");
        refused("%256d", "width over 255 in conversion `%256`");
        refused("%.99999999999f", "precision over 255 in conversion `%.99999999999`");
        refused("%d".repeat(33), "more than 32 conversions");
    }

    private static void packsMasks() {
        mask("%%", 0);
        mask("test %d %f", 9);
        mask("%s, %d, %o, %x, %f, %e, %g, %b", 0b1110101001010100);
        mask("%d".repeat(20), 366503875925L);
        mask("%b".repeat(32), -1);
    }

    private static void row(String template, String expected, Object... args) {
        check("`" + template + "`", text(template, args), expected);
    }

    private static void refused(String template, String problem) {
        check("`" + template + "`", text(template, new Object[0]),
                "FORMAT_ERROR \"" + template + "\", args=(): " + problem);
    }

    private static void mask(String template, long expected) {
        try {
            check("mask of `" + template + "`", Template.parse(template).mask(), expected);
        } catch (TemplateException e) {
            throw new AssertionError(template, e);
        }
    }

    private static final class Grumpy {
        @Override
        public String toString() {
            throw new IllegalStateException();
        }
    }

    /** As an unprocessed call has it. */
    private static String text(String template, Object[] args) {
        try {
            Template parsed = Template.parse(template);
            return parsed.render(MessageText.oneNullOrNone(args, parsed.size()));
        } catch (TemplateException e) {
            return MessageText.formatError(template, args, e.getMessage());
        }
    }
}
