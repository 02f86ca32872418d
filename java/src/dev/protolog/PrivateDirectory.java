package dev.protolog;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * A directory that only this user can enter or put another one in the place of, by the rules of
 * {@code protolog-files/src/private.rs}. It is opened once, checked, and stays open.
 *
 * <p>Java has no calls that make, look at and connect to sockets by the descriptor of a directory,
 * and a {@link SecureDirectoryStream} neither says its descriptor nor the mode, owner and links of
 * a file. So everything goes by {@code /proc/self/fd/NUMBER/NAME}: the stream keeps the directory
 * open, and the kernel's link to it leads there, whatever its path leads to by then.
 *
 * <p>Invariants: what was checked is the open directory, not its path. Names are single components,
 * and no link at a name is followed.
 */
final class PrivateDirectory implements Closeable {
    private static final FileAttribute<?> MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    /** Permissions of the group and of others; those to write; the sticky bit. */
    private static final int OTHERS = 077;
    private static final int OTHERS_WRITE = 022;
    private static final int STICKY = 01000;

    private final Path path;
    /** Keeps the directory open. */
    private final DirectoryStream<Path> open;
    private final Object key;

    private PrivateDirectory(Path path, DirectoryStream<Path> open, Object key) {
        this.path = path;
        this.open = open;
        this.key = key;
    }

    /** Opens the directory, and makes it if it is missing; null if it is not private. */
    static PrivateDirectory make(Path path) throws IOException {
        try {
            Files.createDirectory(path, MODE);
        } catch (FileAlreadyExistsException e) {
            // It is looked at below.
        }
        return open(path);
    }

    /** Opens the directory; null if it is not private, or a link, or no directory. */
    static PrivateDirectory open(Path path) throws IOException {
        FileStatus found = FileStatus.at(path);
        if (found == null) {
            throw new NoSuchFileException(path.toString());
        } else if (!found.isDirectory()) {
            return null;
        }
        DirectoryStream<Path> open = Files.newDirectoryStream(path);
        PrivateDirectory directory = null;
        try {
            // Links were followed, so it may be another one than was looked at.
            if (found.key().equals(keyOf(open))) {
                PrivateDirectory opened = new PrivateDirectory(path, open, found.key());
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
    Path path() {
        return path;
    }

    /** A path that leads to {@code name} in it. */
    Path at(String name) throws IOException {
        if (name.isEmpty() || name.contains("/") || name.equals(".") || name.equals("..")) {
            throw new FileSystemException(name, null, "it is no name");
        }
        return here().resolve(name);
    }

    /** A path that leads to the directory itself. */
    Path here() throws IOException {
        return OpenFiles.directory(key);
    }

    /** The names in it with this end. */
    List<String> names(String end) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(here(), "*" + end)) {
            all.forEach(each -> names.add(each.getFileName().toString()));
        }
        return names;
    }

    /** Gives an entry another name, which may replace an entry. */
    void rename(String from, String to) throws IOException {
        Files.move(at(from), at(to), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Removes what was looked at. Nothing is done if the name is another one's by now. */
    void remove(String name, FileStatus lookedAt) throws IOException {
        Path there = at(name);
        FileStatus now = FileStatus.at(there);
        if (lookedAt != null && now != null && now.key().equals(lookedAt.key())) {
            Files.deleteIfExists(there);
        }
    }

    @Override
    public void close() throws IOException {
        open.close();
    }

    private boolean isPrivate() throws IOException {
        FileStatus own = FileStatus.behind(here());
        FileStatus parent = FileStatus.behind(here().resolve(".."));
        int user = RunningProgram.user();
        boolean isParentSafe = (parent.mode() & OTHERS_WRITE) == 0 || (parent.mode() & STICKY) != 0;
        return own.owner() == user && (own.mode() & OTHERS) == 0
                && isParentSafe && (parent.owner() == user || parent.owner() == 0);
    }

    /** Device and inode of an open directory. */
    private static Object keyOf(DirectoryStream<Path> open) throws IOException {
        if (open instanceof SecureDirectoryStream<Path> secure) {
            return secure.getFileAttributeView(BasicFileAttributeView.class)
                    .readAttributes().fileKey();
        }
        throw new IOException("the system keeps no directory open by its descriptor");
    }
}
