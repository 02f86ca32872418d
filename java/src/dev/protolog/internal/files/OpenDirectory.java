package dev.protolog.internal.files;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A directory that is open. Files are looked at, opened, renamed and removed in it by their names,
 * wherever its path leads by then.
 *
 * <p>A {@link SecureDirectoryStream} keeps it open. That opens files by channels which interrupts
 * close, says neither the owner's number nor the number of links of a file, and has no sockets. So
 * all goes by {@code /proc/self/fd/NUMBER/NAME}: the kernel's link leads to the open directory
 * itself.
 *
 * <p>Invariants: names are single components, and no link at a name is followed. Nothing here waits
 * for another process. Errors name the path that the program knows.
 */
public final class OpenDirectory implements Closeable {
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    /** Permissions of the group and of others to write; the sticky bit. */
    private static final int OTHERS_WRITE = 022;
    private static final int STICKY = 01000;
    /** The attempts to find the descriptor while others open the same directory. */
    private static final int ATTEMPTS = 100;
    /** The descriptors of a stream. */
    private static final int OWN = 2;
    /**
     * Held while a descriptor is looked for: then no other one of this runtime is read for the
     * first time.
     */
    private static final Object OPENING = new Object();
    /** The directories that outputs keep open. Guarded by itself. */
    private static final List<Kept> KEPT = new ArrayList<>();

    /** The path for people. */
    private final Path path;
    /** Keeps the directory open; null of one that can't be read. */
    private final DirectoryStream<Path> stream;
    /** A path that leads to it. */
    private final Path here;
    /** That of others, too; null of one that nobody else uses. */
    private Kept kept;
    private boolean isClosed;

    private OpenDirectory(Path path, DirectoryStream<Path> stream, Path here) {
        this.path = path;
        this.stream = stream;
        this.here = here;
    }

    /** A directory that stays open until the last one closes it. */
    private static final class Kept {
        private final DirectoryStream<Path> stream;
        private final Path here;
        private final Path real;
        private int users = 1;

        private Kept(DirectoryStream<Path> stream, Path here, Path real) {
            this.stream = stream;
            this.here = here;
            this.real = real;
        }
    }

    /** Opens the directory that a path leads to, of any kind. */
    public static OpenDirectory open(Path path) throws IOException {
        return open(path, path);
    }

    /**
     * Opens the directory of a place for as long as an output acts there: another open meanwhile
     * gets this one, if the path still leads to it. To find the descriptor of another one takes a
     * look at all that the process has, which may be thousands.
     */
    public static OpenDirectory keep(Location place) throws IOException {
        OpenDirectory opened = of(place);
        synchronized (KEPT) {
            if (opened.stream != null && opened.kept == null) {
                opened.kept = new Kept(opened.stream, opened.here, place.real().getParent());
                KEPT.add(opened.kept);
            }
        }
        return opened;
    }

    /** One that is kept, if it is still that of the place; null for none. */
    private static OpenDirectory ofKept(Location place) throws IOException {
        OpenDirectory found = null;
        synchronized (KEPT) {
            for (int i = 0; i < KEPT.size() && found == null; i++) {
                Kept each = KEPT.get(i);
                if (each.real.equals(place.real().getParent())) {
                    found = new OpenDirectory(place.path().getParent(), each.stream, each.here);
                    found.kept = each;
                    each.users++;
                }
            }
        }
        if (found == null) {
            return null;
        }
        boolean isOf = false;
        try {
            // Also where another file system was mounted at its path: then the directory there is
            // to be looked at.
            Object there = FileStatus.behind(place.real().getParent()).key();
            isOf = there.equals(FileStatus.behind(found.here).key()) && found.isOf(place);
        } catch (IOException e) {
            // It is to be opened, and that error says what is wrong.
        } finally {
            if (!isOf) {
                found.close();
            }
        }
        return isOf ? found : null;
    }

    /**
     * True if the path of a place still leads to this directory, and nobody else can have put it
     * there meanwhile.
     */
    private boolean isOf(Location place) throws IOException {
        Path real = place.real().getParent();
        boolean isSame = FileStatus.behind(here).key().equals(place.directory());
        return Files.readSymbolicLink(here).equals(real) && (isSame || isFixed(real));
    }

