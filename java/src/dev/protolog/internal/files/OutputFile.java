package dev.protolog.internal.files;

import dev.protolog.internal.process.RunningProgram;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A file that {@link Outputs} has opened for writing.
 *
 * <p>Invariants: only {@link #write} to a pipe waits for another process. An interrupt of the
 * thread closes no file, as it does channels of NIO, and stays set. A regular file has a claim, and
 * a lock against other processes once it is {@linkplain #lock locked}.
 */
public final class OutputFile implements AutoCloseable {
    private static final FileOutputStream STDOUT = new FileOutputStream(FileDescriptor.out);
    private static final FileOutputStream STDERR = new FileOutputStream(FileDescriptor.err);
    /**
     * The time that the reader of a pipe has to open it, since both programs are often started
     * together, and that between two attempts, in nanoseconds.
     */
    private static final long READER_TIMEOUT = 1_000_000_000;
    private static final long POLL = 5_000_000;
    /** The most bytes that are given to a pipe at once: a slow reader is seen to take some. */
    private static final int PIECE = 4096;

    private static final int PERMISSIONS = 07777;
    private static final int PRIVATE = 0600;
    private static final int READABLE_BY_OTHERS = 0077;
    /** The attempts to replace a file while others create and remove some at its place. */
    private static final int ATTEMPTS = 100;

    /** The place that parts the two locks of a file. */
    private static final long HALF = 1L << 62;

    private Location place;
    private final Object key;
    /** Owner and permissions as it was opened. */
    private final int owner;
    private final int mode;
    /**
     * The file as it was opened, and its descriptor, until it is locked: to close it later would
     * release the lock.
     */
    private final AsynchronousFileChannel anchor;
    private final int descriptor;
    /** True of a pipe that has a name. */
    private final boolean isPipe;
    private final Claims.Claim claim;
    /** Of a regular file; null of others. */
    private final RandomAccessFile file;
    /** Of a file that is not regular; null of a regular one. */
    private final FileOutputStream stream;
    /**
     * The locks of both parts of the file; null without locks. The JVM forgets one that nobody
     * refers to.
     */
    private FileLock[] locks;
    /** A reader has a lock on it, so that this one excludes only writers. */
    private boolean isObstructed;
    /** The bytes that were written; read by threads that wait for progress. */
    private volatile long written;

    /** Takes over the channel of a checked file. */
    OutputFile(Location place, FileStatus status, AsynchronousFileChannel anchor, int descriptor) throws IOException {
        this.place = place;
        this.anchor = anchor;
        this.descriptor = descriptor;
        key = status.key();
        owner = status.owner();
        mode = status.mode() & PERMISSIONS;
        isPipe = status.isPipe();
        claim = status.isRegular() ? Claims.file(place.path(), key) : null;
        try {
            // Within: where there is no memory for the name, the claim would stay for good.
            String opened = OpenFiles.path(descriptor).toString();
            file = status.isRegular() ? new RandomAccessFile(opened, "rw") : null;
            stream = status.isRegular() ? null : new FileOutputStream(opened, true);
        } catch (IOException | RuntimeException | Error e) {
            if (claim != null) {
                claim.close();
            }
            throw e;
        }
    }

    /** Of a descriptor that the process was given. */
    OutputFile(Location place, int given) throws IOException {
        this.place = place;
        key = FileStatus.behind(OpenFiles.path(given)).key();
        owner = 0;
        mode = PRIVATE;
        stream = given == 1 ? STDOUT : given == 2 ? STDERR
                : new FileOutputStream(OpenFiles.path(given).toString(), true);
        anchor = null;
        descriptor = given;
        isPipe = false;
        claim = null;
        file = null;
    }

    public Path path() {
        return place.path();
    }

    public Location place() {
        return place;
    }

    public boolean isRegular() {
        return file != null;
    }

    /** True if a file lets others do more than one that is created here. */
    public boolean isPermissive() {
        return file != null && (mode & ~PRIVATE) != 0;
    }

    /**
     * True if a user who may only read the file has a lock on it, so that it can't be claimed:
     * another user can keep such a lock for ever. Nobody writes it, but it is to be replaced rather
     * than written.
     */
    public boolean isObstructed() {
        return isObstructed;
    }

    /**
     * Takes the permissions of others away, where the file was found in a directory of which nobody
     * else can have put it there. An error otherwise.
     */
    void restrict() throws IOException {
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            if (owner != RunningProgram.user() || !directory.isTrusted() || !directory.has(place.name(), key)) {
                throw new FileSystemException(path().toString(), null, "its mode " + Integer.toOctalString(mode) + " gives others permissions, and it can't be replaced");
            }
            directory.restrict(place.name(), mode & PRIVATE);
        }
    }

    /**
     * Locks the file against other processes, or against those that write it if it is
     * {@linkplain #isObstructed obstructed}. It can't be mapped any more.
     */
    public OutputFile lock() throws IOException {
        try {
            anchor.close();
            if (file != null && !isLocked()) {
                throw OpenFiles.inUse(path());
            }
            return this;
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Maps a part of the file, which has to have it. */
    public MappedByteBuffer map(long at, int length) throws IOException {
        boolean isInterrupted = false;
        try {
            while (true) {
                isInterrupted |= Thread.interrupted();
                try (RandomAccessFile again = new RandomAccessFile(OpenFiles.path(descriptor).toString(), "rw")) {
                    return again.getChannel().map(FileChannel.MapMode.READ_WRITE, at, length);
                } catch (ClosedByInterruptException e) {
                    // The thread was interrupted meanwhile, which must not keep it from this.
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Writes after the bytes written before; in an existing file, from its beginning. */
    public void write(byte[] bytes, int from, int length) throws IOException {
        if (file != null) {
            file.write(bytes, from, length);
            written += length;
            return;
        }
        for (int at = 0; at < length; at += PIECE) {
            int piece = Math.min(PIECE, length - at);
            writeToStream(bytes, from + at, piece);
            written += piece;
        }
    }

    /** Writes at a place of a regular file. */
    public synchronized void writeAt(long at, byte[] bytes, int from, int length) throws IOException {
        file.seek(at);
        file.write(bytes, from, length);
    }

    /** As {@link #write}. */
    public OutputStream out() {
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                OutputFile.this.write(bytes, from, length);
            }
        };
    }

    /**
     * Reads a regular file from its beginning. To close the stream does not close the file. Not to
     * be used while the file is written.
     */
    public InputStream in() {
        return new InputStream() {
            private long at;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] to, int from, int length) throws IOException {
                file.seek(at);
                int read = file.read(to, from, length);
                at += Math.max(0, read);
                return read;
            }
        };
    }

    /** The bytes that were written so far, for other threads. */
    public long written() {
        return written;
    }

    /** The size of a regular file; 0 of others. */
    public long size() throws IOException {
        return file == null ? 0 : file.length();
    }

    /** True of a regular file that was removed while it is open. */
    public boolean isRemoved() {
        try {
            int open = OpenFiles.anyWithKey(key);
            return open >= 0 && Integer.valueOf(0).equals(Files.getAttribute(OpenFiles.path(open), "unix:nlink"));
        } catch (IOException | RuntimeException e) {
            // Not known without /proc.
        }
        return false;
    }

    /** Cuts a regular file. The next write begins there. */
    public void truncate(long size) throws IOException {
        if (file == null) {
            throw new FileSystemException(path().toString(), null, "what was written to a pipe or device can't be taken back");
        }
        file.setLength(size);
        file.seek(size);
    }

    /** Waits until a regular file is on the disk. */
    public void sync() throws IOException {
        if (file != null) {
            file.getFD().sync();
        }
    }

    /**
     * True if the path still leads to this file. An entry to be changed there has to be looked at
     * in its directory.
     */
    public boolean isThere() throws IOException {
        FileStatus there = FileStatus.at(place.real());
        return there != null && there.key().equals(key);
    }

    /**
     * Gives the file another name in its directory, which may be that of a file that
     * {@link OutputRules} allow to replace. False, and nothing is done, if its name is another
     * file's by now.
     */
    public boolean moveTo(String name) throws IOException {
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                if (!directory.has(place.name(), key)) {
                    return false;
                }
                FileStatus there = directory.status(name);
                if (there != null) {
                    OutputRules.checkToReplace(place.sibling(name), directory, there);
                    directory.rename(place.name(), name);
                    return true;
                }
                try {
                    directory.renameToFree(place.name(), name, key);
                    return true;
                } catch (FileAlreadyExistsException e) {
                    // Since a moment ago.
                }
            }
            throw new FileAlreadyExistsException(place.sibling(name).path().toString());
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /**
     * Gives the file another name in its directory, which must be free. False, and nothing is done,
     * if its name is another file's by now.
     *
     * @throws FileAlreadyExistsException if the name is taken
     */
    public boolean moveToFree(String name) throws IOException {
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            boolean isThere = directory.has(place.name(), key);
            if (isThere) {
                directory.renameToFree(place.name(), name, key);
            }
            return isThere;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** As {@link #moveToFree}, and follows the file there. */
    public void rename(String name) throws IOException {
        if (!moveToFree(name)) {
            throw new NoSuchFileException(path().toString());
        }
        place = place.sibling(name);
    }

    /** Removes the file. Nothing is done if its name is another one's by now. */
    public void remove() throws IOException {
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            directory.remove(place.name(), key);
        } catch (NoSuchFileException e) {
            // Nor is it there.
        }
    }

    /** As {@link #remove}, and {@link #close} in any case. */
    public void removeAndClose() throws IOException {
        boolean isRemoved = false;
        try {
            remove();
            isRemoved = true;
        } catch (IOException e) {
            // The process may open no more files, which it may once this one is closed.
        } finally {
            close();
        }
        if (!isRemoved) {
            remove();
        }
    }

    /** Closes the file, and then gives its claim up. It may be closed again. */
    @Override
    public void close() throws IOException {
        try {
            if (anchor != null) {
                anchor.close();
            }
        } finally {
            // To close a channel takes memory. A claim on a file that nobody has any more would be
            // one on the next file that gets its number.
            closeRest();
        }
    }

    private void closeRest() throws IOException {
        try {
            if (file != null) {
                file.close();
            }
            if (stream != null && stream != STDOUT && stream != STDERR) {
                stream.close();
            }
        } finally {
            if (claim != null) {
                claim.close();
            }
        }
    }

    private void writeToStream(byte[] bytes, int from, int length) throws IOException {
        long begun = System.nanoTime();
        boolean isInterrupted = false;
        try {
            while (!isWritten(bytes, from, length, begun)) {
                // An interrupted thread would not wait.
                isInterrupted |= Thread.interrupted();
                LockSupport.parkNanos(POLL);
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** False where a pipe has no reader yet, and the time for that is not over. */
    private boolean isWritten(byte[] bytes, int from, int length, long begun) throws IOException {
        try {
            stream.write(bytes, from, length);
            return true;
        } catch (IOException e) {
            if (!isPipe || written > 0) {
                throw e;
            } else if (System.nanoTime() - begun >= READER_TIMEOUT) {
                throw new FileSystemException(path().toString(), null, "it is a pipe that no program reads");
            }
            return false;
        }
    }

    /** False if another process has the file. */
    private boolean isLocked() throws IOException {
        try {
            FileLock[] both = {lockPart(0, false), lockPart(1, false)};
            locks = both;
            for (int part = 0; part < both.length; part++) {
                if (both[part] == null && (mode & READABLE_BY_OTHERS) != 0) {
                    both[part] = lockPart(part, true);
                    isObstructed = both[part] != null;
                }
            }
            return both[0] != null && both[1] != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            // The file system has no locks, so no other process has the file.
            return true;
        }
    }

    /**
     * The lock of one half of all places that a file can have; null if another process has it. A
     * shared one excludes only exclusive holders.
     */
    private FileLock lockPart(int part, boolean isShared) throws IOException {
        return file.getChannel().tryLock(part * HALF, part == 0 ? HALF : Long.MAX_VALUE - HALF, isShared);
    }

    /**
     * Takes the lock again, if it is gone: the kernel takes it from a process that closes any
     * descriptor of the file, as one does that reads its own trace. Java has no other locks. The
     * parts are taken again one after the other, so that there is always one.
     */
    public void keepLock() {
        for (int part = 0; locks != null && part < locks.length; part++) {
            try {
                if (locks[part] != null) {
                    locks[part].release();
                }
                locks[part] = lockPart(part, false);
            } catch (IOException | OverlappingFileLockException e) {
                // The next attempt may succeed.
            }
        }
    }
}
