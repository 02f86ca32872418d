package demo.indexer;

import static demo.indexer.IndexLog.STATS;
import static dev.protolog.ProtoLog.d;

import dev.protolog.ProtoLog;
import java.io.PrintStream;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints an index as a few tables. */
final class Report {
    private static final String ROW = "%-10s %8d %12s %10d %10d%n";

    private final Index index;
    private final int top;

    Report(Index index, int top) {
        this.index = index;
        this.top = top;
    }

    void print(PrintStream out) {
        out.printf(Locale.ROOT, "%-10s %8s %12s %10s %10s%n", "kind", "files", "size", "lines", "words");
        for (Map.Entry<FileKind, Statistics.Tally> row : index.statistics().byKind().entrySet()) {
            Statistics.Tally tally = row.getValue();
            out.printf(Locale.ROOT, ROW, row.getKey().plural(), tally.files, size(tally.bytes), tally.lines, tally.words);
        }
        Statistics all = index.statistics();
        out.printf(Locale.ROOT, ROW, "all", all.sum(t -> t.files), size(all.sum(t -> t.bytes)), all.sum(t -> t.lines),
                all.sum(t -> t.words));
        printLargest(out);
        printDuplicates(out);
        d(STATS, "reported with top %d", top);
    }

    private void printLargest(PrintStream out) {
        List<FileEntry> largest = index.files().stream()
                .sorted(Comparator.comparingLong(FileEntry::size).reversed())
                .limit(top)
                .toList();
        if (largest.isEmpty()) {
            ProtoLog.i(STATS, "no file to show");
            return;
        }
        out.printf("%nlargest%n");
        for (FileEntry entry : largest)
            out.printf(Locale.ROOT, "%12s  %s%n", size(entry.size()), entry.name());
    }

    private void printDuplicates(PrintStream out) {
        int shown = Math.min(top, index.duplicates().size());
        for (Duplicates.Group group : index.duplicates().subList(0, shown)) {
            out.printf("%n%d copies, %s wasted%n", group.files().size(), size(group.wastedBytes()));
            for (FileEntry entry : group.files())
                out.printf("  %s%n", entry.name());
        }
        if (shown < index.duplicates().size()) ProtoLog.d(STATS, "%d groups are not shown", index.duplicates().size() - shown);
    }

    /** Bytes, with a binary unit. */
    @SuppressWarnings("fallthrough") // Each case divides once more and goes on to the next.
    private static String size(long bytes) {
        double value = bytes;
        String unit = "B";
        switch (bytes < 1L << 10 ? 0 : bytes < 1L << 20 ? 1 : bytes < 1L << 30 ? 2 : 3) {
            case 3:
                ProtoLog.v(STATS, "%d bytes are much", bytes);
                value /= 1024;
                unit = "GiB";
            case 2:
                value /= 1024;
                unit = unit.equals("B") ? "MiB" : unit;
            case 1:
                value /= 1024;
                unit = unit.equals("B") ? "KiB" : unit;
                ProtoLog.v(STATS, "%d bytes are %.1f %s", bytes, value, unit);
                break;
            default:
                return bytes + " B";
        }
        return String.format(Locale.ROOT, "%.1f %s", value, unit);
    }
}
