package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.session.Segments;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** Settings of sessions that are refused, and the names of segments and those that stay. */
final class BuilderTest {
    private BuilderTest() {}

    static void run() {
        refused("bufferBytes(5) is not from 262144 to 1073741824", () -> builder().bufferBytes(5));
        refused("startupBuffer(1073741825) is not from 0 to 1073741824", () -> new ProtoLogProducer.Connect().startupBuffer((1 << 30) + 1));
        refused("startupBuffer(-1) is not from 0 to 1073741824", () -> new ProtoLogProducer.Connect().startupBuffer(-1));
        refused("maxStringBytes(5000) is not from 64 to 4096", () -> builder().maxStringBytes(5000));
        refused("compress(10) is not from 1 to 9", () -> builder().compress(10));
        refused("segmentBytes(0) is not more than 0", () -> builder().segmentBytes(0));
        refused("keepSegments(-1) is not more than 0", () -> builder().keepSegments(-1));
        refused("no file; call file(path), record() or keepNewest()", () -> Session.builder().start());
        String streams = " is for sessions that stream to a file; leave it out, or what keeps messages in memory: keepNewest, keepFirst, record, triggers or pin";
        refused("waitAtMost" + streams, () -> builder().keepFirst().waitAtMost(Duration.ZERO).start());
        refused("segmentBytes" + streams, () -> builder().keepNewest().segmentBytes(1).start());
        refused("segmentAge" + streams, () -> builder().record().segmentAge(Duration.ofDays(1_000_000)).start());
        refused("keepSegments" + streams, () -> builder().keepFirst().keepSegments(3).start());
        noNameLeavesNothing();
        segment("app.pftrace", 1, "app.0001.pftrace");
        segment("app.pftrace", 12_345, "app.12345.pftrace");
        segment("app", 7, "app.0007");
        segment("my.app.trace", 7, "my.app.0007.trace");
        segment(".hidden", 7, ".hidden.0007");
        for (String other : new String[] {"app.pftrace", "app.0001.pftrace.gz", "app.0001.part", "app.001.pftrace", "app.0x01.pftrace",
                "app.+001.pftrace", "application.0001.pftrace", "my.app.0001.pftrace", "app.0001.trace", "0001.pftrace"}) {
            check(other, Segments.number("app.pftrace", other), -1L);
        }
        runsThatDieSoonTakeNoSegmentAway();
        filesOfOthersStay();
    }

    private static void runsThatDieSoonTakeNoSegmentAway() {
        try {
            Path folder = Files.createTempDirectory("protolog-segments");
            for (String name : List.of("app.0001.pftrace", "app.0002.pftrace", "app.0007.pftrace.part", "app.0008.pftrace.part",
                    "app.0009.pftrace.part")) {
                Files.createFile(folder.resolve(name));
            }
            builder().file(folder.resolve("app.pftrace")).keepSegments(2).start().stop();
            List<Path> left;
            try (Stream<Path> files = Files.list(folder)) {
                left = files.sorted().toList();
            }
            List<String> names = left.stream().map(file -> file.getFileName().toString()).toList();
            check("segments that stay", names, List.of("app.0001.pftrace", "app.0002.pftrace", "app.0008.pftrace.part",
                    "app.0009.pftrace.part", "app.0010.pftrace"));
            for (Path file : left) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void noNameLeavesNothing() {
        Session.Builder builder = Session.builder().keepNewest();
        try {
            builder.group((String) null, LogLevel.WARN);
            check("a group without a name", "taken", "refused");
        } catch (NullPointerException e) {
            // As it should be.
        }
        try {
            builder.start().stop();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A name with a number and {@code .part} may be that of a file that a browser has not yet
     * whole.
     */
    private static void filesOfOthersStay() {
        try {
            Path folder = Files.createTempDirectory("protolog-segments");
            Path foreign = Files.writeString(folder.resolve("app.20201126.pftrace.part"), "of a download");
            builder().file(folder.resolve("app.pftrace")).keepSegments(1).start().stop();
            Files.move(folder.resolve("app.0001.pftrace"), folder.resolve("app.0001.pftrace.part"));
            for (int run = 0; run < 3; run++) {
                builder().file(folder.resolve("app.pftrace")).keepSegments(1).start().stop();
            }
            try (Stream<Path> files = Files.list(folder)) {
                List<String> names = files.map(file -> file.getFileName().toString()).sorted().toList();
                check("a file that is no segment", names, List.of("app.0003.pftrace", "app.0004.pftrace", "app.20201126.pftrace.part"));
            }
            for (String name : List.of("app.0003.pftrace", "app.0004.pftrace", "app.20201126.pftrace.part", ".")) {
                Files.delete(folder.resolve(name).normalize());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Session.Builder builder() {
        return Session.builder().file("never-written.pftrace");
    }

    private static void segment(String name, long number, String expected) {
        check(name, Segments.name(name, number), expected);
        check(expected, Segments.number(name, expected), number);
        check(expected + ".part", Segments.number(name, expected + ".part"), number);
    }

    private static void refused(String problem, Callable<?> setting) {
        String message = "";
        try {
            setting.call();
        } catch (Exception e) {
            message = e.getMessage();
        }
        check("refused", message, problem);
    }
}
