package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.OpenFiles;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.write.LossCause;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
            for (int compression : new int[] {0, 6}) {
                losesWhatWasCutOff(directory, compression, false);
                losesWhatWasCutOff(directory, compression, true);
            }
            countsDeletedSegments(directory);
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

    /** {@code isRotated}: an earlier file of the session is whole. */
    private static void losesWhatWasCutOff(Path directory, int compression, boolean isRotated) throws Exception {
        Path file = Files.createDirectory(directory.resolve(compression + "-" + isRotated)).resolve("app.pftrace");
        Session.Builder builder = Session.builder().file(file).enableAll();
        if (compression > 0) {
            builder.compress(compression);
        }
        if (isRotated) {
            builder.segmentBytes(100_000);
        }
        Session session = builder.start();
        int logged = 0;
        while (isRotated && segments(file).size() < 2) {
            round(logged++);
            session.flush();
        }
        round(logged++);
        session.flush();
        Path last = segments(file).get(segments(file).size() - 1);
        long first = Files.size(last);
        round(logged++);
        session.flush();
        // Within a packet.
        cut(last, first + 3);
        session.flush();
        long second = Files.size(last);
        round(logged++);
        session.flush();
        cut(last, second);
        round(logged++);
        session.flush();
        SessionStats stats = session.running().stats();
        Summary summary = session.stop();
        long there = (logged - 2L) * ROUND;
        check("messages and losses", summary.messages() + " and " + summary.lost(), there + " and " + 2 * ROUND);
        check("of the statistics", stats.messages() + " and " + stats.lost(), there + " and " + 2 * ROUND);
        FaultTrace trace = FaultTrace.read(segments(file), Set.of());
        check("what a reader can't make sense of", trace.problems, List.of());
        check("the messages", (long) trace.numbers.size(), there);
        check("the losses of the trace", trace.losses, Map.of(LossCause.REMOVED, 2L * ROUND));
    }

    private static void countsDeletedSegments(Path directory) throws Exception {
        for (int compression : new int[] {0, 6}) {
            for (boolean isByAge : new boolean[] {true, false}) {
                String name = "deleted-" + compression + "-" + isByAge;
                Path file = Files.createDirectory(directory.resolve(name)).resolve("app.pftrace");
                Session.Builder builder = Session.builder().file(file).enableAll();
                if (compression > 0) {
                    builder.compress(compression);
                }
                if (isByAge) {
                    builder.segmentAge(Duration.ofMillis(300));
                } else {
                    builder.segmentBytes(20_000);
                }
                losesDeletedSegments(builder.start(), file, isByAge);
            }
        }
    }

    /** Deletes two segments, and one after another that stays. */
    private static void losesDeletedSegments(Session session, Path file, boolean isByAge) throws Exception {
        int logged = 0;
        for (int number = 1; number <= 5; number++) {
            Path segment = file.resolveSibling("app.000" + number + ".pftrace.part");
            while (!Files.exists(segment)) {
                if (isByAge) {
                    Thread.sleep(10);
                } else {
                    round(logged++);
                    session.flush();
                }
            }
            round(logged++);
            session.flush();
            if (number != 3 && number != 5) {
                Files.delete(segment);
            }
        }
        SessionStats stats = session.running().stats();
        Summary summary = session.stop();
        FaultTrace trace = FaultTrace.read(segments(file), Set.of());
        long there = trace.numbers.size();
        long lost = (long) logged * ROUND - there;
        check("some are lost, and some are there", lost >= 3 * ROUND && there >= 2 * ROUND, true);
        check("messages and losses", summary.messages() + " and " + summary.lost(), there + " and " + lost);
        check("of the statistics", stats.messages() + " and " + stats.lost(), there + " and " + lost);
        check("what a reader can't make sense of", trace.problems, List.of());
        check("the losses of the trace", trace.losses, Map.of(LossCause.REMOVED, lost));
    }

    private static void round(int round) {
        for (int number = 0; number < ROUND; number++) {
            ProtoLog.d(Log.QUIET, "%d in a %s", round, round + ". text");
        }
    }

    private static void cut(Path file, long left) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(left);
        }
    }

    /** The file, or its parts, the last one at the end. */
    private static List<Path> segments(Path file) throws IOException {
        try (Stream<Path> files = Files.list(file.getParent())) {
            return files.filter(path -> path.getFileName().toString().contains(".pftrace")).sorted().toList();
        }
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