    /**
     * Opens the directory of a place.
     *
     * @throws NoSuchFileException if its path leads to no directory any more, by way of a link, or
     * to another one that somebody else may have put there
     */
    public static OpenDirectory of(Location place) throws IOException {
        OpenDirectory known = ofKept(place);
        if (known != null) {
            return known;
        }
        Path real = place.real().getParent();
        Path shown = place.path().getParent();
        OpenDirectory opened;
        try {
            opened = open(real, shown);
        } catch (AccessDeniedException e) {
            // It can be written perhaps, but not read, which has to be to keep it open.
            if (!isFixed(real)) {
                throw new FileSystemException(place.path().toString(), null, "its directory can't be read, and others can put another one in its place");
            }
            return new OpenDirectory(shown, null, real);
        } catch (NoSuchFileException | NotDirectoryException e) {
            throw new NoSuchFileException(place.path().toString(), null, "its directory does not exist");
        }
        boolean isKept = false;
        try {
            isKept = opened.isOf(place);
        } finally {
            if (!isKept) {
                opened.close();
            }
        }
        if (!isKept) {
            throw new NoSuchFileException(place.path().toString(), null, "somebody has put another directory in the place of its directory");
        }
        return opened;
    }

    private static OpenDirectory open(Path path, Path shown) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            // With this name at its end a pipe is an error, instead of being waited for.
            DirectoryStream<Path> stream = Files.newDirectoryStream(path.resolve("."));
            int descriptor = -1;
            try {
                descriptor = descriptor(stream);
            } finally {
                if (descriptor < 0) {
                    stream.close();
                }
            }
            if (descriptor >= 0) {
                return new OpenDirectory(shown, stream, OpenFiles.path(descriptor));
            }
        }
        throw new FileSystemException(shown.toString(), null, "other threads open the directory again and again");
    }

    /** A path that leads to {@code name} in it. */
    public Path at(String name) throws IOException {
        if (name.isEmpty() || name.contains("/") || name.equals(".") || name.equals("..")) {
            throw new FileSystemException(name, null, "it is no name");
        }
        return here.resolve(name);
    }

    /** A path that leads to the directory itself. */
    Path here() {
        return here;
    }

    /** Describes the entry of this name, a link as itself; null for none. */
    public FileStatus status(String name) throws IOException {
        return FileStatus.at(at(name));
    }

    /** True if the name is that of the file with this key. */
    public boolean has(String name, Object key) throws IOException {
        FileStatus there = status(name);
        return there != null && there.key().equals(key);
    }

    /** The names in it that match. */
    public List<String> names(String glob) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(here, glob)) {
            all.forEach(each -> names.add(each.getFileName().toString()));
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return names;
    }

    /**
     * Opens a file for reading, too, so that no pipe waits for a reader, as the kind of channel
     * that interrupts don't close.
     */
    AsynchronousFileChannel channel(String name, OpenOption... more) throws IOException {
        Set<OpenOption> options = new HashSet<>(Set.of(more));
        options.addAll(Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        try {
            return AsynchronousFileChannel.open(at(name), options, null, PRIVATE);
        } catch (FileSystemException e) {
            throw named(name, e);
        }
    }

    /**
     * Opens the regular file with this key for reading. Where others may put a pipe in its place at
     * any time, nothing is waited for either.
     *
     * @throws NoSuchFileException if the name is another one's by now
     */
    public InputStream reader(String name, Object key) throws IOException {
        if (isTrusted()) {
            try {
                return Files.newInputStream(at(name), LinkOption.NOFOLLOW_LINKS);
            } catch (FileSystemException e) {
                throw named(name, e);
            }
        }
        try (AsynchronousFileChannel opened = openedWithoutWaiting(name)) {
            int descriptor = opened.isOpen() ? OpenFiles.anyWithKey(key) : -1;
            if (descriptor < 0) {
                throw new NoSuchFileException(path.resolve(name).toString());
            }
            return Files.newInputStream(OpenFiles.path(descriptor));
        }
    }

    /**
     * For writing, too, no pipe waits. A file that this user may only read is opened by a thread
     * that may be left behind.
     */
    private AsynchronousFileChannel openedWithoutWaiting(String name) throws IOException {
        try {
            return channel(name);
        } catch (AccessDeniedException e) {
            Path file = at(name);
            try {
                return PatientOpening.open(path.resolve(name), () -> AsynchronousFileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS), null));
            } catch (FileSystemException error) {
                throw named(name, error);
            }
        }
    }

    /**
     * True if nobody but this user and root can have put the entry there, as far as the
     * directory itself tells.
     */
    public boolean isTrusted() throws IOException {
        FileStatus found = FileStatus.behind(here);
        return OutputRules.isTrusted(found.owner()) && isClosed(found.mode());
    }

    /** Takes permissions away, of a file in a {@linkplain #isTrusted trusted} directory. */
    public void restrict(String name, int mode) throws IOException {
        try {
            Files.setAttribute(at(name), "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
        } catch (FileSystemException e) {
            throw named(name, e);
        }
    }

    /**
     * Gives the file with this key another name, which must be free. Its old one goes last: a
     * process that is killed in between leaves both.
     *
     * @throws FileAlreadyExistsException if the name is taken
     */
    public void renameToFree(String from, String to, Object key) throws IOException {
        try {
            Files.createLink(at(to), at(from));
        } catch (FileAlreadyExistsException e) {
            // Its own, if an attempt was interrupted by an error of the JVM.
            if (!has(to, key)) {
                throw named(to, e);
            }
        } catch (IOException | UnsupportedOperationException e) {
            // The file system has no links.
            if (status(to) != null) {
                throw new FileAlreadyExistsException(path.resolve(to).toString());
            }
            rename(from, to);
            return;
        }
        if (!has(to, key)) {
            // Another one had the name by then.
            FileStatus linked = status(to);
            if (linked != null) {
                remove(to, linked.key());
            }
            throw new NoSuchFileException(path.resolve(from).toString());
        }
        remove(from, key);
    }

    /** Gives an entry another name, which may replace an entry. */
    void rename(String from, String to) throws IOException {
        try {
            Files.move(at(from), at(to), StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            throw named(from, e);
        }
    }

    /** Removes the entry looked at. Nothing is done if the name is another one's by now. */
    public void remove(String name, Object key) throws IOException {
        try {
            if (has(name, key)) {
                Files.deleteIfExists(at(name));
            }
        } catch (FileSystemException e) {
            throw named(name, e);
        }
    }

    /** Closes it. It may be closed again. */
    @Override
    public void close() throws IOException {
        boolean isLast = stream != null;
        synchronized (KEPT) {
            if (isClosed) {
                return;
            }
            isClosed = true;
            if (kept != null && --kept.users > 0) {
                isLast = false;
            } else if (kept != null) {
                KEPT.remove(kept);
            }
        }
        if (isLast) {
            stream.close();
        }
    }

    /** The error with the path that the program knows. */
    private FileSystemException named(String name, FileSystemException error) {
        String file = path.resolve(name).toString();
        String reason = error.getReason();
        return error instanceof FileAlreadyExistsException ? new FileAlreadyExistsException(file, null, reason)
                : error instanceof AccessDeniedException ? new AccessDeniedException(file, null, reason)
                : error instanceof NoSuchFileException ? new NoSuchFileException(file, null, reason)
                : new FileSystemException(file, null, reason);
    }

    /**
     * The descriptor of a stream that was not read yet; -1 if it can't be told from others of the
     * same directory. The two of the stream are those that stood at the beginning and no longer do
     * once it is read.
     */
    private static int descriptor(DirectoryStream<Path> stream) throws IOException {
        Object key = keyOf(stream);
        synchronized (OPENING) {
            List<Integer> unread = OpenFiles.withKey(key);
            unread.removeIf(each -> OpenFiles.position(each) > 0);
            try {
                stream.iterator().hasNext();
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
            unread.retainAll(OpenFiles.withKey(key));
            List<Integer> read = new ArrayList<>(unread);
            read.removeIf(each -> OpenFiles.position(each) == 0);
            // Some kernels and file systems don't say where a descriptor stands.
            List<Integer> found = read.isEmpty() ? unread : read;
            return found.isEmpty() || found.size() > OWN ? -1 : found.get(0);
        }
    }

    /** Device and inode of an open directory. */
    private static Object keyOf(DirectoryStream<Path> open) throws IOException {
        if (open instanceof SecureDirectoryStream<Path> secure) {
            return secure.getFileAttributeView(BasicFileAttributeView.class).readAttributes().fileKey();
        }
        throw new IOException("the system keeps no directory open by its descriptor");
    }

    /**
     * True if others can't write to a directory of this mode, or can't rename entries there that
     * are not theirs.
     */
    private static boolean isClosed(int mode) {
        return (mode & OTHERS_WRITE) == 0 || (mode & STICKY) != 0;
    }

    /** True if nobody but this user and root can put something else in the place of a directory. */
    private static boolean isFixed(Path directory) throws IOException {
        for (Path at = directory; at.getParent() != null; at = at.getParent()) {
            FileStatus found = FileStatus.at(at);
            int around = FileStatus.behind(at.getParent()).mode();
            if (found == null || !found.isDirectory() || !OutputRules.isTrusted(found.owner()) || !isClosed(around)) {
                return false;
            }
        }
        return OutputRules.isTrusted(FileStatus.behind(directory.getRoot()).owner());
    }
}
