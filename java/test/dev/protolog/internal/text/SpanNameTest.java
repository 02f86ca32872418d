package dev.protolog.internal.text;

import dev.protolog.SelfTest;
import java.nio.file.Path;

/** Names of spans against the vectors that Rust is tested with. */
public final class SpanNameTest {
    private SpanNameTest() {}

    public static void run(Path vectors) throws Exception {
        for (String[] row : SelfTest.rows(vectors.resolve("span_names.tsv"), "template\tname")) {
            SelfTest.check("name of `" + row[0] + "`", SpanName.of(row[0]), row[1]);
        }
    }
}
