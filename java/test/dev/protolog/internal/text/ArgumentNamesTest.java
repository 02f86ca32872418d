package dev.protolog.internal.text;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Names of arguments: which there are, and those of pairs. */
public final class ArgumentNamesTest {
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u(\\p{XDigit}{4})|t)");

    private ArgumentNamesTest() {}

    public static void run(Path vectors) throws IOException {
        namesAreThoseOfTheVectors(vectors.resolve("argument_names.tsv"));
        templatesNameArguments(vectors.resolve("named_templates.tsv"));
        pairsNameTheLastArguments();
        check("half a character", NamedTemplate.isName("a\ud83d"), false);
    }

    private static void namesAreThoseOfTheVectors(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        check("header", lines.get(0), "name\tis_name");
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split("\t");
            String name = ESCAPE.matcher(cells[0])
                    .replaceAll(it -> it.group(1) == null ? "\t" : Character.toString(Integer.parseInt(it.group(1), 16)));
            check(line, NamedTemplate.isName(name), cells[1].equals("yes"));
        }
    }

    /** As the tool finds them. */
    private static void templatesNameArguments(Path file) throws IOException {
        for (String line : Files.readAllLines(file).stream().skip(1).toList()) {
            String[] cells = line.split("\t", -1);
            String problem = "";
            NamedTemplate found = new NamedTemplate(cells[1], cells[2]);
            try {
                found = NamedTemplate.parse(cells[0]);
            } catch (TemplateException e) {
                problem = e.getMessage();
            }
            check(line, found, new NamedTemplate(cells[1], cells[2]));
            check(line, problem, cells[3]);
        }
    }

    private static void pairsNameTheLastArguments() {
        Map<String, Object> pairs = new LinkedHashMap<>();
        pairs.put("user", "ann");
        pairs.put("not a name", 1);
        pairs.put("request-id", 7);
        named("sent {} bytes to {}", pairs, "sent %d bytes to %s user=%s not a name=%d request-id=%d", ",,user,,request-id");
        named("sent", pairs, "%s user=%s not a name=%d request-id=%d", ",user,,request-id");
        named("sent {} bytes to {}", Map.of("a,b", 1), "sent %d bytes to %s a,b=%d", "");
        named("sent {} bytes to {}", Map.of(), "sent %d bytes to %s", "");
    }

    private static void named(String text, Map<String, ?> pairs, String template, String names) {
        Object[] args = text.contains("{}") ? new Object[] {1, "host"} : null;
        check(text, BraceTemplate.message(text, args, false, pairs).template(), new NamedTemplate(template, names));
    }
}
