package dev.protolog;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.OutputRules;
import dev.protolog.internal.files.Outputs;
import dev.protolog.internal.text.TextOutput;
import dev.protolog.internal.text.ThreadtimeLines;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A sink that writes lines in logcat's threadtime form to a file, and rotates it when it is full.
 *
 * <p>{@code app.log} is the newest file; older ones are {@code app.log.1}, {@code app.log.2} and so
 * on. If it is deleted or renamed, the next line begins a new one. Lines that can't be written, for
 * example to a full disk, are dropped; {@link #problem} returns the last error.
 *
 * <p>Invariants: a line is whole in one file, unless the disk was full in the middle of it. New
 * files are their owner's only; one process writes the file. A rotation that fails, however often,
 * takes no older file away but the oldest.
 */
public final class RotatingFile implements TextSink, AutoCloseable {
    /** The attempts to open a file that others replace at the same time. */
    private static final int ATTEMPTS = 100;

    /** Where it is, found once: a link that appears on the way leads nowhere. */
    private final Location place;
    private final long maxBytes;
    private final int keep;
    private OutputFile file;
    /** The directory of a file that is rotated; null of others. */
    private final OpenDirectory directory;
    /** The file ends within a line, since its rest had no room. */
    private boolean isTorn;
    private boolean isClosed;
    private IOException problem;

    private RotatingFile(Path path, long maxBytes, int keep) throws IOException {
        place = Location.of(path);
        this.maxBytes = maxBytes;
        this.keep = keep;
        file = openToAppend(place, keep);
        try {
            directory = file.isRegular() ? OpenDirectory.keep(place) : null;
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /**
     * Appends to the file at {@code path}, which is rotated before it grows beyond
     * {@code maxBytes}. {@code keep} older files are kept. A pipe of this user or a device, such as
     * {@code /dev/stderr}, takes the lines too, and is not rotated. A file that is there keeps its
     * permissions, unless others may have put it there: in a directory of another user, or one that
     * others may write to, it is rotated if they may read it.
     *
     * @throws IOException if the file can't be opened for appending; if another
     *     {@code RotatingFile} or session writes it; if it is a link, a directory, or belongs to
     *     another user
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
        isClosed = true;
        try {
            file.close();
        } finally {
            if (directory != null) {
                directory.close();
            }
        }
    }

    private void write(byte[] line) {
        if (isClosed) {
            TextOutput.fail();
            return;
        }
        try {
            if (file.isRegular() && !file.isThere()) {
                begin(openToAppend(place, keep));
            }
        } catch (IOException e) {
            // Nobody would see the line.
            problem = e;
            TextOutput.fail();
            return;
        }
        try {
            long size = file.size();
            if (file.isRegular() && size > 0 && size + line.length > maxBytes) {
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
            TextOutput.fail();
        }
    }

    private void append(byte[] bytes) throws IOException {
        if (!file.isRegular()) {
            file.write(bytes, 0, bytes.length);
            return;
        }
        // Its end, also where another program has cut it.
        long end = file.size();
        try {
            file.writeAt(end, bytes, 0, bytes.length);
        } catch (IOException e) {
            isTorn |= file.size() > end;
            throw e;
        }
    }

    /** Renames the file, and begins a new one, which is open before anything is renamed. */
    private void rotate() throws IOException {
        OutputFile next = Outputs.createNew(place.sibling(place.name() + "." + UUID.randomUUID() + ".part"));
        try {
            freeName(file, keep);
            next.rename(place.name());
        } catch (IOException | RuntimeException | Error e) {
            next.removeAndClose();
            throw e;
        }
        begin(next);
    }

    /**
     * Gives the file and older ones other names. Files that an earlier attempt has renamed stay: of
     * the files that were kept, at most the oldest goes, however many attempts there are.
     */
    private static void freeName(OutputFile file, int keep) throws IOException {
        if (keep == 0) {
            file.remove();
            return;
        }
        Location place = file.place();
        int first;
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            TreeMap<Integer, FileStatus> older = older(directory, place, keep);
            if (older.isEmpty()) {
                throw new FileSystemException(older(place, 1), null, "the names of older files belong to other users");
            }
            int to = older.lastKey();
            FileStatus oldest = older.get(to);
            if (oldest != null) {
                directory.remove(older(place, to), oldest.key());
            }
            for (Integer from = older.lowerKey(to); from != null; from = older.lowerKey(from)) {
                directory.renameToFree(older(place, from), older(place, to), older.get(from).key());
                to = from;
            }
            first = to;
        }
        file.moveToFree(older(place, first));
    }

    /**
     * Older files by their numbers, up to the first number that is free. Entries that are no file
     * of this user or of root are left out.
     */
    private static TreeMap<Integer, FileStatus> older(OpenDirectory directory, Location place, int keep) throws IOException {
        TreeMap<Integer, FileStatus> older = new TreeMap<>();
        for (int number = 1; number <= keep; number++) {
            FileStatus found = directory.status(older(place, number));
            if (found == null || found.isRegular() && OutputRules.isTrusted(found.owner())) {
                older.put(number, found);
            }
            if (found == null) {
                break;
            }
        }
        return older;
    }

    /**
     * Opens the file, or creates it. One that others may read is set aside, unless nobody else can
     * have put it there: its author may have it open. So is one on which a reader has a lock.
     */
    private static OutputFile openToAppend(Location place, int keep) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            OutputFile file = Outputs.open(place);
            boolean isKept = false;
            try {
                isKept = !file.isObstructed() && (!file.isPermissive() || isInTrustedDirectory(place));
                if (!isKept) {
                    freeName(file, file.size() == 0 ? 0 : keep);
                }
            } finally {
                if (!isKept) {
                    file.close();
                }
            }
            if (isKept) {
                return file;
            }
        }
        throw new FileSystemException(place.path().toString(), null, "somebody replaces it again and again");
    }

    private static boolean isInTrustedDirectory(Location place) throws IOException {
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            return directory.isTrusted();
        }
    }

    /** Goes on in another file. */
    private void begin(OutputFile next) throws IOException {
        OutputFile before = file;
        file = next;
        isTorn = false;
        before.close();
    }

    private static String older(Location place, int number) {
        return place.name() + "." + number;
    }
}
