package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.proto.ProtoReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A stream that runs out of stack wherever it is: at the next flush it goes on from where the
 * recording has it. Each message is in one of the files, once and in order.
 */
final class FullStackTest {
    private static final long ID = 0x1122334455667788L;
    private static final long STACK = 256 << 10;
    private static final int MESSAGES = 40;
    /** Flushes for which there is no stack at all, one after the other, which end the search. */
    private static final int ENOUGH = 20;
    private static final int STEP = 5;

    private long logged;
    private long failed;

    private FullStackTest() {}

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-stack");
        try {
            for (int segmentBytes : new int[] {1 << 30, 6_000}) {
                FullStackTest test = new FullStackTest();
                test.run(directory.resolve("of-" + segmentBytes + ".pftrace"), segmentBytes);
                check("some flushes fail", test.failed > 0, true);
            }
        } finally {
            try (Stream<Path> all = Files.walk(directory)) {
                all.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    private void run(Path file, int segmentBytes) throws Exception {
        try (Session session = Session.builder().file(file).segmentBytes(segmentBytes).enableAll().start()) {
            // Code that is linked now needs no stack of its own later.
            descend(session, 0);
            Thread thread = new Thread(null, () -> search(session), "full stack", STACK);
            thread.start();
            thread.join();
            check("messages", session.stop().messages(), logged);
        }
        try (Stream<Path> all = Files.list(file.getParent())) {
            check("files without an end", all.filter(path -> path.toString().endsWith(".part")).toList(), List.of());
        }
        List<Long> numbers = new ArrayList<>();
        String name = file.getFileName().toString().replace(".pftrace", "");
        try (Stream<Path> all = Files.list(file.getParent())) {
            for (Path each : all.filter(path -> path.getFileName().toString().startsWith(name)).sorted().toList()) {
                readNumbers(Files.readAllBytes(each), numbers);
            }
        }
        List<String> wrong = IntStream.range(0, numbers.size()).filter(i -> numbers.get(i) != i).limit(5)
                .mapToObj(i -> i + " is " + numbers.get(i)).toList();
        check("messages in files of " + segmentBytes, wrong, List.of());
        check("messages in files of " + segmentBytes, (long) numbers.size(), logged);
    }

    private void search(Session session) {
        int tooDeep = 1;
        while (isFlushed(session, tooDeep)) {
            tooDeep *= 2;
        }
        int depth = tooDeep / 2;
        for (int failures = 0; failures < ENOUGH; depth += STEP) {
            for (int i = 0; i < MESSAGES; i++) {
                ProtoLogImpl.i(LevelsTest.Group.QUIET, ID, 1, logged++);
            }
            failures = isFlushed(session, depth) ? 0 : failures + 1;
        }
    }

    private boolean isFlushed(Session session, int depth) {
        try {
            descend(session, depth);
            return true;
        } catch (IOException | StackOverflowError e) {
            failed++;
            return false;
        }
    }

    private static void descend(Session session, int depth) throws IOException {
        if (depth == 0) {
            session.flush();
        } else {
            descend(session, depth - 1);
        }
    }

    /** The arguments of all messages of a trace. */
    private static void readNumbers(byte[] trace, List<Long> numbers) throws ProtoReader.MalformedException {
        ProtoReader packets = new ProtoReader(trace);
        while (packets.next()) {
            ProtoReader packet = packets.message();
            while (packet.next()) {
                if (packet.field() != 104) {
                    packet.skip();
                    continue;
                }
                ProtoReader message = packet.message();
                while (message.next()) {
                    if (message.field() == 3) {
                        long zigzag = message.varint();
                        numbers.add(zigzag >>> 1 ^ -(zigzag & 1));
                    } else {
                        message.skip();
                    }
                }
            }
        }
    }
}
