package dev.protolog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/**
 * A sink that writes lines in logcat's threadtime form to a file, and rotates it when it is full.
 *
 * <p>{@code app.log} is the newest file; older ones are {@code app.log.1}, {@code app.log.2} and so on. Lines that can't be written, for
 * example to a full disk, are dropped; {@link #problem} returns the last error.
 *
 * <p>Invariants: a line is whole in one file, unless the disk was full in the middle of it; new files are their owner's only; one process
 * writes the file.
 */
public final class RotatingFile implements TextSink, AutoCloseable {
    private final Path path;
    private final long maxBytes;
    private final int keep;
    private FileChannel file;
    private long size;
    /** The file ends within a line whose rest had no room. */
    private boolean isTorn;
    private IOException problem;

    private RotatingFile(Path path, long maxBytes, int keep) throws IOException {
        this.path = path;
        this.maxBytes = maxBytes;
        this.keep = keep;
        file = openLocked(path);
        size = file.size();
    }

    /**
     * Appends to the file at {@code path}, which is rotated before it grows beyond {@code maxBytes}. {@code keep} older files are kept.
     *
     * @throws IOException if the file can't be opened for appending; if another {@code RotatingFile} or session writes it; or, in a
     *     directory that everybody may write to, such as {@code /tmp}, if it is a file or link of another user
     */
    public static RotatingFile open(Path path, long maxBytes, int keep) throws IOException {
        return new RotatingFile(path.toAbsolutePath(), maxBytes, Math.max(keep, 0));
    }

    /** Returns the last error, once; null for none. */
    public synchronized IOException problem() {
        IOException last = problem;
        problem = null;
        return last;
    }

    @Override
    public synchronized void show(TextLine line) {
        ThreadtimeLines.print(line, false, this::write);
    }

    /** Closes the file. Later lines are dropped. */
    @Override
    public synchronized void close() throws IOException {
        file.close();
    }

    private void write(byte[] line) {
        try {
            if (size > 0 && size + line.length > maxBytes) {
                rotate();
            }
        } catch (IOException e) {
            // A file that can't be renamed grows: a long log is better than none.
            problem = e;
        }
        try {
            if (isTorn) {
                append(new byte[] {'\n'});
                isTorn = false;
            }
            append(line);
        } catch (IOException e) {
            problem = e;
        }
    }

    private void append(byte[] bytes) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        try {
            while (rest.hasRemaining()) {
                size += file.write(rest);
            }
        } finally {
            isTorn |= rest.hasRemaining() && rest.position() > 0;
        }
    }

    /** Renames the file, and begins a new one. */
    private void rotate() throws IOException {
        if (keep == 0) {
            Files.delete(path);
        } else {
            for (int number = keep - 1; number > 0; number--) {
                try {
                    Files.move(older(number), older(number + 1), StandardCopyOption.REPLACE_EXISTING);
                } catch (NoSuchFileException e) {
                    // There are fewer so far.
                }
            }
            Files.move(path, older(1), StandardCopyOption.REPLACE_EXISTING);
        }
        FileChannel next = openLocked(path);
        file.close();
        file = next;
        size = file.size();
        isTorn = false;
    }

    private Path older(int number) {
        return path.resolveSibling(path.getFileName() + "." + number);
    }

    private static FileChannel openLocked(Path path) throws IOException {
        refuseOthers(path);
        try {
            Files.createFile(path, Recording.PRIVATE);
        } catch (FileAlreadyExistsException e) {
            // It is appended to.
        }
        FileChannel file = FileChannel.open(path, StandardOpenOption.APPEND);
        try {
            if (file.tryLock() != null) {
                return file;
            }
        } catch (OverlappingFileLockException e) {
            // Another sink or session of this process has it.
        } catch (IOException e) {
            file.close();
            throw e;
        }
        file.close();
        throw new FileAlreadyExistsException(path.toString(), null, "another program or session writes it");
    }

    /** Refuses a file or link that another user put into a directory that everybody may write to. */
    private static void refuseOthers(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        int mode = (Integer) Files.getAttribute(path.getParent(), "unix:mode");
        Map<String, Object> own = Files.readAttributes(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        boolean isOthers = !own.get("uid").equals(RunningProgram.user());
        if ((mode & 02) != 0 && isOthers) {
            throw new AccessDeniedException(path.toString(), null, "it is another user's, in a directory that everybody may write to");
        }
    }
}
