package demo.indexer;

import static demo.indexer.IndexLog.CLI;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.IOException;
import java.io.PrintStream;

/**
 * The command: indexes a directory tree and prints a report. The report goes to standard output,
 * messages to standard error, and with {@code -Dindexer.trace=FILE} into a trace. Exit codes: 0
 * done, 1 some files could not be read, 2 usage or input.
 */
public final class Main {
    static {
        record(System.getProperty("indexer.trace"));
        ProtoLog.v(CLI, "%s is initialised, assertions are %b", Main.class.getName(), Main.class.desiredAssertionStatus());
    }

    /** Room for what is logged in a second. */
    private static final int BUFFER = 64 << 20;

    private Main() {}

    public static void main(String[] args) {
        System.exit(run(args, System.out));
    }

    /** Records all messages into this file, if there is one, until the program ends. */
    private static void record(String trace) {
        if (trace == null) {
            return;
        }
        try {
            Session.builder().file(trace).enableAll().bufferBytes(BUFFER).start();
        } catch (IOException e) {
            System.err.println("can't write `" + trace + "`: " + e);
        }
    }

    static int run(String[] args, PrintStream out) {
        Options options;
        try {
            options = Options.parse(args);
        } catch (Options.UsageException e) {
            ProtoLog.e(CLI, "wrong usage: %s", e.getMessage());
            out.print(Options.USAGE);
            return 2;
        }
        if (options.help()) {
            out.print(Options.USAGE);
            return 0;
        }
        try {
            return index(options, out);
        } catch (IOException e) {
            dev.protolog.ProtoLog.e(demo.indexer.IndexLog.CLI, "can't index %s: %s", options.root(), Reason.of(e));
            return 2;
        } finally {
            ProtoLog.d(CLI, "done");
        }
    }

    private static int index(Options options, PrintStream out) throws IOException {
        ProtoLog.i(CLI, """
                indexing %s
                  with %d workers, files up to %d bytes,
                  "%s" as ignore file\
                """, options.root(), options.workers(), options.maxBytes(), options.ignoreFile());
        Index index = new Indexer(options).run();
        new Report(index, options.top()).print(out);
        int unread = index.unread();
        if (unread == 0)
            ProtoLog.i(CLI, "every file was read: 100%%");
        else
            ProtoLog.w(CLI, "%d of %d files were not read (%.1f%%)", unread, index.files().size() + unread,
                    100.0 * unread / (index.files().size() + unread));
        return unread == 0 ? 0 : 1;
    }
}
