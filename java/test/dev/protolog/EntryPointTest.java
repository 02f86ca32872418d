package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program may use any class of the API first: groups are found with their dictionaries, and go to
 * sessions that come later. It may also use all at once by several threads, of which none waits for
 * another one's class.
 */
public final class EntryPointTest {
    private static final long ID = 0x1122334455667722L;
    private static final String TEXT = "sent %d bytes";
    private static final LevelsTest.Group GROUP = LevelsTest.Group.QUIET;
    /** The entry points at once. */
    private static final String ALL = "all";
    private static final long MILLIS = 60_000;
    /** The folder of the other program's files; null in this one. */
    private static final Path PLACE = System.getProperty("place") == null ? null : Path.of(System.getProperty("place"));
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    private EntryPointTest() {}

    /** A step that a program takes first. */
    private interface Entry {
        void enter() throws Exception;
    }

    private static final Map<String, Entry> ENTRIES = Map.of(
            "processed", () -> ProtoLogImpl.i(GROUP, ID, 1, 7),
            "guard", () -> ProtoLogImpl.isEnabled(GROUP, LogLevel.INFO),
            "unprocessed", () -> ProtoLog.i(GROUP, "a text %d", 7),
            "register", () -> ProtoLog.init(GROUP),
            "bridge", () -> BridgedLogger.of("a.Logger").log(LogLevel.INFO, "a text {}", new Object[] {7}, null, null),
            "settings", () -> new Init().groups(GROUP).directory(PLACE).start(),
            "session", () -> session().stop(),
            "producer", ProtoLogProducer::connect);

    static void run() throws Exception {
        Path place = Files.createTempDirectory("protolog-entry");
        Path dictionary = place.resolve(Dictionaries.RESOURCE);
        Files.createDirectories(dictionary.getParent());
        Bytes group = new Bytes().varint(1, 9).string(2, "com.foo.Log.ENTRY").string(3, "Entry");
        Bytes message = new Bytes().fixed64(1, ID).string(2, TEXT).varint(3, 1).varint(4, 9);
        Files.write(dictionary, new Bytes().message(2, group).message(1, message).done());
        List<String> entries = new ArrayList<>(ENTRIES.keySet());
        entries.add(ALL);
        for (String entry : entries) {
            check("a program that begins with `" + entry + "`", begin(entry, place), "1 and 0 lost, " + TEXT + "\n");
        }
        check("nothing is left", new ProcessBuilder("rm", "-r", place.toString()).inheritIO().start().waitFor(), 0);
    }

    private static String begin(String entry, Path place) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String path = place + ":" + System.getProperty("java.class.path");
        ProcessBuilder program = new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-Dplace=" + place, "-cp", path, EntryPointTest.class.getName(), entry);
        program.environment().put("PERFETTO_PRODUCER_SOCK_NAME", place.resolve("none").toString());
        Process started = program.redirectErrorStream(true).start();
        String said = new String(started.getInputStream().readAllBytes());
        check("the program's end: " + said, started.waitFor(), 0);
        return said;
    }

    /** The other program. */
    public static void main(String[] args) throws Exception {
        List<Entry> first = args[0].equals(ALL) ? List.copyOf(ENTRIES.values()) : List.of(ENTRIES.get(args[0]));
        CyclicBarrier start = new CyclicBarrier(first.size());
        List<Thread> threads = new ArrayList<>();
        for (Entry entry : first) {
            Thread thread = new Thread(() -> enter(start, entry));
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join(MILLIS);
            if (thread.isAlive()) {
                System.out.println(thread.getName() + " waits: " + List.of(thread.getStackTrace()));
            }
        }
        try (Session session = session()) {
            ProtoLogImpl.i(GROUP, ID, 1, 7);
            Summary summary = session.stop();
            System.out.println(summary.messages() + " and " + summary.lost() + " lost, " + Dictionaries.template(ID));
        }
        // Threads of the producer and of the settings go on.
        System.exit(0);
    }

    private static Session session() throws IOException {
        return Session.builder().file(PLACE.resolve(SESSIONS.incrementAndGet() + ".pftrace")).truncate().enableAll().start();
    }

    private static void enter(CyclicBarrier start, Entry entry) {
        try {
            start.await();
            entry.enter();
        } catch (IOException e) {
            System.out.println("refused: " + e.getMessage());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
