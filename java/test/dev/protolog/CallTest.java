package dev.protolog;

import static dev.protolog.LevelsTest.Group.GONE;
import static dev.protolog.LevelsTest.Group.NET;
import static dev.protolog.LevelsTest.Group.QUIET;
import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.session.EndReport;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.text.CallStacks;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.function.Supplier;

/** Whole calls: each unprocessed one prints what its processed form prints. */
final class CallTest {
    private static final String TEMPLATE = "%s %04d %8.3f %b %x";

    private CallTest() {}

    static void run() throws IOException {
        // Before the first processed call, since the dictionary is read once.
        Path file = Files.createTempFile("protolog", ".pb");
        Files.write(file, dictionary());
        System.setProperty(Dictionaries.PROPERTY, file.toString());
        try {
            bothFormsPrintTheSame();
            argumentsAreTyped();
            objectsBecomeText();
            whatIsOffIsSilent();
            numbersThatDoNotFitAreErrors();
            exceptionsAreShown();
            problemsAreShown();
            tellsOfMessagesWithoutText();
        } finally {
            Files.delete(file);
        }
    }

    private static byte[] dictionary() {
        Bytes dictionary = new Bytes();
        for (LogLevel level : LogLevel.values()) {
            dictionary.message(1, new Bytes()
                    .fixed64(1, id(level))
                    .string(2, "%s %d %f %b %x")
                    .message(1000, new Bytes().string(1, TEMPLATE)));
        }
        return dictionary.done();
    }

    private static long id(LogLevel level) {
        return MessageId.of("dev/protolog/CallTest.java", TEMPLATE, level, MessageId.fullName(NET));
    }

    private static void bothFormsPrintTheSame() {
        int n = 42;
        Integer none = null;
        long mask = 0b01_11_10_01_00;
        same("VERBOSE", () -> ProtoLog.v(NET, TEMPLATE, "größe", n, 1.5f, true, (byte) -1),
                () -> ProtoLogImpl.v(NET, id(LogLevel.VERBOSE), mask, ProtoLogImpl.s("größe"), ProtoLogImpl.l(n),
                        ProtoLogImpl.f(1.5f), ProtoLogImpl.b(true), ProtoLogImpl.x((byte) -1)));
        same("DEBUG", () -> ProtoLog.d(NET, TEMPLATE, null, none, null, null, 'c'),
                () -> ProtoLogImpl.d(NET, id(LogLevel.DEBUG), mask, ProtoLogImpl.s(null), ProtoLogImpl.l(none),
                        ProtoLogImpl.f((Double) null), ProtoLogImpl.b(null), ProtoLogImpl.x('c')));
        same("INFO", () -> ProtoLog.i(NET, TEMPLATE, 1, 2L, 3, false, 4),
                () -> ProtoLogImpl.i(NET, id(LogLevel.INFO), mask, ProtoLogImpl.s(1), ProtoLogImpl.l(2L),
                        ProtoLogImpl.f(3), ProtoLogImpl.b(false), ProtoLogImpl.x(4)));
        Object[] args = {"a", 1L, 2.0, true, 3L};
        same("WARN", () -> ProtoLog.w(NET, TEMPLATE, args), () -> ProtoLogImpl.w(NET, id(LogLevel.WARN), mask, args));
        same("ERROR", () -> ProtoLog.e(NET, TEMPLATE, args), () -> ProtoLogImpl.e(NET, id(LogLevel.ERROR), mask, args));
        same("WTF", () -> ProtoLog.wtf(NET, TEMPLATE, args), () -> ProtoLogImpl.wtf(NET, id(LogLevel.WTF), mask, args));
    }

    private static void argumentsAreTyped() {
        Short boxed = 5;
        check("a boxed short is an integer", ProtoLogImpl.l(boxed), 5L);
        check("a character is an integer", ProtoLogImpl.l(Character.valueOf('c')), 99L);
        check("what a generic method gives is an integer", ProtoLogImpl.l(given(() -> 7)), 7L);
        check("or a float", ProtoLogImpl.f(given(() -> 1.5f)), 1.5);
        check("or a boolean", ProtoLogImpl.b(given(() -> true)), true);
        check("every class of numbers is an integer", ProtoLogImpl.l(new AtomicInteger(3)), 3L);
        check("a boxed float", ProtoLogImpl.f(Float.valueOf(0.5f)), 0.5);
        check("a null float", ProtoLogImpl.f((Float) null), 0.0);
        check("a null long", ProtoLogImpl.l((Long) null), 0L);
        check("a null short", ProtoLogImpl.l((Short) null), 0L);
        check("a null byte", ProtoLogImpl.l((Byte) null), 0L);
        check("a null integer as float", ProtoLogImpl.f((Integer) null), 0.0);
        check("a null long as float", ProtoLogImpl.f((Long) null), 0.0);
    }

