package dev.protolog.internal.write;

import static dev.protolog.SelfTest.check;

import dev.protolog.LevelsTest;
import dev.protolog.LogLevel;
import dev.protolog.PacketTest;
import dev.protolog.SelfTest;
import dev.protolog.Session;
import dev.protolog.internal.rules.RuledCall;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The bytes of messages that were kept by chance, by the vectors that Rust has, too. */
public final class SampledPacketTest {
    private static final long ID = 0x0123456789abcdefL;

    private SampledPacketTest() {}

    public static void run(Path vectors) throws Exception {
        Path trace = Files.createTempFile("protolog-sampled", ".pftrace");
        List<String[]> rows = SelfTest.rows(vectors.resolve("sampled.tsv"), "rate\targs\tpacket");
        try (Session session = Session.builder().file(trace).keepNewest().enableAll().start()) {
            for (String[] row : rows) {
                // Each in a chunk of its own.
                Thread thread = new Thread(() -> log(row[0], row[1]));
                thread.start();
                thread.join();
            }
            session.stop();
            List<String> packets = PacketTest.packets(Files.readAllBytes(trace));
            check("messages", packets.size(), rows.size());
            for (int i = 0; i < rows.size(); i++) {
                check("packet of " + rows.get(i)[0] + " `" + rows.get(i)[1] + "`", packets.get(i), rows.get(i)[2]);
            }
        } finally {
            Files.delete(trace);
        }
    }

    private static void log(String rate, String args) {
        String[] numbers = rate.split("/|:arg");
        long by = numbers.length > 2 ? Long.parseLong(numbers[2]) : 0;
        long word = Long.parseLong(numbers[0]) << 34 | Long.parseLong(numbers[1]) << 4 | by;
        Call call = Call.begin(LevelsTest.Group.QUIET, LogLevel.INFO, ID, 0, RuledCall.NONE, word);
        call.addAll(0, PacketTest.args(args)).end();
    }
}
