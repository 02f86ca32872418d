package dev.protolog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * The files that this process has open, as {@code /proc} shows them. Java opens a file by its path
 * only and says nothing about what it has opened; the kernel does, by the number of the descriptor.
 */
final class OpenFiles {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path DETAILS = Path.of("/proc/self/fdinfo");
    /** The start of a line that describes a lock of a descriptor. */
    private static final String LOCK = "lock:";
    /** That of the line that says where a descriptor stands. */
    private static final String POSITION = "pos:";

    private OpenFiles() {}

    /** A path that leads to the open file itself, wherever its name leads by now. */
    static Path path(int descriptor) {
        return DESCRIPTORS.resolve(Integer.toString(descriptor));
    }

    /**
     * Finds the descriptor of a channel, which should be the file with this key. Several
     * descriptors may have the same file: that of the channel has a lock on a byte that nobody
     * else would choose.
     *
     * @return -1 if the channel has another file
     * @throws FileAlreadyExistsException if another process has the file for itself
     * @throws IOException without {@code /proc}
     */
    static int descriptor(Path path, AsynchronousFileChannel channel, Object key)
            throws IOException {
        List<Integer> candidates = withKey(key);
        long mark = ThreadLocalRandom.current().nextLong(1L << 40, 1L << 60);
        // A shared one is refused where another process writes the file, and not where one may only read it.
        try (FileLock lock = channel.tryLock(mark, 1, true)) {
            if (lock == null) {
                throw inUse(path);
            }
            String end = " " + mark + " " + mark;
            for (int candidate : candidates) {
                if (locks(candidate).stream().anyMatch(line -> line.endsWith(end))) {
                    return candidate;
                }
            }
        } catch (OverlappingFileLockException e) {
            throw inUse(path);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (IOException e) {
            // A file system without locks.
        }
        // Nor are there locks to be seen on some kernels, such as gVisor.
        if (candidates.size() == 1 && locks(candidates.get(0)).isEmpty()) {
            return candidates.get(0);
        }
        return -1;
    }

    /**
     * True if a descriptor of this process has a lock on the file with this key: perhaps one of
     * another class loader's runtime, or of Rust's.
     */
    static boolean isLocked(Object key) throws IOException {
        for (int descriptor : withKey(key)) {
            if (!locks(descriptor).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    static FileAlreadyExistsException inUse(Path path) {
        return new FileAlreadyExistsException(path.toString(), null,
                "another program or session writes it");
    }

    /** The descriptors of the file with this key. */
    static List<Integer> withKey(Object key) throws IOException {
        List<Integer> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path each : all) {
                try {
                    if (FileStatus.behind(each).key().equals(key)) {
                        found.add(Integer.parseInt(each.getFileName().toString()));
                    }
                } catch (IOException e) {
                    // Closed meanwhile.
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    /** The place in its file at which a descriptor stands; -1 where that is not known. */
    static long position(int descriptor) {
        List<String> lines = details(descriptor, POSITION);
        try {
            return lines.isEmpty() ? -1 : Long.parseLong(lines.get(0).substring(POSITION.length()).trim());
        } catch (NumberFormatException e) {
            // Beyond what Java's numbers have.
            return Long.MAX_VALUE;
        }
    }

    /** The lines that describe the locks of a descriptor. */
    private static List<String> locks(int descriptor) {
        return details(descriptor, LOCK);
    }

    /** The kernel's lines on a descriptor with this start. */
    private static List<String> details(int descriptor, String start) {
        try (Stream<String> lines = Files.lines(DETAILS.resolve(Integer.toString(descriptor)))) {
            return lines.filter(line -> line.startsWith(start)).toList();
        } catch (IOException | UncheckedIOException e) {
            // Closed meanwhile.
            return List.of();
        }
    }
}
