package dev.protolog.internal.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/**
 * The kernel's description of a file (its {@code stat}): identity, kind and owner.
 *
 * @param key device and inode, which tell a file from all others
 * @param mode kind and permissions
 * @param owner the id of the user that owns the file
 * @param links the number of its names
 */
public record FileStatus(Object key, int mode, int owner, int links) {
    private static final int KIND = 0170000;
    private static final int PIPE = 0010000;
    private static final int DEVICE = 0020000;
    private static final int DIRECTORY = 0040000;
    private static final int REGULAR = 0100000;
    private static final int LINK = 0120000;
    private static final int SOCKET = 0140000;

    /** Describes the entry at {@code path}, a link as itself; null where nothing is. */
    public static FileStatus at(Path path) throws IOException {
        try {
            return read(path, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Describes the file that a path leads to. */
    public static FileStatus behind(Path path) throws IOException {
        return read(path);
    }

    public boolean isRegular() {
        return (mode & KIND) == REGULAR;
    }

    boolean isLink() {
        return (mode & KIND) == LINK;
    }

    public boolean isSocket() {
        return (mode & KIND) == SOCKET;
    }

    boolean isPipe() {
        return (mode & KIND) == PIPE;
    }

    /** True for a character device, such as a terminal. */
    public boolean isDevice() {
        return (mode & KIND) == DEVICE;
    }

    boolean isDirectory() {
        return (mode & KIND) == DIRECTORY;
    }

    private static FileStatus read(Path path, LinkOption... options) throws IOException {
        Map<String, Object> found =
                Files.readAttributes(path, "unix:fileKey,mode,uid,nlink", options);
        return new FileStatus(found.get("fileKey"), (Integer) found.get("mode"),
                (Integer) found.get("uid"), (Integer) found.get("nlink"));
    }
}
