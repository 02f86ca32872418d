package demo.indexer;

import dev.protolog.ProtoLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** One run: walk the tree, scan the files, find duplicates, sum up. */
final class Indexer {
    private final Options options;
    private final Statistics statistics = new Statistics();
    private final List<FileEntry> readable = new ArrayList<>();
    private int unread;

    Indexer(Options options) {
        this.options = options;
        // "ProtoLog.d(SCAN, ...);" in a comment or a string is not a call.
        String example = "ProtoLog.d(SCAN, \"no call\");";
        ProtoLog.v(IndexLog.CLI, "calls look like %s", example);
    }

    /**
     * @throws IOException if the root or the ignore file can't be read; other unreadable files are
     * counted
     */
    Index run() throws IOException {
        TreeWalker walker = new TreeWalker(IgnoreRules.of(options.ignoreFile(), options.rules()));
        List<FileEntry> files = walker.walk(options.root());
        List<Duplicates.Group> duplicates;
        try (WorkerPool pool = new WorkerPool(options.workers())) {
            pool.inOrder(small(files), scanning(), (entry, counts) -> {
                if (counts != null) {
                    readable.add(entry);
                    statistics.add(entry, counts);
                } else
                    unread++;
            });
            duplicates = new Duplicates(pool).find(readable);
        }
        statistics.log();
        return new Index(readable, duplicates, statistics, unread + walker.unread());
    }

    private List<FileEntry> small(List<FileEntry> files) {
        List<FileEntry> small = new ArrayList<>();
        for (FileEntry entry : files) {
            if (entry.size() <= options.maxBytes()) {
                small.add(entry);
            } else { ProtoLog.i(IndexLog.SCAN, "%s is left out: %d bytes", entry.name(), entry.size()); unread++; }
        }
        return small;
    }

    private static WorkerPool.Job<FileEntry, TextScan.Counts> scanning() {
        return new WorkerPool.Job<>() {
            @Override
            public TextScan.Counts run(FileEntry entry, WorkerPool.Notes notes) throws IOException {
                return TextScan.of(entry, notes);
            }

            @Override
            public void failed(FileEntry entry, IOException e) {
                ProtoLog.w(IndexLog.SCAN, "can't scan " + "%s" + ": %s", entry.name(), Reason.of(e));
            }
        };
    }
}
