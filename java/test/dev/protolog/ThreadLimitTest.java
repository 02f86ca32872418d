package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A program that may have no more threads: what needs one is an error that the caller can handle,
 * and what was there stays.
 */
public final class ThreadLimitTest {
    private static final String OTHER_USER = "65533";
    /** More than the JVM's own. */
    private static final String LIMIT = "60";

    private ThreadLimitTest() {}

    /** In a program of another user, since the limit is one of users, and not of root. */
    static void run() throws Exception {
        if (!"root".equals(System.getProperty("user.name"))) {
            System.err.println("skipped: threads run out (run it as root)");
            return;
        }
        Path place = Files.createTempDirectory("protolog-threads");
        Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path classes = place.resolve("classes");
        check("classes", new ProcessBuilder("cp", "-r", System.getProperty("java.class.path"), classes.toString()).inheritIO().start().waitFor(), 0);
        check("their mode", new ProcessBuilder("chmod", "-R", "a+rX", classes.toString()).inheritIO().start().waitFor(), 0);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process program = new ProcessBuilder("setpriv", "--reuid=" + OTHER_USER, "--regid=" + OTHER_USER, "--clear-groups", "prlimit", "--nproc=" + LIMIT,
                java, "-Xlog:os+thread=off", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes.toString(), ThreadLimitTest.class.getName(),
                place.resolve("app.pftrace").toString()).redirectErrorStream(true).start();
        String said = new String(program.getInputStream().readAllBytes());
        check("the program's end: " + said, program.waitFor(), 0);
        check("what it says", said, "refused\nrefused\nthe earlier log\n2 messages\n");
        check("nothing is left", new ProcessBuilder("rm", "-r", place.toString()).inheritIO().start().waitFor(), 0);
    }

    /** The other program. */
    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        Files.writeString(file, "the earlier log");
        CountDownLatch over = new CountDownLatch(1);
        List<Thread> all = exhaust(over);
        ProtoLog.d(LevelsTest.Group.QUIET, "before %d", 1);
        System.out.println(start(file) == null ? "refused" : "started");
        try {
            new Init().start();
            System.out.println("listens");
        } catch (InitException e) {
            System.out.println("refused");
        }
        System.out.println(Files.readString(file));
        over.countDown();
        for (Thread thread : all) {
            thread.join();
        }
        Session session = start(file);
        ProtoLog.d(LevelsTest.Group.QUIET, "after %d", 1);
        ProtoLog.d(LevelsTest.Group.QUIET, "after %d", 2);
        System.out.println(session.stop().messages() + " messages");
    }

    private static Session start(Path file) {
        try {
            return Session.builder().file(file).truncate().enableAll().start();
        } catch (IOException e) {
            return null;
        }
    }

    private static List<Thread> exhaust(CountDownLatch over) {
        List<Thread> all = new ArrayList<>();
        while (true) {
            Thread thread = new Thread(() -> {
                try {
                    over.await();
                } catch (InterruptedException e) {
                    // Then it ends.
                }
            });
            thread.setDaemon(true);
            try {
                thread.start();
            } catch (OutOfMemoryError e) {
                return all;
            }
            all.add(thread);
        }
    }
}
