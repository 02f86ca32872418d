package dev.protolog.internal.write;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;

/** The bytes of marks of requests, by the vectors that Rust has, too. */
public final class RequestMarkTest {
    private RequestMarkTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("marks.tsv"), "number\tid\tpacket")) {
            long number = Long.parseLong(row[0]);
            RequestMark mark = number == 0 ? null : new RequestMark(number, RequestMark.cut(row[1], RequestMark.MAX_ID));
            check("mark of " + row[0] + " `" + row[1] + "`", HexFormat.of().formatHex(RequestMark.packet(mark)), row[2]);
        }
    }
}
