package dev.protolog.internal.session;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import dev.protolog.internal.write.LossCause;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/** Names of files, and the line about lost messages, by the vectors that Rust has, too. */
public final class VectorsTest {
    private VectorsTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("file_names.tsv"), "name\tfile\tsegment\trun\tmade")) {
            fileName(row[0], row[1], row[2], row[3], row[4].equals("y"));
        }
        for (String[] row : SelfTest.rows(vectors.resolve("losses.tsv"), "messages\tlosses\tline")) {
            String line = EndReport.lost("app.pftrace", Long.parseLong(row[0]), losses(row[1]));
            String expected = row[2].isEmpty() ? "none" : "protolog: `app.pftrace` " + row[2];
            check(String.join(" ", row), line == null ? "none" : line, expected);
        }
    }

    private static void fileName(String name, String file, String segment, String run, boolean isMade) {
        String what = file + " beside " + name;
        long number = Segments.number(name, file);
        check(what, number < 0 ? "" : Long.toString(number), segment);
        if (number >= 0 && isMade) {
            String whole = Segments.name(name, number);
            check(what, file.equals(whole) || file.equals(whole + ".part"), true);
        }
        int earlier = EarlierRuns.number(name, file);
        check(what, earlier < 0 ? "" : earlier == EarlierRuns.LAST ? "run" : Integer.toString(earlier), run);
        if (earlier >= 0 && isMade) {
            check(what, EarlierRuns.numbered(name, run), file);
        }
    }

    private static Map<LossCause, Long> losses(String text) {
        Map<LossCause, Long> losses = new EnumMap<>(LossCause.class);
        for (String one : text.isEmpty() ? new String[0] : text.split(";")) {
            String[] parts = one.split(" ");
            losses.merge(LossCause.of(Integer.parseInt(parts[0])), Long.parseLong(parts[1]), Long::sum);
        }
        return losses;
    }
}
