package app;

import dev.protolog.internal.rules.SiteRules;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads settings, a line each with its line ends escaped, and prints the rules that each has and
 * its problems: {@code Grammar FILE}.
 */
public final class Grammar {
    private Grammar() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line : Files.readString(Path.of(args[0])).split("\n")) {
            SiteRules read = SiteRules.parse(line.replace("\\n", "\n"));
            List<String> said = new ArrayList<>();
            read.items().forEach(item -> said.add(item.toString()));
            read.problems().forEach(problem -> said.add(problem.message() + " / " + problem.help()));
            out.println(String.join(" | ", said));
        }
        out.flush();
    }
}
