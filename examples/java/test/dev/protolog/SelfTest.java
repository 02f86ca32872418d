package dev.protolog;

import java.nio.file.Path;

/**
 * Runs the tests of the API: {@code java -cp CLASSES dev.protolog.SelfTest VECTORS}, where VECTORS is the folder with
 * {@code ids.tsv} and {@code xxh3.tsv}. The first difference ends it with an {@link AssertionError}, exit code 1.
 */
public final class SelfTest {
    private static int checks;

    private SelfTest() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: dev.protolog.SelfTest VECTORS");
            System.exit(2);
        }
        TemplateTest.run();
        LevelsTest.run();
        DictionaryTest.run();
        CallTest.run();
        MessageIdTest.run(Path.of(args[0]));
        System.out.println(checks + " checks passed");
    }

    static void check(String what, Object actual, Object expected) {
        checks++;
        if (!actual.equals(expected)) {
            throw new AssertionError(what + "\n  expected: " + expected + "\n  actual:   " + actual);
        }
    }
}
