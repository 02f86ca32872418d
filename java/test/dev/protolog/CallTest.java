package dev.protolog;

import static dev.protolog.LevelsTest.Group.GONE;
import static dev.protolog.LevelsTest.Group.NET;
import static dev.protolog.LevelsTest.Group.QUIET;
import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
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
            problemsAreShown();
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
                        ProtoLogImpl.f(1.5f), ProtoLogImpl.b(true), ProtoLogImpl.l((byte) -1)));
        same("DEBUG", () -> ProtoLog.d(NET, TEMPLATE, null, none, null, null, 'c'),
                () -> ProtoLogImpl.d(NET, id(LogLevel.DEBUG), mask, ProtoLogImpl.s(null), ProtoLogImpl.l(none),
                        ProtoLogImpl.f((Double) null), ProtoLogImpl.b(null), ProtoLogImpl.l('c')));
        same("INFO", () -> ProtoLog.i(NET, TEMPLATE, 1, 2L, 3, false, 4),
                () -> ProtoLogImpl.i(NET, id(LogLevel.INFO), mask, ProtoLogImpl.s(1), ProtoLogImpl.l(2L),
                        ProtoLogImpl.f(3), ProtoLogImpl.b(false), ProtoLogImpl.l(4)));
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

    private static void problemsAreShown() {
        check("an unknown id", Captured.lines(() -> ProtoLogImpl.d(NET, 255, 1, 7L, "x")),
                "DEBUG TagNET: #00000000000000ff (7, x)\n");
        check("a mask of another build", Captured.lines(() -> ProtoLogImpl.d(NET, id(LogLevel.DEBUG), 1, 7L)),
                "DEBUG TagNET: FORMAT_ERROR \"" + TEMPLATE + "\", args=(7): the call's mask is 1, the template's 484\n");
        check("a wrong template", Captured.lines(() -> ProtoLog.d(NET, "%q")),
                "DEBUG TagNET: FORMAT_ERROR \"%q\", args=(): unknown conversion `%q`\n");
    }

    private static void same(String level, Runnable unprocessed, Runnable processed) {
        String line = Captured.lines(unprocessed);
        check("the line starts with level and tag", line.startsWith(level + " TagNET: ") && line.endsWith("\n"), true);
        check("processed " + level, Captured.lines(processed), line);
    }
}
