package dev.protolog.internal.write;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import java.io.IOException;
import java.nio.file.Path;

/** Sizes of arguments, by which bytes are sampled: the vectors that Rust has, too. */
public final class VolumeTest {
    private VolumeTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("volumes.tsv"), "kind\tvalue\tbytes")) {
            switch (row[0]) {
                case "int" -> check(String.join(" ", row), Volume.ofInteger(Long.parseLong(row[1])), Long.valueOf(row[2]));
                case "text" -> check(String.join(" ", row), Volume.ofText(row[1]), Long.valueOf(row[2]));
                default -> check("a kind", row[0].matches("uint|float|bool"), true);
            }
        }
    }
}
