package demo.indexer;

import static demo.indexer.IndexLog.SCAN;

import dev.protolog.ProtoLog;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;

/**
 * Counts the lines and words of a file; a file with a zero byte among its first bytes is binary and
 * has none. Bytes, not characters: a line ends with LF, a word is a run of bytes above the space.
 */
final class TextScan {
    /** The result of a scan. {@code longestLine} is in bytes. */
    record Counts(long lines, long words, long longestLine, long bytes, boolean binary) {
        static final Counts UNSCANNED = new Counts(0, 0, 0, 0, true);
    }

    private static final int PROBE = 4096;

    private long lines;
    private long words;
    private long longestLine;
    private long lineLength;
    private long bytes;
    private boolean inWord;

    private TextScan() {}

    /** Runs on a worker, so messages go to {@code notes}. */
    static Counts of(FileEntry entry, WorkerPool.Notes notes) throws IOException {
        if (!entry.kind().isText()) {
            notes.add(() -> ProtoLog.v(SCAN, "%s is not scanned", entry.name()));
            return Counts.UNSCANNED;
        }
        Counts counts;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(entry.file()))) {
            counts = new TextScan().scan(in);
        }
        notes.add(() -> {
            if (counts.binary())
                ProtoLog.d(SCAN, "%s is binary", entry.name());
            else if (counts.lines() > 0)
                ProtoLog.v(SCAN, "%s: %d lines, %d words, %.2f words a line",
                        entry.name(),
                        counts.lines(),
                        counts.words(), // the mean follows
                        (double) counts.words() / counts.lines());
            else
                ProtoLog.v(SCAN, "%s: nothing to count", entry.name());
            if (!counts.binary() && counts.bytes() != entry.size())
                ProtoLog.w(SCAN, "%s was %d bytes and is %d: changed while it was indexed", entry.name(), entry.size(),
                        counts.bytes());
        });
        return counts;
    }

    private Counts scan(InputStream in) throws IOException {
        int next;
        scan:
        while ((next = in.read()) >= 0) {
            bytes++;
            switch (next) {
                case 0:
                    if (bytes <= PROBE)
                        return new Counts(0, 0, 0, bytes, true);
                    continue scan;
                case '\n':
                    endLine();
                    inWord = false;
                    break;
                default:
                    lineLength++;
                    words += !inWord && next > ' ' ? 1 : 0;
                    inWord = next > ' ';
            }
        }
        if (lineLength > 0)
            endLine();
        return new Counts(lines, words, longestLine, bytes, false);
    }

    private void endLine() {
        lines++;
        longestLine = Math.max(longestLine, lineLength);
        lineLength = 0;
    }
}
