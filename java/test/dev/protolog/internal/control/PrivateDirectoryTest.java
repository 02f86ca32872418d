package dev.protolog.internal.control;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.PrivateDirectory;
import dev.protolog.internal.files.RuntimeDirectories;
import dev.protolog.internal.files.TrustedUsers;
import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.stream.Stream;

/** Directories that are private, and what is done in one whose path leads elsewhere by then. */
public final class PrivateDirectoryTest {
    private static final int OTHER_USER = 65534;

    private final Path root;
    private final Path run;

    private PrivateDirectoryTest(Path root) {
        this.root = root;
        run = root.resolve("run");
    }

    public static void run() throws IOException {
        Path root = Files.createTempDirectory("protolog-private");
        try {
            PrivateDirectoryTest test = new PrivateDirectoryTest(root);
            test.onlyPrivateOnesAreOpened();
            test.linksOfOthersLeadToNone();
            test.noStartWaitsForAnyNumber();
            test.anOpenDirectoryStaysTheSame();
            test.onlyRootIsAdmittedBesides();
        } finally {
            try (Stream<Path> files = Files.walk(root)) {
                files.sorted((one, other) -> other.compareTo(one))
                        .forEach(path -> path.toFile().delete());
            }
        }
    }

    private void onlyPrivateOnesAreOpened() throws IOException {
        check("a missing directory", error(() -> PrivateDirectory.open(run)),
                NoSuchFileException.class);
        check("a new directory", isOpened(PrivateDirectory.make(run)), true);
        check("the same again", isOpened(PrivateDirectory.make(run)), true);
        check("its mode", PosixFilePermissions.toString(Files.getPosixFilePermissions(run)),
                "rwx------");
        for (Object[] row : new Object[][] {
            {0700, 0755, true},
            {0700, 01777, true},
            {0700, 0777, false},
            {0700, 0775, false},
            {0750, 0755, false},
            {0701, 0755, false}}) {
            Files.setAttribute(run, "unix:mode", row[0]);
            Files.setAttribute(root, "unix:mode", row[1]);
            String what = String.format("mode %o in %o", row[0], row[1]);
            check(what, isOpened(PrivateDirectory.open(run)), row[2]);
        }
        Files.setAttribute(run, "unix:mode", 0700);
        Files.setAttribute(root, "unix:mode", 0755);
        if (RunningProgram.user() == 0) {
            Files.setAttribute(run, "unix:uid", OTHER_USER);
            check("another user's", isOpened(PrivateDirectory.open(run)), false);
            Files.setAttribute(run, "unix:uid", 0);
        }
        Path link = Files.createSymbolicLink(root.resolve("link"), run);
        check("a link", isOpened(PrivateDirectory.open(link)), false);
        Path file = Files.createFile(root.resolve("file"));
        check("a file", isOpened(PrivateDirectory.open(file)), false);
    }

    private void linksOfOthersLeadToNone() throws IOException {
        Path open = Files.createDirectory(root.resolve("open"));
        Files.setAttribute(open, "unix:mode", 0777);
        check("where anybody could replace it", isOpened(PrivateDirectory.make(open.resolve("run"))), false);
        check("nothing is made there", Files.exists(open.resolve("run")), false);
        Path home = Files.createDirectory(root.resolve("home"));
        Path link = Files.createSymbolicLink(root.resolve("way"), home);
        check("by a link of this user's", isOpened(PrivateDirectory.make(link.resolve("run"))), true);
        Files.delete(home.resolve("run"));
        if (RunningProgram.user() == 0) {
            Files.setAttribute(link, "unix:uid", OTHER_USER, LinkOption.NOFOLLOW_LINKS);
            check("by one of another user's", isOpened(PrivateDirectory.make(link.resolve("run"))), false);
            check("nothing is made behind it", Files.exists(home.resolve("run")), false);
            check("one that is there", isOpened(PrivateDirectory.make(home.resolve("run"))), true);
            check("by the link", isOpened(PrivateDirectory.open(link.resolve("run"))), false);
        }
    }

    private void noStartWaitsForAnyNumber() throws IOException {
        int most = 16_384;
        Stream<Path> others = Stream.iterate(0, i -> i + 1).map(i -> {
            check("no more are looked at", i <= most, true);
            return root.resolve("protolog-" + i);
        });
        check("none is this user's", isOpened(RuntimeDirectories.known(others::iterator)), false);
        Stream<Path> some = Stream.of(root.resolve("no"), run);
        check("one is", isOpened(RuntimeDirectories.known(some::iterator)), true);
    }

    private void anOpenDirectoryStaysTheSame() throws IOException {
        Path other = Files.createDirectory(root.resolve("other"));
        Path moved = root.resolve("moved");
        for (Path directory : List.of(run, other)) {
            Files.writeString(directory.resolve("a.switches"), directory.toString());
        }
        try (PrivateDirectory directory = PrivateDirectory.open(run)) {
            Files.move(run, moved);
            Files.createSymbolicLink(run, other);
            check("its path", directory.path(), run);
            check("its names", directory.names(".switches"), List.of("a.switches"));
            check("a file", Files.readString(directory.at("a.switches")), run.toString());
            FileStatus lookedAt = FileStatus.at(directory.at("a.switches"));
            directory.rename("a.switches", "b");
            directory.remove("a.switches", lookedAt);
            Files.writeString(moved.resolve("c"), "another");
            directory.remove("c", lookedAt);
            check("another file", Files.exists(moved.resolve("c")), true);
            directory.remove("b", lookedAt);
            check("the file", Files.exists(moved.resolve("b")), false);
            for (String name : List.of("", ".", "..", "../other/a.switches", "/dev/null")) {
                check("`" + name + "`", error(() -> directory.at(name)), FileSystemException.class);
            }
        }
        check("elsewhere", Files.readString(other.resolve("a.switches")), other.toString());
    }

    /**
     * Whose {@code /} it is does not matter, as in a directory of another user that {@code chroot}
     * makes the root.
     */
    private void onlyRootIsAdmittedBesides() throws IOException {
        UserPrincipal own = Files.getOwner(root);
        Path theirs = Files.createFile(root.resolve("theirs"));
        try {
            Files.setAttribute(theirs, "unix:uid", OTHER_USER);
        } catch (IOException e) {
            // Only root can give it away.
            return;
        }
        check("no root", TrustedUsers.among(own, List.of(theirs)), List.of(own));
        Path roots = Path.of("/proc");
        check("root", TrustedUsers.among(own, List.of(theirs, roots)), List.of(own, Files.getOwner(roots)));
    }

    private interface Attempt {
        Object run() throws IOException;
    }

    /** The class of the error. */
    private static Object error(Attempt attempt) {
        try {
            return "none: " + attempt.run();
        } catch (IOException e) {
            return e.getClass();
        }
    }

    private static boolean isOpened(PrivateDirectory directory) throws IOException {
        if (directory != null) {
            directory.close();
        }
        return directory != null;
    }
}
