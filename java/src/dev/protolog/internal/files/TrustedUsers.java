package dev.protolog.internal.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;

/** The users to whom a process listens, and whom it tells what it logs: its own, and root. */
public final class TrustedUsers {
    private static final Path SELF = Path.of("/proc/self");
    /** Directories that root owns as a rule. */
    private static final List<Path> ROOTS = List.of(Path.of("/"), Path.of("/proc"));

    private TrustedUsers() {}

    public static List<UserPrincipal> find() throws IOException {
        return with(Files.getOwner(SELF));
    }

    /** Those of a process of the user {@code own}. */
    public static List<UserPrincipal> with(UserPrincipal own) throws IOException {
        return among(own, ROOTS);
    }

    /**
     * This user and root, the owner of the first of these files that is root's: {@code /} may be
     * another user's, as in a {@code chroot}. A principal of the file system is equal to another
     * one with the same id, and Java says of no other which id it has.
     */
    public static List<UserPrincipal> among(UserPrincipal own, List<Path> files) throws IOException {
        for (Path file : files) {
            if (FileStatus.behind(file).owner() == 0) {
                return List.of(own, Files.getOwner(file));
            }
        }
        return List.of(own);
    }
}
