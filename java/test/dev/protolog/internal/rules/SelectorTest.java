package dev.protolog.internal.rules;

import static dev.protolog.SelfTest.check;

import dev.protolog.LogLevel;
import dev.protolog.internal.groups.SettingsText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Selectors, rules and limits, by the vectors that Rust has, too. */
public final class SelectorTest {
    private static final int MAX_LENGTH = 2048;

    private SelectorTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : rows(vectors.resolve("selectors.tsv"), 40)) {
            String text = row[0].replace("\\t", "\t").replace("\\x", "x".repeat(MAX_LENGTH));
            check("selector " + row[0], shown(text), row[1]);
        }
        for (String[] row : rows(vectors.resolve("selected.tsv"), 30)) {
            List<Integer> lines = Stream.of(row[6].split(",")).filter(it -> !it.isEmpty()).map(Integer::valueOf).toList();
            KnownCall call = new KnownCall(
                    row[1].isEmpty() ? null : Long.valueOf(Long.parseUnsignedLong(row[1], 16)), level(row[2]), row[3], row[4], row[5], lines, row[7]);
            check(String.join(" | ", row), selector(row[0]).takes(call), row[8].equals("yes"));
        }
        for (String[] row : rows(vectors.resolve("argument_conditions.tsv"), 20)) {
            KnownCall call = new KnownCall(null, null, "net", "", "", List.of(), row[1]);
            boolean isTaken = selector(row[0]).takes(call);
            check("call " + String.join(" | ", row), isTaken, row[3].equals("yes"));
            check("message " + String.join(" | ", row), isTaken && selector(row[0]).takesArguments(arguments(row[2])), row[4].equals("yes"));
        }
        for (String[] row : rows(vectors.resolve("site_rules.tsv"), 20)) {
            String read = SiteRules.parse(row[0].replace("\\n", "\n")).all().stream().map(Object::toString).collect(Collectors.joining(" | "));
            check("rules " + row[0], read, row[1]);
        }
        for (String[] row : rows(vectors.resolve("limits.tsv"), 15)) {
            Limit limit = Limit.parse(row[0]);
            check("limit " + row[0], limit == null ? "" : limit.toString(), row[1]);
            check("interval of " + row[0], limit == null ? "" : limit.interval() + " " + limit.burst(), row[2]);
        }
        String text = "site \"a;b=c\"=on;net=debug\nsite = info;site x=bad;site=warn";
        check("settings of groups beside rules", SettingsText.parse(text).items().stream().map(SettingsText.Item::pattern).toList(),
                List.of("net", "site", "site"));
        check("rules beside settings of groups", SiteRules.parse(text).all().size(), 2);
        whiteSpace();
        moved();
    }

    /** Rust's tests have the same characters. */
    private static void whiteSpace() {
        for (String space : List.of(" ", "\t", "\r", "\f")) {
            String rule = space + "site net=" + space + "limit:9/s" + space + "," + space + "on" + space;
            check("white space " + (int) space.charAt(0), SiteRules.parse(rule).all().toString(), "[net=on,limit:9/s]");
        }
        for (String other : List.of("\u000b", "\u001c", "\u0085", "\u00a0", "\u2003", "\u2028")) {
            for (String rule : List.of("site net=" + other + "on", "site net=limit:9" + other + "/s", "site " + other + "net=on")) {
                check("no white space " + (int) other.charAt(0), SiteRules.parse(rule).problems().size(), 1);
            }
        }
    }

    /** The arguments of a vector: those of digits are integers. */
    private static IntegerArguments arguments(String cell) {
        List<String> values = List.of(cell.split(" "));
        return new IntegerArguments() {
            @Override
            public boolean isInteger(int index) {
                return index < values.size() && values.get(index).matches("-?[0-9]+");
            }

            @Override
            public long integer(int index) {
                return Long.parseLong(values.get(index));
            }
        };
    }

    static Selector selector(String text) {
        try {
            return Selector.parse(text);
        } catch (SelectorException e) {
            throw new AssertionError(text, e);
        }
    }

    private static void moved() {
        Selector selector = selector("#7f and net.rs:12");
        KnownCall there = new KnownCall(0x7fL, LogLevel.INFO, "a", "", "src/net.rs", List.of(12), "x");
        KnownCall elsewhere = new KnownCall(0x7fL, LogLevel.INFO, "a", "", "src/net.rs", List.of(14), "x");
        check("a call at its place", selector.takes(there) && !selector.takesMoved(there), true);
        check("a call that moved", selector.takesMoved(elsewhere) && !selector.takes(elsewhere), true);
        check("another call", selector.takesMoved(new KnownCall(1L, LogLevel.INFO, "a", "", "src/net.rs", List.of(14), "x")), false);
        check("a selector without a place", selector("#7f").mayMove(), false);
    }

    private static String shown(String text) {
        try {
            return Selector.parse(text).toString();
        } catch (SelectorException e) {
            return e.getMessage() + " / " + e.help();
        }
    }

    private static LogLevel level(String name) {
        return Stream.of(LogLevel.values()).filter(it -> it.name().equalsIgnoreCase(name)).findAny().orElse(null);
    }

    /** The rows below the header line, as they are. */
    private static List<String[]> rows(Path file, int least) throws IOException {
        List<String> lines = Files.readAllLines(file);
        check("vectors in " + file, lines.size() > least, true);
        return lines.stream().skip(1).map(line -> line.split("\t", -1)).toList();
    }
}
