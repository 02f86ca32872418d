package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A trace that others empty, cut or delete while a session writes it. */
final class OutsideChangeTest {
    private static final int ROUND = 50;

    private OutsideChangeTest() {}

    private enum Log implements IProtoLogGroup {
        QUIET;

        @Override
        public String getTag() {
            return "Quiet";
        }

        @Override
        public boolean isLogToLogcat() {
            return false;
        }
    }

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-outside");
        Path file = directory.resolve("app.pftrace");
        try {
            goesOnAfterCuts(file);
            keepsItsLock(file);
            saysThatItWasDeleted(file);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    private static void goesOnAfterCuts(Path file) throws Exception {
        Session session = Session.builder().file(file).enableAll().start();
        int lost = 0;
        for (int left : new int[] {0, 0, 100}) {
            for (int number = 0; number < ROUND; number++) {
                ProtoLog.d(Log.QUIET, "%d in a %s", number, number + ". text");
            }
            session.flush();
            lost += ROUND;
            // As copytruncate does.
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(left);
            }
        }
        // In the chunk that was begun before, with a string that it has.
        ProtoLog.d(Log.QUIET, "%d in a %s", 7, "7. text");
        session.flush();
        ProtoLog.d(Log.QUIET, "%d in a %s", 8, "8. new text");
        Summary summary = session.stop();
        check("messages and losses", summary.messages() + " and " + summary.lost(), "2 and " + lost);
        FaultTrace trace = FaultTrace.read(List.of(file), Set.of());
        check("what a reader can't make sense of", trace.problems, List.of());
        check("the messages", trace.numbers, List.of(7L, 8L));
        check("the losses of the trace", trace.lost(), (long) lost);
    }

    private static void keepsItsLock(Path file) throws IOException {
        try (Session session = Session.builder().file(file).enableAll().start()) {
            Object key = FileStatus.at(file).key();
            check("it is locked", OpenFiles.isLocked(key), true);
            // As a program does that sends its log somewhere.
            Files.readAllBytes(file);
            check("the kernel takes the lock away", OpenFiles.isLocked(key), false);
            ProtoLog.d(Log.QUIET, "%d in a %s", 1, "1. text");
            session.flush();
            check("it is locked again", OpenFiles.isLocked(key), true);
        }
    }

    private static void saysThatItWasDeleted(Path file) throws IOException {
        Session session = Session.builder().file(file).truncate().enableAll().start();
        ProtoLog.d(Log.QUIET, "%d in a %s", 1, "1. text");
        session.flush();
        Files.delete(file);
        try {
            session.stop();
            check("a stop without a file", "no error", "an error");
        } catch (StopException e) {
            String reason = e.getCause() instanceof NoSuchFileException missing ? missing.getReason() : e.getMessage();
            check("the reason", reason, "the file was deleted meanwhile");
            check("its messages", e.summary().messages() + " and " + e.summary().lost() + " lost", "0 and 1 lost");
        }
    }
}
