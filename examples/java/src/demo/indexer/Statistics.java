package demo.indexer;

import static demo.indexer.IndexLog.STATS;

import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Sums per kind of file, and the distribution of sizes. */
final class Statistics {
    /** The sums of one kind. */
    static final class Tally {
        private final FileKind kind;
        long files;
        long bytes;
        long lines;
        long words;
        private double mean;
        private double squares;

        Tally(FileKind kind) {
            this.kind = kind;
            ProtoLog.v(STATS, "the first of the %s", kind.plural());
        }

        /** Welford's method: mean and squares of differences in one pass. */
        void add(FileEntry entry, TextScan.Counts counts) {
            files++;
            bytes += entry.size();
            lines += counts.lines();
            words += counts.words();
            double delta = entry.size() - mean;
            mean += delta / files;
            squares += delta * (entry.size() - mean);
        }

        double mean() {
            return mean;
        }

        double deviation() {
            return files > 1 ? Math.sqrt(squares / (files - 1)) : 0;
        }
    }

    private final Map<FileKind, Tally> tallies = new EnumMap<>(FileKind.class);
    private final int[] sizes = new int[Long.SIZE];

    void add(FileEntry entry, TextScan.Counts counts) {
        tallies.computeIfAbsent(entry.kind(), Tally::new).add(entry, counts);
        sizes[Long.SIZE - 1 - Long.numberOfLeadingZeros(entry.size() | 1)]++;
    }

    Map<FileKind, Tally> byKind() {
        return tallies;
    }

    long sum(ToDoubleFunction<Tally> field) {
        return (long) tallies.values().stream().mapToDouble(field).sum();
    }

    /** Logs the sums. */
    void log() {
        tallies.forEach((kind, tally) -> ProtoLog.d(STATS,
                "%9s: %5d files, mean %10.1f, deviation %.3e, words %g, text %b",
                kind, tally.files, tally.mean(), tally.deviation(), (double) tally.words, kind.isText()));
        for (Tally tally : tallies.values())
            switch (tally.kind) {
                case SOURCE -> ProtoLog.i(STATS, "%d lines of source", tally.lines);
                case DOCUMENT -> ProtoLog.i(STATS, "%d words to read", tally.words);
                case OTHER -> {
                    if (tally.files > 10)
                        ProtoLog.w(STATS, "%d files of no known kind (%o in octal)", tally.files, tally.files);
                    else
                        ProtoLog.d(STATS, "%d files of no known kind", tally.files);
                }
                default -> ProtoLog.v(STATS, "nothing to say of %s", tally.kind.plural());
            }
        if (!ProtoLog.isEnabled(STATS, LogLevel.DEBUG))
            return;
        for (int i = 0; i < sizes.length; i++)
            if (sizes[i] > 0)
                ProtoLog.d(STATS, "from 2^%02d bytes: %6d %s", i, sizes[i], "#".repeat(Math.min(sizes[i], 40)));
        ProtoLog.d(STATS, "all in all %e bytes", (double) sum(tally -> {
            ProtoLog.v(STATS, "%s: %.0f%% of a mebibyte", tally.kind, tally.bytes * 100.0 / (1 << 20));
            return tally.bytes;
        }));
    }
}