    private static void objectsBecomeText() {
        Object throwing = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException();
            }
        };
        String failed = "<" + throwing.getClass().getName() + ".toString: java.lang.IllegalStateException>";
        check("an array", ProtoLogImpl.s(new int[] {1, 2}), "[1, 2]");
        check("arrays in one", ProtoLogImpl.s(new Object[] {new boolean[] {true}, null, "x", new Object[0]}), "[[true], null, x, []]");
        check("an element that throws", ProtoLogImpl.s(new Object[] {1, throwing, 2}), "[1, " + failed + ", 2]");
        Object[] itself = {0, null};
        itself[1] = itself;
        check("an array that has itself", ProtoLogImpl.s(itself), "[0, [...]]");
        check("a long one, too", ProtoLogImpl.s(new byte[1 << 24]).length() < 1 << 17, true);
        check("a supplier", ProtoLogImpl.s((Supplier<Object>) () -> new char[] {'a'}), "[a]");
        check("one that throws", ProtoLogImpl.s((Supplier<Object>) () -> throwing.toString()).endsWith("IllegalStateException>"), true);
        check("both forms", Captured.lines(() -> ProtoLog.i(NET, "%s %s", new int[] {3}, (Supplier<Object>) () -> 4)), "INFO TagNET: [3] 4\n");
        String constant = "always the same";
        CallStacks.setCollected(true);
        check("texts of two Throwables are two objects", CallStacks.noted(new Throwable(), constant) == CallStacks.noted(new Throwable(), constant), false);
        CallStacks.setCollected(false);
    }

    private static <T> T given(Supplier<T> supplier) {
        return supplier.get();
    }

    private static void whatIsOffIsSilent() {
        check("off", Captured.lines(() -> {
            ProtoLog.wtf(GONE, "gone");
            ProtoLog.wtf(QUIET, "quiet");
        }), "");
        check("the guards agree", ProtoLogImpl.isEnabled(NET, LogLevel.VERBOSE) && ProtoLog.isEnabled(NET, LogLevel.VERBOSE)
                && !ProtoLogImpl.isEnabled(GONE, LogLevel.WTF) && !ProtoLog.isEnabled(QUIET, LogLevel.WTF), true);
    }

    private static void numbersThatDoNotFitAreErrors() {
        long mask = 0b01_11_10_01_00;
        LogLevel level = LogLevel.INFO;
        Object[][] all = {
            {1.9, 0.5, 1},
            {new BigInteger("36893488147419103237"), 0.5, 1},
            {1, new BigDecimal("0.12345678901234567890"), 1},
            {1.9f, 0.5, new BigDecimal(7)},
            {BigInteger.TEN, new BigDecimal("12.50"), new AtomicInteger(-1)},
            {new AtomicLong(-7), BigInteger.ONE, BigInteger.ONE.negate()},
            {(short) 3, new DoubleAdder(), (short) -1},
        };
        for (Object[] one : all) {
            Number integer = (Number) one[0];
            Number floating = (Number) one[1];
            Number hex = (Number) one[2];
            same("INFO", () -> ProtoLog.i(NET, TEMPLATE, "s", integer, floating, true, hex),
                    () -> ProtoLogImpl.i(NET, id(level), mask, ProtoLogImpl.s("s"), ProtoLogImpl.l(integer),
                            ProtoLogImpl.f(floating), ProtoLogImpl.b(true), ProtoLogImpl.x(hex)));
        }
        check("the text", Captured.lines(() -> ProtoLogImpl.i(NET, id(level), mask, "s", ProtoLogImpl.l((Number) 1.9), 0.5, true, 1L)),
                "INFO TagNET: FORMAT_ERROR \"" + TEMPLATE + "\", args=(s, 1.9, 0.5, true, 1): %d does not take java.lang.Double\n");
        check("without the template", Captured.lines(() -> ProtoLogImpl.d(NET, 255, 1, ProtoLogImpl.l((Number) 1.9))),
                "DEBUG TagNET: FORMAT_ERROR \"#00000000000000ff\", args=(1.9): an integer does not take java.lang.Double\n");
        // One that no call takes, and a call within the arguments of another.
        ProtoLogImpl.l((Number) 2.5);
        check("of a call within another", Captured.lines(() -> ProtoLogImpl.d(NET, 255, 5, ProtoLogImpl.l((Number) 1.9), within())),
                "DEBUG TagNET: FORMAT_ERROR \"#00000000000000fe\", args=(3.5): an integer does not take java.lang.Double\n"
                        + "DEBUG TagNET: FORMAT_ERROR \"#00000000000000ff\", args=(1.9, 5): an integer does not take java.lang.Double\n");
        check("the next one is as ever", Captured.lines(() -> ProtoLogImpl.d(NET, 255, 1, 7L)), "DEBUG TagNET: #00000000000000ff (7)\n");
    }

    private static long within() {
        ProtoLogImpl.d(NET, 254, 1, ProtoLogImpl.l((Number) 3.5));
        return 5;
    }

    private static void exceptionsAreShown() {
        Exception cause = new IllegalStateException("root");
        Exception failed = new IOException("read", cause);
        String text = "ERROR TagNET: failed 3\njava.io.IOException: read\n\tat dev.protolog.CallTest.exceptionsAreShown(CallTest.java:";
        String line = Captured.lines(() -> ProtoLog.e(NET, "failed %d", 3, failed));
        check("an exception behind the arguments: " + line, line.startsWith(text), true);
        check("its cause", line.contains("\nCaused by: java.lang.IllegalStateException: root\n"), true);
        StringWriter printed = new StringWriter();
        failed.printStackTrace(new PrintWriter(printed));
        check("as Java prints it", line, "ERROR TagNET: failed 3\n" + printed);
        check("without arguments", Captured.lines(() -> ProtoLog.e(NET, "failed", failed)), "ERROR TagNET: failed\n" + printed);
        check("none", Captured.lines(() -> ProtoLog.e(NET, "failed", (Throwable) null)), "ERROR TagNET: failed\n");
        check("one for a conversion", Captured.lines(() -> ProtoLog.e(NET, "failed: %s", failed)), "ERROR TagNET: failed: " + failed + "\n");
        check("two are too many", Captured.lines(() -> ProtoLog.e(NET, "failed", 1, failed)).startsWith("ERROR TagNET: FORMAT_ERROR"), true);
        long mask = 0b01_11_10_01_00;
        same("ERROR", () -> ProtoLog.e(NET, TEMPLATE, "a", 1, 2.0, true, 3, failed),
                () -> ProtoLogImpl.e(NET, id(LogLevel.ERROR), mask, "a", 1L, 2.0, true, 3L, ProtoLogImpl.t(failed)));
        check("three arguments", Captured.lines(() -> ProtoLogImpl.e(NET, 255, 21, 1L, 2L, 3L, ProtoLogImpl.t(failed))),
                "ERROR TagNET: #00000000000000ff (1, 2, 3)\n" + printed);
        check("no argument", Captured.lines(() -> ProtoLogImpl.e(NET, 255, 0, ProtoLogImpl.t(failed))), "ERROR TagNET: #00000000000000ff ()\n" + printed);
        check("no exception", Captured.lines(() -> ProtoLogImpl.e(NET, 255, 0, ProtoLogImpl.t(null))), "ERROR TagNET: #00000000000000ff ()\n");
        check("the next one has none", Captured.lines(() -> ProtoLogImpl.e(NET, 255, 1, 1L)), "ERROR TagNET: #00000000000000ff (1)\n");
    }

    private static void problemsAreShown() {
        check("an unknown id", Captured.lines(() -> ProtoLogImpl.d(NET, 255, 1, 7L, "x")),
                "DEBUG TagNET: #00000000000000ff (7, x)\n");
        check("a mask of another build", Captured.lines(() -> ProtoLogImpl.d(NET, id(LogLevel.DEBUG), 1, 7L)),
                "DEBUG TagNET: FORMAT_ERROR \"" + TEMPLATE + "\", args=(7): the call's mask is 1, the template's 484\n");
        check("a wrong template", Captured.lines(() -> ProtoLog.d(NET, "%q")),
                "DEBUG TagNET: FORMAT_ERROR \"%q\", args=(): unknown conversion `%q`\n");
    }

    private static void tellsOfMessagesWithoutText() {
        SessionStats.OfGroup known = new SessionStats.OfGroup("a.Log.NET", 5, 0, 50, Map.of());
        SessionStats.OfGroup unknown = new SessionStats.OfGroup("", 3, 0, 30, Map.of());
        String said = Captured.lines(() -> EndReport.reportUnreadable(new SessionStats(8, 0, 80, List.of(known, unknown)), Path.of("/a")));
        check("a line: " + said, said.startsWith("protolog: 3 messages of `/a` are in no dictionary"), true);
        check("none", Captured.lines(() -> EndReport.reportUnreadable(new SessionStats(5, 0, 50, List.of(known)), Path.of("/a"))), "");
    }

    private static void same(String level, Runnable unprocessed, Runnable processed) {
        String line = Captured.lines(unprocessed);
        check("the line starts with level and tag", line.startsWith(level + " TagNET: ") && line.endsWith("\n"), true);
        check("processed " + level, Captured.lines(processed), line);
    }
}
