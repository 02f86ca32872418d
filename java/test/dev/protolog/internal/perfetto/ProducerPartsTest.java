package dev.protolog.internal.perfetto;

import static dev.protolog.SelfTest.check;

import dev.protolog.LogLevel;
import dev.protolog.SelfTest;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.LevelSet;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * The parts of the producer that need no service: frames, commands, configurations by the vectors
 * that Rust has, too, and sockets.
 */
public final class ProducerPartsTest {
    private ProducerPartsTest() {}

    public static void run(Path vectors) throws Exception {
        for (String[] row : SelfTest.rows(vectors.resolve("source_configs.tsv"), "case\tconfig\tmeaning")) {
            check(row[0], meaning(HexFormat.of().parseHex(row[1])), row[2]);
        }
        commands();
        packetsOfAnyLengthAreCut();
        framesComeBackHoweverTheyAreCut();
        nonsenseIsRefused();
        addresses();
        owners();
    }

    private static String meaning(byte[] config) {
        SourceConfig decoded;
        try {
            decoded = SourceConfig.decode(config);
        } catch (ProtoReader.MalformedException e) {
            return "malformed";
        }
        String policy = decoded.asksForAbort() ? "abort" : decoded.waitNanos() > 0 ? "stall" : "drop";
        StringBuilder text = new StringBuilder(decoded.target() + " " + policy + " " + letter(decoded.filter().defaultLevels()));
        Map<String, Integer> groups = new TreeMap<>(decoded.filter().groups());
        groups.forEach((name, levels) -> text.append(" " + name + "=" + letter(levels) + (decoded.filter().stacks().contains(name) ? "+" : "")));
        return text.toString();
    }

    /** The least severe level of a set that has all above. */
    private static String letter(int levels) {
        LogLevel least = LogLevel.values()[Integer.numberOfTrailingZeros(levels)];
        check("levels", levels, LevelSet.andAbove(least));
        return LevelSet.letter(least);
    }

    /** A length that cut one byte too many once ended the connection. */
    private static void packetsOfAnyLengthAreCut() {
        for (int length = 1; length < 3 * Outlet.MAX_PAYLOAD; length++) {
            int left = length;
            for (int part = Outlet.part(left); part > 0; part = Outlet.part(left)) {
                check("a part of " + length, part <= left && part + 4 <= Outlet.MAX_PAYLOAD, true);
                left -= part;
            }
            int size = new ProtoWriter().value(left).size();
            check("the rest of " + length, left > 0 && size + left <= Outlet.MAX_PAYLOAD, true);
        }
    }

    private static void commands() throws ProtoReader.MalformedException {
        byte[] config = {0x10, 3};
        byte[] start = new ProtoWriter().message(1, new ProtoWriter().varint(1, 7).bytes(2, config).varint(99, 1)).done();
        Command command = Command.decode(start);
        check("start", command.kind() + " " + command.id() + " " + Arrays.toString(command.config()), "START 7 [16, 3]");
        command = Command.decode(new ProtoWriter().message(2, new ProtoWriter().varint(1, 7)).done());
        check("stop", command.kind() + " " + command.id(), "STOP 7");
        // One by one, and packed.
        ProtoWriter ids = new ProtoWriter().varint(1, 7).bytes(1, new byte[] {8, 9}).varint(2, 3).varint(3, 0x14);
        command = Command.decode(new ProtoWriter().message(5, ids).done());
        check("flush", command.kind() + " " + command.ids() + " " + command.request() + " " + command.flags(), "FLUSH [7, 8, 9] 3 20");
        command = Command.decode(new ProtoWriter().message(7, new ProtoWriter().varint(1, 300)).done());
        check("clear", command.kind() + " " + command.ids(), "CLEAR [300]");
        command = Command.decode(new ProtoWriter().message(3, new ProtoWriter().varint(1, 4)).done());
        check("memory, which is left alone", command == null, true);
        try {
            Command.decode(Arrays.copyOf(start, start.length - 1));
            check("cut off", "taken", "refused");
        } catch (ProtoReader.MalformedException e) {
            check("cut off", e.getMessage().startsWith("a length beyond the end"), true);
        }
    }

    private static byte[] framed(ProtoWriter frame) {
        return ByteBuffer.allocate(Frame.LENGTH + frame.size()).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(frame.size()).put(frame.done()).array();
    }

