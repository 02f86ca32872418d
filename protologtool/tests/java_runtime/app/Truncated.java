package app;

import dev.protolog.Init;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Loses a file of a session while it logs: {@code Truncated KIND DIRECTORY}. Another session goes
 * on. The kinds:
 *
 * <ul>
 *   <li>{@code recording}: the file of a ring
 *   <li>{@code full}: the file of a session whose buffer is full
 *   <li>{@code stream}: a part of a stream's buffer, before a template comes that was not known
 *   <li>{@code long}: as {@code recording}, and then the file is as long as before
 *   <li>{@code switches}: the switches of groups
 * </ul>
 */
public final class Truncated {
    private static final int MESSAGES = 20_000;

    private Truncated() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        Path directory = Path.of(args[1]);
        Session lost = args[0].equals("switches") ? null : start(args[0], directory);
        Path switches = args[0].equals("switches") ? listen(directory) : null;
        Session other = Session.builder().file(directory.resolve("other.pftrace")).enableAll().start();
        for (int i = 0; i < MESSAGES; i++) {
            ProtoLog.i(AppLog.NET, "message %d", i);
            if (i == MESSAGES / 2 && lost != null) {
                cut(lost.recording(), args[0].equals("stream") ? 1 << 20 : 0);
                if (args[0].equals("long")) {
                    cut(lost.recording(), 8 << 20);
                }
                ProtoLog.i(AppLog.NET, "a template that comes late");
            }
        }
        if (switches != null) {
            cut(switches, 0);
            // Sets the levels of all groups.
            Session.builder().keepNewest().enableAll().start().stop();
            ProtoLog.i(AppLog.NET, "a template that comes late");
        }
        try {
            if (lost != null) {
                lost.stop();
            }
        } catch (IOException e) {
            System.out.println(e.getMessage().replaceFirst("`.*`", "..."));
        }
        System.out.println(other.stop().messages());
    }

    private static Session start(String kind, Path directory) throws IOException {
        Session.Builder builder = Session.builder().file(directory.resolve("lost.pftrace")).enableAll();
        return switch (kind) {
            case "stream" -> builder.start();
            case "full" -> builder.recordTo(directory.resolve("lost.rec")).keepFirst().bufferBytes(256 << 10).start();
            default -> builder.recordTo(directory.resolve("lost.rec")).start();
        };
    }

    /** Listens to operators, and gives the file with the switches. */
    private static Path listen(Path directory) throws Exception {
        Path sockets = Files.createDirectory(directory.resolve("s"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        new Init().groups(AppLog.values()).directory(sockets).start();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(sockets, "*.switches")) {
            return all.iterator().next();
        }
    }

    private static void cut(Path path, long size) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.truncate(size);
            if (file.size() < size) {
                file.write(java.nio.ByteBuffer.allocate(1), size - 1);
            }
        }
    }
}
