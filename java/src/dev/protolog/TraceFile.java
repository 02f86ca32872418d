package dev.protolog;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A trace file that a session writes, with a lock on it. A segment has another name until it is complete.
 *
 * <p>Invariant: no two sessions write one file.
 */
final class TraceFile {
    private final Path path;
    /** The name that it gets when it is complete; null where it has that already. */
    private final Path name;
    private final FileChannel file;
    private final TraceOutput out;
    private long beginning;

    private TraceFile(Path path, Path name, FileChannel file, int compression) {
        this.path = path;
        this.name = name;
        this.file = file;
        out = new TraceOutput(Channels.newOutputStream(file), compression);
    }

    /** Creates the file. An existing one is replaced, unless a process writes it; what is no file is written as it is. */
    static TraceFile create(Path path, int compression) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            return new TraceFile(path, null, FileChannel.open(path, StandardOpenOption.WRITE), compression);
        }
        if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            try (FileChannel old = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                lock(old, path);
                Files.delete(path);
            }
        }
        return createNew(path, null, compression);
    }

    /** Creates a file that is not there yet; it becomes {@code name} when it is complete, if that is not null. */
    static TraceFile createNew(Path path, Path name, int compression) throws IOException {
        Files.createFile(path, Recording.PRIVATE);
        FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE);
        try {
            lock(file, path);
            return new TraceFile(path, name, file, compression);
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** Locks a file; false if another session has it. */
    static boolean isLocked(FileChannel file) throws IOException {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            // Another session of this process has it.
            return false;
        }
    }

    Path path() {
        return path;
    }

    /** The path of the file once it is complete. */
    Path name() {
        return name == null ? path : name;
    }

    TraceOutput out() {
        return out;
    }

    /** Says that the file has no message so far, but all that comes before the first one. */
    void setBegun() {
        beginning = out.size();
    }

    /** True if the file has no message. */
    boolean isEmpty() {
        return out.size() == beginning;
    }

    /** Forgets what was written after {@code mark}. An error of what is no file. */
    void rewind(TraceOutput.Mark mark) throws IOException {
        if (out.hasMore(mark)) {
            file.truncate(mark.written());
        }
        out.rewind(mark);
    }

    /** Closes the file; a complete one gets its name. After an error of the JVM it may be closed again. */
    void close(boolean isComplete) throws IOException {
        file.close();
        if (isComplete && name != null && Files.exists(path)) {
            Files.move(path, name, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static void lock(FileChannel file, Path path) throws IOException {
        if (!isLocked(file)) {
            throw new FileAlreadyExistsException(path.toString(), null, "another session writes it");
        }
    }
}
