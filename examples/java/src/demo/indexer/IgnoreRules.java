package demo.indexer;

import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Ignore rules, one per line, as in .gitignore: {@code #} is a comment, {@code !} negates, a slash
 * at the end means directories only, {@code * ?} match within a name and {@code **} across
 * directories. A pattern with a slash before its end is matched from the root, any other against
 * the name alone. The last rule that matches decides.
 */
final class IgnoreRules {
    private final List<Rule> rules = new ArrayList<>();

    static IgnoreRules of(Path file, List<String> more) throws IOException {
        IgnoreRules rules = new IgnoreRules();
        if (file != null)
            rules.addAll(file.toString(), Files.readAllLines(file));
        if (!more.isEmpty())
            rules.addAll("command line", more);
        for (Rule rule : rules.rules)
            ProtoLog.v(IndexLog.RULES, "rule `%s`\t\u2192 %s", rule, rule.pattern);
        ProtoLog.i(IndexLog.RULES, "%d ignore rules", rules.rules.size());
        return rules;
    }

    boolean ignores(String path, boolean directory) {
        boolean ignored = false;
        for (Rule rule : rules)
            if (rule.matches(path, directory))
                if (rule.negated == ignored)
                    ignored = !rule.negated;
                else
                    ProtoLog.v(IndexLog.RULES, "%s: `%s` changes nothing, ignored was %b already", path, rule, ignored);
        return ignored;
    }

    private void addAll(String source, List<String> lines) {
        int number = 0;
        lines:
        for (String line : lines) {
            number++;
            String text = line.strip();
            switch (text.isEmpty() ? '#' : text.charAt(0)) {
                case '#':
                    continue lines;
                case '!':
                    if (text.length() == 1) {
                        ProtoLog.w(IndexLog.RULES, "%s:%d: nothing after the exclamation mark", source, number);
                        continue;
                    }
                    break;
                default:
                    ProtoLog.v(IndexLog.RULES, "%s:%3d: rule %s", source, number, text);
            }
            rules.add(new Rule(text));
        }
        if (ProtoLog.isEnabled(IndexLog.RULES, LogLevel.DEBUG)) {
            // Expensive, so only if it is read: the expression of every rule.
            StringBuilder expressions = new StringBuilder();
            for (Rule rule : rules)
                expressions.append(expressions.length() == 0 ? "" : " | ").append(rule.pattern);
            ProtoLog.d(IndexLog.RULES, "after %s: %s", source, expressions);
        }
    }

    private static final class Rule {
        final boolean negated;
        private final String text;
        private final boolean directories;
        private final boolean anchored;
        private final Pattern pattern;

        Rule(String text) {
            this.text = text;
            negated = text.startsWith("!");
            directories = text.endsWith("/");
            String body = text.substring(negated ? 1 : 0, text.length() - (directories ? 1 : 0));
            anchored = body.indexOf('/') >= 0;
            pattern = Pattern.compile(expression(body.startsWith("/") ? body.substring(1) : body));
            ProtoLog.v(IndexLog.RULES, "rule `%s`: negated %5b, directories %5b, anchored %5b",
                    text, negated, directories, anchored);
        }

        boolean matches(String path, boolean directory) {
            if (directories && !directory)
                return false;
            return pattern.matcher(anchored ? path : path.substring(path.lastIndexOf('/') + 1)).matches();
        }

        @Override
        public String toString() {
            return text;
        }

        private static String expression(String glob) {
            StringBuilder expression = new StringBuilder();
            for (int i = 0; i < glob.length(); i++) {
                char c = glob.charAt(i);
                if (glob.startsWith("**/", i)) {
                    expression.append("(?:.*/)?");
                    i += 2;
                } else if (glob.startsWith("**", i)) {
                    expression.append(".*");
                    i++;
                } else if (c == '*') {
                    expression.append("[^/]*");
                } else if (c == '?') {
                    expression.append("[^/]");
                } else if ("\\.[]{}()+-^$|&#~".indexOf(c) >= 0) {
                    expression.append('\\').append(c);
                } else {
                    expression.append(c);
                }
            }
            return expression.toString();
        }
    }
}
