package dev.protolog;

import static dev.protolog.SelfTest.check;
import static dev.protolog.SelfTest.rows;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.ThreadIdentity;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.session.TracePackets;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.SequenceState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * The bytes of losses, clocks and beginnings of chunks against the vectors that the Rust runtime is
 * tested with.
 */
final class SessionPacketTest {
    private SessionPacketTest() {}

    static void run(Path vectors) throws Exception {
        for (String[] row : rows(vectors.resolve("session.tsv"), "kind\tinput\tfields")) {
            byte[] fields = switch (row[0]) {
                case "losses" -> {
                    ProtoWriter packet = new ProtoWriter();
                    losses(row[1]).write(packet);
                    yield packet.done();
                }
                case "clocks" -> {
                    String[] times = row[1].split(" ");
                    yield TracePackets.clocks(
                            new BootClock.Moment(Long.parseLong(times[0]), Long.parseLong(times[1]), Long.parseLong(times[2])));
                }
                case "chunk" -> chunk(row[1].split(",", 6));
                default -> throw new AssertionError(row[0]);
            };
            check(row[0] + " `" + row[1] + "`", HexFormat.of().formatHex(fields), row[2]);
        }
    }

    private static byte[] chunk(String[] parts) {
        ProtoWriter info = new ProtoWriter();
        ThreadIdentity.write(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), parts[3].getBytes(StandardCharsets.UTF_8), info);
        if (!parts[4].equals("-")) {
            info.varint(4, Long.parseLong(parts[4]));
        }
        ProtoWriter packet = new ProtoWriter();
        SequenceState.write(packet, Long.parseLong(parts[0]), info, losses(parts[5]), new ProtoWriter(), new ProtoWriter());
        return packet.done();
    }

    /** Losses that were counted and taken: {@code GROUP CAUSE COUNT}, with a semicolon between. */
    private static Losses.Pending losses(String text) {
        Losses losses = new Losses();
        for (String lost : text.isEmpty() ? new String[0] : text.split(";")) {
            String[] numbers = lost.split(" ");
            losses.add(Integer.parseUnsignedInt(numbers[0]), LossCause.of(Integer.parseInt(numbers[1])), Long.parseLong(numbers[2]));
        }
        Losses.Pending pending = losses.newPending();
        losses.take(pending);
        return pending;
    }
}
