package dev.protolog.internal.files;

import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rules on the files that may be written:
 *
 * <ul>
 *   <li>A missing file is created, for its owner only.
 *   <li>An existing file is a regular one of this user or of root, and has one name unless it is to
 *       be replaced. Its contents stay until the caller changes them.
 *   <li>A pipe or character device of this user or of root is written as it is. A pipe has a
 *       reader, or gets one within a moment.
 *   <li>{@code /dev/stdout}, {@code /dev/stderr}, {@code /dev/fd/N} and {@code /proc/self/fd/N} are
 *       the descriptors that the process was given.
 *   <li>All else is refused: links, directories, sockets, block devices, files of others.
 *   <li>A directory on the way may be a link of this user, of root, of the owner of the directory
 *       that it leads to, or, unless this user is root, of the owner of the directory that has it.
 * </ul>
 */
public final class OutputRules {
    private static final Pattern DESCRIPTOR =
            Pattern.compile("/(?:dev|proc/self)/fd/([0-9]{1,9})");
    private static final int ROOT = 0;
    /** The kernel's own limit of links on the way. */
    private static final int MAX_LINKS = 40;

    private OutputRules() {}

    /** A link on the way is one that another user could have made to lead elsewhere. */
    static final class LinkOnTheWay extends FileSystemException {
        private static final long serialVersionUID = 1;

        private LinkOnTheWay(Path path, String why) {
            super(path.toString(), null, why);
        }
    }

    /**
     * An error if the entry found in {@code directory}, or opened there, is not to be written;
     * {@code isReplaced}: a regular file is not changed.
     */
    static void check(Location place, OpenDirectory directory, FileStatus found, boolean isReplaced) throws IOException {
        Path path = place.path();
        if (found.isLink()) {
            String target = printable(Files.readSymbolicLink(directory.at(place.name())));
            throw refused(path, "it is a link to `" + target + "`; name `" + target + "` itself");
        } else if (found.isDirectory()) {
            throw refused(path, "it is a directory; name a file in it");
        } else if (!found.isRegular() && !found.isPipe() && !found.isDevice()) {
            throw refused(path, "it is no file, pipe or character device");
        } else if (!isTrusted(found.owner())) {
            throw refused(path, "it belongs to another user");
        } else if (found.isRegular() && found.links() > 1 && !isReplaced) {
            throw refused(path, "it has " + found.links() + " names (hard links); replace it by a copy");
        }
    }

    /** An error if the entry found in {@code directory} is no regular file that may be replaced. */
    static void checkToReplace(Location place, OpenDirectory directory, FileStatus found) throws IOException {
        check(place, directory, found, true);
        if (!found.isRegular()) {
            throw refused(place.path(), "it is no regular file");
        }
    }

    /**
     * An error if the entry found in {@code directory} is no file of this user or of root, in a
     * directory of theirs: nobody else can put anything there.
     */
    public static void checkToRead(Location place, OpenDirectory directory, FileStatus found) throws IOException {
        Path path = place.path();
        if (found.isLink()) {
            throw refused(path, "it is a link to `" + printable(Files.readSymbolicLink(directory.at(place.name()))) + "`");
        } else if (!found.isRegular()) {
            throw refused(path, "it is no file");
        } else if (!isTrusted(found.owner())) {
            throw refused(path, "it belongs to another user");
        } else if (!isTrusted(FileStatus.behind(directory.here()).owner())) {
            throw refused(path, "its directory belongs to another user");
        }
    }

    /** The descriptor of this process that a path stands for; -1 for none. */
    public static int descriptor(Path path) {
        String name = path.toString();
        Matcher numbered = DESCRIPTOR.matcher(name);
        return name.equals("/dev/stdout") ? 1 : name.equals("/dev/stderr") ? 2
                : numbered.matches() ? Integer.parseInt(numbered.group(1)) : -1;
    }

    /** The path of a file without links on the way. An error if one is not to be followed. */
    static Path withoutLinks(Path path) throws IOException {
        Path name = path.getFileName();
        if (name == null || name.toString().equals(".") || name.toString().equals("..")) {
            throw refused(path, "it is a directory; name a file in it");
        }
        try {
            return resolve(path, path.getParent(), new int[1]).resolve(name);
        } catch (NoSuchFileException e) {
            throw new NoSuchFileException(path.toString(), null, "its directory does not exist");
        }
    }

    /**
     * The directory that an absolute path leads to. {@code links} counts the links that were
     * followed.
     */
    private static Path resolve(Path file, Path directory, int[] links) throws IOException {
        Path at = directory.getRoot();
        for (Path component : directory) {
            String name = component.toString();
            if (name.equals("..")) {
                at = at.getParent() == null ? at : at.getParent();
            } else if (!name.equals(".")) {
                at = step(file, at, at.resolve(component), links);
            }
        }
        return at;
    }

    private static Path step(Path file, Path from, Path next, int[] links) throws IOException {
        FileStatus found = FileStatus.at(next);
        if (found == null) {
            throw new NoSuchFileException(next.toString());
        } else if (!found.isLink()) {
            return next;
        } else if (++links[0] > MAX_LINKS) {
            throw refused(file, "there are too many links on the way to it");
        }
        // Those of the kernel, such as `/proc/self/cwd`, lead elsewhere than they say.
        Path target = Files.readSymbolicLink(next);
        Path leads = next.startsWith("/proc") ? next.toRealPath() : resolve(file, from.resolve(target), links);
        boolean isFollowed = isTrusted(found.owner())
                || FileStatus.behind(leads).owner() == found.owner()
                || RunningProgram.user() != ROOT && FileStatus.behind(from).owner() == found.owner();
        if (!isFollowed) {
            throw new LinkOnTheWay(file, "`" + next + "`, on the way to it, is a link to `" + printable(target) + "`");
        }
        return leads;
    }

    /** True of users with this one's rights: root, and this user. */
    public static boolean isTrusted(int owner) throws IOException {
        return owner == ROOT || owner == RunningProgram.user();
    }

    private static FileSystemException refused(Path path, String why) {
        return new FileSystemException(path.toString(), null, why);
    }

    /** The text of a link, which another user may have chosen, without control characters. */
    private static String printable(Path link) {
        StringBuilder shown = new StringBuilder();
        link.toString().codePoints().forEach(each -> {
            boolean isPlain = !Character.isISOControl(each) && Character.getType(each) != Character.FORMAT && each != 0x2028 && each != 0x2029;
            if (isPlain) {
                shown.appendCodePoint(each);
            } else {
                shown.append("\\u{").append(Integer.toHexString(each)).append('}');
            }
        });
        return shown.toString();
    }
}
