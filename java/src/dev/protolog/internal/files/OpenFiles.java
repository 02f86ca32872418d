package dev.protolog.internal.files;

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
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

/**
 * The files that this process has open, as {@code /proc} shows them. Java opens a file by its path
 * only and says nothing about what it has opened; the kernel does, by the number of the descriptor.
 */
public final class OpenFiles {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path DETAILS = Path.of("/proc/self/fdinfo");
    /** The start of a line that describes a lock of a descriptor. */
    private static final String LOCK = "lock:";
    /** That of the line that says where a descriptor stands. */
    private static final String POSITION = "pos:";

    /** The numbers at which descriptors were found last. */
    private static final AtomicIntegerArray RECENT = new AtomicIntegerArray(16);

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
        long mark = ThreadLocalRandom.current().nextLong(1L << 40, 1L << 60);
        // A shared one is refused where another process writes the file, and not where one may only
        // read it.
        try (FileLock lock = channel.tryLock(mark, 1, true)) {
            if (lock == null) {
                throw inUse(path);
            }
            String end = " " + mark + " " + mark;
            int found = first(candidate -> isOf(candidate, key) && locks(candidate).stream().anyMatch(line -> line.endsWith(end)));
            if (found >= 0) {
                return found;
            }
        } catch (OverlappingFileLockException e) {
            throw inUse(path);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (IOException e) {
            // A file system without locks.
        }
        // Nor are there locks to be seen on some kernels, such as gVisor.
        List<Integer> candidates = withKey(key);
        if (candidates.size() == 1 && locks(candidates.get(0)).isEmpty()) {
            return candidates.get(0);
        }
        return -1;
    }

    /**
     * True if a descriptor of this process has a lock on the file with this key: perhaps one of
     * another class loader's runtime, or of Rust's.
     */
    public static boolean isLocked(Object key) throws IOException {
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

    /** A descriptor of the file with this key; -1 for none. */
    static int anyWithKey(Object key) throws IOException {
        return first(each -> isOf(each, key));
    }

    /** The descriptors of the file with this key. */
    static List<Integer> withKey(Object key) throws IOException {
        List<Integer> found = all();
        found.removeIf(each -> !isOf(each, key));
        return found;
    }

    /**
     * The first descriptor that {@code test} accepts; -1 for none. A process may have tens of
     * thousands, and each look takes microseconds. The system gives the lowest free number, so the
     * numbers that were found last come first, and then those below the first one that is free now.
     */
    private static int first(IntPredicate test) throws IOException {
        for (int at = 0; at < RECENT.length(); at++) {
            int known = RECENT.get(at);
            if (known > 0 && test.test(known)) {
                return known;
            }
        }
        List<Integer> all = all();
        Collections.sort(all);
        int gap = 0;
        while (gap < all.size() && all.get(gap) == gap) {
            gap++;
        }
        for (int at = gap - 1, step = -1; at < all.size(); at += step) {
            if (at < 0) {
                at = gap - 1;
                step = 1;
            } else if (test.test(all.get(at))) {
                RECENT.set(Math.floorMod(all.get(at), RECENT.length()), all.get(at));
                return all.get(at);
            }
        }
        return -1;
    }

    /** True if a descriptor is of the file with this key. */
    private static boolean isOf(int descriptor, Object key) {
        try {
            return Files.readAttributes(path(descriptor), BasicFileAttributes.class).fileKey().equals(key);
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }

    /** All descriptors. */
    private static List<Integer> all() throws IOException {
        List<Integer> all = new ArrayList<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            descriptors.forEach(each -> all.add(Integer.parseInt(each.getFileName().toString())));
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return all;
    }

    /** The place in its file at which a descriptor stands; -1 where that is not known. */
    static long position(int descriptor) {
        List<String> lines = details(descriptor, POSITION);
        try {
            return lines.isEmpty() ? -1 : Long.parseLong(lines.get(0).substring(POSITION.length()).trim());
        } catch (NumberFormatException e) {
            // Beyond the range of Java's numbers.
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
