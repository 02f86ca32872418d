package app;

import dev.protolog.Init;
import dev.protolog.ProtoLog;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * All that opens files, with each number of descriptors that are free: {@code Few DIRECTORY}. It
 * prints what a failure has left open, or in a directory, and what does not work later; and last
 * how often each failed.
 */
public final class Few {
    private static final int MOST_FREE = 25;

    private Few() {}

    /** Something that opens files; what it returns closes them. */
    private interface Start {
        AutoCloseable in(Path directory) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        Map<String, Start> starts = new LinkedHashMap<>();
        starts.put("stream", in -> Session.builder().file(in.resolve("app.pftrace")).truncate().enableAll().start());
        starts.put("segments", in -> Session.builder().file(in.resolve("app.pftrace")).keepSegments(1).enableAll().start());
        starts.put("kept", in -> Session.builder().file(in.resolve("app.pftrace")).truncate().keepNewest().enableAll().start());
        starts.put("recorded", in -> Session.builder().recordTo(in.resolve("app.rec")).enableAll().start());
        starts.put("text", in -> RotatingFile.open(in.resolve("app.log"), 100, 1));
        starts.put("control", in -> {
            new Init().directory(in).persistentSettings(false).start();
            return Init::stop;
        });
        for (Map.Entry<String, Start> each : starts.entrySet()) {
            Path directory = Files.createDirectory(Path.of(args[0]).resolve(each.getKey()));
            Files.setAttribute(directory, "unix:mode", 0700);
            tryAll(each.getKey(), each.getValue(), directory);
        }
        File[] left = new File("/dev/shm").listFiles((in, name) -> name.contains("-" + ProcessHandle.current().pid() + "-"));
        System.out.println("left in memory: " + (left == null ? 0 : left.length));
    }

    private static void tryAll(String name, Start start, Path directory) throws Exception {
        // Whatever opens once for the process is open then.
        start.in(directory).close();
        List<String> open = open(directory);
        List<String> files = files(directory);
        int failures = 0;
        for (int free = 0; free < MOST_FREE; free++) {
            Deque<FileInputStream> others = takeAll();
            for (int i = 0; i < free; i++) {
                others.pop().close();
            }
            try {
                start.in(directory).close();
            } catch (Exception e) {
                failures++;
            }
            for (FileInputStream other : others) {
                other.close();
            }
            // A server that listens all the same, after it has said what it could not do.
            Init.stop();
            if (name.equals("segments")) {
                // Those that are complete have other numbers now.
                files = files(directory).stream().filter(file -> !file.endsWith(".part")).toList();
            }
            if (!open(directory).equals(open) || !files(directory).equals(files)) {
                System.out.println(name + ", " + free + " free: " + open(directory) + " " + files(directory));
            }
            AutoCloseable later = start.in(directory);
            ProtoLog.i(AppLog.NET, "later");
            later.close();
        }
        System.out.println(name + (failures > 0 ? " failed" : " never failed"));
    }

    private static Deque<FileInputStream> takeAll() {
        Deque<FileInputStream> taken = new ArrayDeque<>();
        try {
            while (true) {
                taken.push(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            return taken;
        }
    }

    /** What is open of a directory, or has no name, without the numbers in it. */
    private static List<String> open(Path directory) throws IOException {
        List<String> open = new ArrayList<>();
        for (String number : new File("/proc/self/fd").list()) {
            try {
                String target = Files.readSymbolicLink(Path.of("/proc/self/fd", number)).toString();
                if (target.startsWith(directory.toString()) || !target.startsWith("/")) {
                    open.add(target.replaceAll("[0-9]+", "N"));
                }
            } catch (IOException e) {
                // That of the list itself.
            }
        }
        Collections.sort(open);
        return open;
    }

    private static List<String> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            // A recording stays, and an earlier one has another name once a start was tried.
            return files.map(file -> file.getFileName().toString()).filter(name -> !name.startsWith("app.rec")).sorted().toList();
        }
    }
}
