package dev.protolog;

import static dev.protolog.SelfTest.check;
import static dev.protolog.SelfTest.rows;

import dev.protolog.internal.proto.Xxh3;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;

/** Ids and hashes against the vectors that the tool and the Rust runtime are tested with. */
final class MessageIdTest {
    private MessageIdTest() {}

    static void run(Path vectors) throws IOException {
        hashes(vectors.resolve("xxh3.tsv"));
        ids(vectors.resolve("ids.tsv"));
        namedIds(vectors.resolve("named_ids.tsv"));
        check("full name", MessageId.fullName(LevelsTest.Group.NET), "dev.protolog.LevelsTest.Group.NET");
        check("unprocessed", MessageId.ofUnprocessed("%d", LogLevel.WARN, LevelsTest.Group.NET),
                MessageId.of("", "%d", LogLevel.WARN, "dev.protolog.LevelsTest.Group.NET"));
    }

    private static void hashes(Path file) throws IOException {
        for (String[] row : rows(file, "bytes\thash")) {
            byte[] bytes = HexFormat.of().parseHex(row[0]);
            check("hash of " + bytes.length + " bytes", HexFormat.of().toHexDigits(Xxh3.hash(bytes)), row[1]);
        }
    }

    private static void namedIds(Path file) throws IOException {
        for (String[] row : rows(file, "place\ttemplate\tnames\tlevel\tgroup\tid")) {
            long id = MessageId.of(row[0], row[1], row[2], LogLevel.valueOf(row[3]), row[4]);
            check("id of " + String.join(" | ", row), HexFormat.of().toHexDigits(id), row[5]);
        }
    }

    private static void ids(Path file) throws IOException {
        for (String[] row : rows(file, "place\ttemplate\tlevel\tgroup\tid\tgroup_id")) {
            long id = MessageId.of(row[0], row[1], LogLevel.valueOf(row[2]), row[3]);
            check("id of " + String.join(" | ", row), HexFormat.of().toHexDigits(id), row[4]);
            check("id of group " + row[3], HexFormat.of().toHexDigits(MessageId.ofGroup(row[3])), row[5]);
        }
    }
}