    private static void framesComeBackHoweverTheyAreCut() throws IOException {
        ProtoWriter method = new ProtoWriter().varint(1, 2).string(2, "Sync");
        List<byte[]> frames = List.of(
                framed(new ProtoWriter().varint(2, 1).message(4, new ProtoWriter().varint(1, 1).varint(2, 3).message(3, method))),
                framed(new ProtoWriter().varint(2, 2).message(6, new ProtoWriter().varint(1, 1).varint(2, 1).bytes(3, new byte[5000]))),
                framed(new ProtoWriter().varint(2, 3).message(7, new ProtoWriter().string(1, "no such service"))),
                framed(new ProtoWriter().varint(2, 4).message(99, new ProtoWriter())),
                framed(new ProtoWriter()));
        List<String> expected = List.of("1 BOUND true 3 {Sync=2} 0", "2 REPLY true 0 {} 5000", "3 ERROR false 0 {} 0",
                "4 OTHER false 0 {} 0", "0 OTHER false 0 {} 0");
        ByteBuffer all = ByteBuffer.allocate(frames.stream().mapToInt(frame -> frame.length).sum());
        frames.forEach(all::put);
        for (int step : new int[] {1, 2, 3, 7, 4099, all.capacity()}) {
            FrameInput input = new FrameInput();
            List<String> found = new ArrayList<>();
            for (int at = 0; at < all.capacity(); at += step) {
                input.add(ByteBuffer.wrap(all.array(), at, Math.min(step, all.capacity() - at)));
                for (Frame frame = input.next(); frame != null; frame = input.next()) {
                    found.add(frame.request() + " " + frame.kind() + " " + frame.isSuccess() + " " + frame.serviceId() + " "
                            + frame.methods() + " " + frame.reply().length);
                }
            }
            check("in steps of " + step, found, expected);
        }
    }

    private static void nonsenseIsRefused() throws IOException {
        FrameInput input = new FrameInput();
        input.add(ByteBuffer.wrap(new byte[] {1, 0, 2, 0}));
        check("a frame that is too long", problem(input), "the service sent a frame of 131073 bytes, more than 131072");
        Random random = new Random(1);
        for (int round = 0; round < 2000; round++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            FrameInput any = new FrameInput();
            any.add(ByteBuffer.wrap(framed(new ProtoWriter().raw(bytes, 0, bytes.length))));
            String problem = problem(any);
            check("any bytes", problem.isEmpty() || problem.startsWith("the service sent a malformed frame: "), true);
            check("any bytes as configuration", meaning(bytes).isEmpty(), false);
        }
    }

    private static String problem(FrameInput input) {
        try {
            input.next();
            return "";
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static void addresses() throws IOException {
        check("a path", ServiceAddress.parse("/a/b:c").path(), Path.of("/a/b:c"));
        check("a port", ServiceAddress.parse("127.0.0.1:10").address().toString(), "/127.0.0.1:10");
        check("a port", ServiceAddress.parse("127.0.0.1:10").isRemote(), true);
        check("IPv6", ServiceAddress.parse("[::1]:10").address().toString(), "/[0:0:0:0:0:0:0:1]:10");
        check("named, and so trusted", ServiceAddress.parse("/tmp/perfetto-producer").isAnybodys(), false);
        if (System.getenv(ServiceAddress.VARIABLE) == null) {
            ServiceAddress found = ServiceAddress.find();
            check("anybody's", found.isAnybodys(), found.path().startsWith("/tmp"));
        }
    }

    /** Whose service it is says the owner of its socket, where the kernel can't be asked. */
    private static void owners() throws IOException {
        Path directory = Files.createTempDirectory("protolog-owner");
        Path socket = directory.resolve("socket");
        check("nothing", ServiceTrust.isOwned(socket), false);
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(socket));
            check("our own", ServiceTrust.isOwned(socket), true);
            try {
                Files.setAttribute(socket, "unix:uid", 12345);
                check("another user's", ServiceTrust.isOwned(socket), false);
            } catch (IOException e) {
                // Only root can give it away.
            }
            Path file = Files.createFile(directory.resolve("file"));
            check("no socket", ServiceTrust.isOwned(file), false);
            Files.delete(file);
        }
        Files.delete(socket);
        Files.delete(directory);
    }
}
