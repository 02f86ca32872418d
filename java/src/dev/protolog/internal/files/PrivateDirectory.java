package dev.protolog.internal.files;

import dev.protolog.internal.process.RunningProgram;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A directory that only this user can enter or put another one in the place of, by the rules of
 * {@code protolog-files/src/private.rs}. It is opened once, checked, and stays open.
 *
 * <p>Invariants: the open directory was checked, not its path. Names are single components,
 * and no link at a name is followed, nor one on the way that another user could have made to lead
 * elsewhere ({@link OutputRules}). None is made where it would not be private.
 */
public final class PrivateDirectory implements Closeable {
    private static final FileAttribute<?> MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    /** Permissions of the group and of others; those to write; the sticky bit. */
    private static final int OTHERS = 077;
    private static final int OTHERS_WRITE = 022;
    private static final int STICKY = 01000;

    private final Path path;
    private final OpenDirectory open;

    private PrivateDirectory(Path path, OpenDirectory open) {
        this.path = path;
        this.open = open;
    }

    /** Opens the directory, and makes it if it is missing; null if it is not private. */
    public static PrivateDirectory make(Path path) throws IOException {
        Path real = withoutLinks(path);
        if (real == null || !isSafeAround(FileStatus.behind(real.getParent()))) {
            return null;
        }
        try {
            Files.createDirectory(real, MODE);
        } catch (FileAlreadyExistsException e) {
            // It is looked at below.
        }
        return openReal(path, real);
    }

    /**
     * Opens the directory; null if it is not private, or a link, or no directory, or by way of a
     * link of another user's.
     */
    public static PrivateDirectory open(Path path) throws IOException {
        Path real = withoutLinks(path);
        return real == null ? null : openReal(path, real);
    }

    /** The path without links on the way; null if another user could have led it elsewhere. */
    private static Path withoutLinks(Path path) throws IOException {
        try {
            return OutputRules.withoutLinks(path);
        } catch (OutputRules.LinkOnTheWay e) {
            return null;
        }
    }

    private static PrivateDirectory openReal(Path path, Path real) throws IOException {
        FileStatus found = FileStatus.at(real);
        if (found == null) {
            throw new NoSuchFileException(path.toString());
        } else if (!found.isDirectory() || !isClosed(found)) {
            // That of another user can't be opened, which says less.
            return null;
        }
        OpenDirectory open = OpenDirectory.open(real);
        PrivateDirectory directory = null;
        try {
            // Links were followed, so it may be another one than was looked at.
            if (found.key().equals(FileStatus.behind(open.here()).key())) {
                PrivateDirectory opened = new PrivateDirectory(path, open);
                directory = opened.isPrivate() ? opened : null;
            }
            return directory;
        } finally {
            if (directory == null) {
                open.close();
            }
        }
    }

    /** The path that it was opened at, which may lead elsewhere by now. */
    public Path path() {
        return path;
    }

    /** A path that leads to {@code name} in it. */
    public Path at(String name) throws IOException {
        return open.at(name);
    }

    /** A path that leads to the directory itself. */
    public Path here() {
        return open.here();
    }

    /** The names in it with this end. */
    public List<String> names(String end) throws IOException {
        return open.names("*" + end);
    }

    /** Gives an entry another name, which may replace an entry. */
    public void rename(String from, String to) throws IOException {
        open.rename(from, to);
    }

    /** Removes the entry looked at. Nothing is done if the name is another one's by now. */
    public void remove(String name, FileStatus lookedAt) throws IOException {
        if (lookedAt != null) {
            open.remove(name, lookedAt.key());
        }
    }

    @Override
    public void close() throws IOException {
        open.close();
    }

    private boolean isPrivate() throws IOException {
        return isClosed(FileStatus.behind(here())) && isSafeAround(FileStatus.behind(here().resolve("..")));
    }

    /** True if a directory is this user's, and nobody else can enter it. */
    private static boolean isClosed(FileStatus directory) throws IOException {
        return directory.owner() == RunningProgram.user() && (directory.mode() & OTHERS) == 0;
    }

    /**
     * True if nobody else can put a directory in the place of one of this user's that is in this
     * one.
     */
    private static boolean isSafeAround(FileStatus around) throws IOException {
        boolean isSafe = (around.mode() & OTHERS_WRITE) == 0 || (around.mode() & STICKY) != 0;
        return isSafe && OutputRules.isTrusted(around.owner());
    }
}
