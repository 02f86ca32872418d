package dev.protolog;

import static dev.protolog.SelfTest.check;
import static dev.protolog.SelfTest.rows;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The bytes of messages against the vectors that the Rust runtime is tested with. */
public final class PacketTest {
    private static final long ID = 0x0123456789abcdefL;

    private PacketTest() {}

    static void run(Path vectors) throws Exception {
        Path trace = Files.createTempFile("protolog", ".pftrace");
        List<String[]> rows = rows(vectors.resolve("packets.tsv"), "args\tpacket");
        try (Session session = Session.builder().file(trace).keepNewest().enableAll().start()) {
            for (String[] row : rows) {
                // Each in a chunk of its own.
                Object[] args = args(row[0]);
                Thread thread = new Thread(() -> ProtoLogImpl.i(LevelsTest.Group.QUIET, ID, 0, args));
                thread.start();
                thread.join();
            }
            session.stop();
            List<String> packets = packets(Files.readAllBytes(trace));
            check("messages", packets.size(), rows.size());
            for (int i = 0; i < rows.size(); i++) {
                check("packet of `" + rows.get(i)[0] + "`", packets.get(i), rows.get(i)[1]);
            }
        } finally {
            Files.delete(trace);
        }
    }

    /** Arguments as the vectors have them. */
    public static Object[] args(String text) {
        List<Object> args = new ArrayList<>();
        for (String arg : text.isEmpty() ? new String[0] : text.split(",")) {
            String[] parts = arg.split(" ", 2);
            args.add(switch (parts[0]) {
                case "int" -> (Object) Long.parseLong(parts[1]);
                case "float" -> Double.parseDouble(parts[1]);
                case "bool" -> Boolean.parseBoolean(parts[1]);
                default -> parts[1];
            });
        }
        return args.toArray();
    }

    /** The packets of messages, in hexadecimal, without time and sequence. */
    public static List<String> packets(byte[] trace) throws IOException, ProtoReader.MalformedException {
        List<String> packets = new ArrayList<>();
        ProtoReader all = new ProtoReader(trace);
        while (all.next()) {
            ProtoReader packet = all.message();
            ProtoWriter kept = new ProtoWriter();
            boolean isMessage = false;
            while (packet.next()) {
                switch (packet.field()) {
                    case 12 -> kept.bytes(12, packet.bytes());
                    case 13 -> kept.varint(13, packet.varint());
                    case 104 -> {
                        kept.bytes(104, packet.bytes());
                        isMessage = true;
                    }
                    default -> packet.skip();
                }
            }
            if (isMessage) {
                packets.add(HexFormat.of().formatHex(kept.done()));
            }
        }
        return packets;
    }
}
