package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.session.SessionCore;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.write.LossCause;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A buffer that somebody else has written to: the session goes on, and what is damaged counts as
 * lost.
 */
final class DamageTest {
    private static final long ID = 0x1122334455667788L;
    /** The longest that the stream's thread may take, which looks once a second. */
    private static final long LONGEST = 20_000_000_000L;

    private DamageTest() {}

    static void run() throws Exception {
        // A field of no type; a packet that is longer than the chunk, behind which no other is
        // found.
        damage(1, 0x47, 1);
        damage(0, 0xff, 3);
        truncated();
    }

    /**
     * A buffer that somebody has truncated, which the stream's own thread finds first, in the chunk
     * of a thread that has ended. The path can be used again.
     */
    private static void truncated() throws Exception {
        Path trace = Files.createTempFile("protolog-damage", ".pftrace");
        Session session = Session.builder().file(trace).enableAll().start();
        Thread thread = new Thread(() -> ProtoLogImpl.i(LevelsTest.Group.QUIET, ID, 1, 2000L));
        thread.start();
        thread.join();
        try (FileChannel buffer = FileChannel.open(session.recording(), StandardOpenOption.WRITE)) {
            buffer.truncate(0);
        }
        IOException refused = null;
        for (long begun = System.nanoTime(); System.nanoTime() - begun < LONGEST;) {
            try {
                Session.builder().file(trace).truncate().start().stop();
                refused = null;
                break;
            } catch (FileAlreadyExistsException e) {
                refused = e;
                Thread.sleep(50);
            }
        }
        check("a path whose session has no buffer", String.valueOf(refused), "null");
        try {
            session.stop();
            check("its end", "written", "an error");
        } catch (IOException e) {
            // The JVM may report the access itself, or a later one.
            check("its end: " + e.getMessage(), e.getMessage().startsWith("the session's file can't be used any more"), true);
        }
        Files.delete(trace);
        Files.deleteIfExists(session.recording());
    }

    /**
     * Logs four messages, has one byte of the second one's packet changed, and logs another
     * thread's.
     */
    private static void damage(int offset, int value, long lost) throws Exception {
        Path trace = Files.createTempFile("protolog-damage", ".pftrace");
        try (Session session = Session.builder().file(trace).enableAll().start()) {
            SessionCore core = Sessions.running().stream().filter(session.running()::isOf).findFirst().orElseThrow();
            for (long number = 0; number < 4; number++) {
                ProtoLogImpl.i(LevelsTest.Group.QUIET, ID, 1, 1000 + number);
            }
            int at = packetOf(core.buffer().memory(), 1001);
            core.buffer().memory().put(at + offset, (byte) value);
            session.flush();
            Thread thread = new Thread(() -> ProtoLogImpl.i(LevelsTest.Group.QUIET, ID, 1, 2000L));
            thread.start();
            thread.join();
            Summary summary = session.stop();
            check("messages", summary.messages(), 5 - lost);
            check("lost", summary.lost(), lost);
            FaultTrace read = FaultTrace.read(List.of(trace), Set.of(ID));
            check("messages of the trace", read.messages, 5 - lost);
            check("losses of the trace", read.losses, Map.of(LossCause.WRITE_FAILED, lost));
        } finally {
            Files.delete(trace);
        }
    }

    /** Where the packet of the message with this number begins. */
    private static int packetOf(ByteBuffer memory, long number) throws IOException {
        byte[] argument = new byte[3];
        argument[0] = 0x18;
        ProtoWriter.putVarint(argument, 1, number << 1);
        for (int at = 0; at < memory.capacity() - 3; at++) {
            if (memory.get(at) == argument[0] && memory.get(at + 1) == argument[1] && memory.get(at + 2) == argument[2]) {
                // Before it: the id, its tag, size and tag of the message, the time and its tag,
                // the size.
                int message = at - Long.BYTES - 1 - 3;
                int size = message - 2;
                while (memory.get(size) != 0x40) {
                    size--;
                }
                return size - 1;
            }
        }
        throw new IOException("no message " + number);
    }
}
