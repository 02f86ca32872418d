package demo.indexer;

import static demo.indexer.IndexLog.*;

import dev.protolog.ProtoLog;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The options of the command line. {@code ignoreFile} is null if there is none. */
record Options(Path root, Path ignoreFile, List<String> rules, int workers, long maxBytes, int top, boolean help) {
    static final String USAGE = """
            usage: demo.indexer.Main [OPTION]... DIRECTORY
              --ignore FILE      read ignore rules from FILE
              --rule PATTERN     add one ignore rule; may be repeated
              --workers N        read with N threads (1 to 64; 4)
              --max-bytes N      do not read files of more than N bytes (16777216)
              --top N            show the N largest files and duplicates (5)
              --help             show this text
            """;

    Options {
        rules = List.copyOf(rules);
        ProtoLog.v(CLI, "options: workers %02d, max %d (0x%x), top %d, %d rules, help %b",
                workers, maxBytes, maxBytes, top, rules.size(), help);
    }

    static Options parse(String... args) throws UsageException {
        Parser parser = new Parser(List.of(args).iterator());
        while (parser.words.hasNext())
            parser.option(parser.words.next());
        return parser.finish();
    }

    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1;

        UsageException(String message) {
            super(message);
        }
    }

    private static final class Parser {
        private final Iterator<String> words;
        private final List<String> rules = new ArrayList<>();
        private Path root;
        private Path ignoreFile;
        private int workers = 4;
        private long maxBytes = 1 << 24;
        private int top = 5;
        private boolean help;

        Parser(Iterator<String> words) {
            this.words = words;
        }

        void option(String word) throws UsageException {
            switch (word) {
                case "--ignore" -> ignoreFile = path(value(word));
                case "--rule" -> rules.add(value(word));
                case "--workers" -> workers = (int) number(word, 1, 64);
                case "--max-bytes" -> maxBytes = number(word, 0, Long.MAX_VALUE);
                case "--top" -> top = (int) number(word, 0, 1000);
                case "--help" -> help = true;
                case "" -> ProtoLog.w(CLI, "an empty argument is skipped");
                default -> {
                    if (word.startsWith("-"))
                        throw new UsageException("unknown option `" + word + "`");
                    else if (root != null)
                        throw new UsageException("more than one directory: `" + word + "`");
                    root = path(word);
                }
            }
        }

        Options finish() throws UsageException {
            if (root == null && !help)
                throw new UsageException("no directory given");
            return new Options(root, ignoreFile, rules, workers, maxBytes, top, help);
        }

        private String value(String option) throws UsageException {
            if (!words.hasNext())
                throw new UsageException("no value for `" + option + "`");
            String value = words.next();
            ProtoLog.v(CLI, "option %10s = %s", option, value);
            return value;
        }

        private long number(String option, long least, long most) throws UsageException {
            String text = value(option);
            try {
                long number = Long.parseLong(text);
                if (number >= least && number <= most)
                    return number;
                else
                    ProtoLog.d(CLI, "%s: %d is not within %d..%d", option, number, least, most);
            } catch (NumberFormatException e) {
                ProtoLog.d(CLI, "invalid %s: %s", option, e); // The usage error follows.
            }
            throw new UsageException("`" + text + "` is not a number from " + least + " to " + most);
        }

        private static Path path(String text) throws UsageException {
            try {
                return Path.of(text);
            } catch (InvalidPathException e) {
                throw new UsageException("not a path: `" + text + "`");
            }
        }
    }
}
