package dev.protolog;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Map;

/**
 * The directory of the program's socket, by the rules of {@code protolog-rt/src/control/place.rs}: {@code $PROTOLOG_RUNTIME_DIR}, or else
 * {@code $XDG_RUNTIME_DIR/protolog} or {@code /run/protolog/UID}, or else a directory of its own in {@code /tmp}.
 *
 * <p>Beside the socket {@code PID-TIME.sock} is the file {@code PID-TIME.switches}, made after it and removed with it. What a program left
 * that was killed is removed by the next one that starts there.
 *
 * <p>Invariant: no socket is made in a directory that another user owns, can enter or can replace.
 */
final class SocketPlace {
    static final String SOCKET_SUFFIX = ".sock";
    static final String SWITCHES_SUFFIX = ".switches";

    private static final FileAttribute<?> PRIVATE_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final Path SERVICES = Path.of("/run/protolog");
    private static final Path FALLBACKS = Path.of("/tmp");
    /** The most files of other programs that are looked at. */
    private static final int MAX_LEFT = 64;

    private final Path directory;
    /** The reason why it is not the first one; null for none. */
    private final InitException displaced;

    private SocketPlace(Path directory, InitException displaced) {
        this.directory = directory;
        this.displaced = displaced;
    }

    /** The place of the socket. {@code chosen} is the program's own choice; null for none. */
    static SocketPlace find(Path chosen) throws InitException {
        Path only = chosen != null ? chosen : RunningProgram.absolutePath("PROTOLOG_RUNTIME_DIR");
        if (only != null) {
            check(only);
            return new SocketPlace(only, null);
        }
        InitException displaced = null;
        Path runtime = RunningProgram.absolutePath("XDG_RUNTIME_DIR");
        for (int i = runtime == null ? 1 : 0; i < 2; i++) {
            try {
                Path directory = i == 0 ? runtime.resolve("protolog") : service();
                check(directory);
                return new SocketPlace(directory, displaced);
            } catch (NotPrivate e) {
                displaced = displaced == null ? e : displaced;
            } catch (InitException e) {
                // After an error that names another user, a missing directory says less.
                if (displaced == null) {
                    throw e;
                }
            }
        }
        return new SocketPlace(fallback(), displaced);
    }

    Path directory() {
        return directory;
    }

    InitException displaced() {
        return displaced;
    }

    /** Listens on a new socket, after a look for what killed programs left. */
    ServerSocketChannel listen(Path path) throws InitException {
        removeLeft();
        ServerSocketChannel channel = null;
        try {
            channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            channel.bind(UnixDomainSocketAddress.of(path));
            // Nobody else can enter the directory.
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            channel.configureBlocking(false);
            return channel;
        } catch (IOException | UnsupportedOperationException e) {
            close(channel);
            throw new InitException("can't listen on `" + path + "`: " + reason(e),
                    "set PROTOLOG_RUNTIME_DIR to a directory that can be written and has a short path");
        }
    }

    /** The error of the system in words. */
    static String reason(Exception error) {
        String message = error.getMessage();
        boolean isKnown = error instanceof java.nio.file.FileSystemException;
        String reason = isKnown ? ((java.nio.file.FileSystemException) error).getReason() : message;
        return reason != null ? reason : error.getClass().getSimpleName();
    }

    private static void close(ServerSocketChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // It is of no use any more.
        }
    }

    /** Removes sockets and switches of programs that were killed: nobody listens. */
    private void removeLeft() {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, "*" + SWITCHES_SUFFIX)) {
            int looked = 0;
            for (Path switches : all) {
                String name = switches.getFileName().toString();
                Path socket = switches.resolveSibling(name.replace(SWITCHES_SUFFIX, SOCKET_SUFFIX));
                if (looked++ < MAX_LEFT && isLeft(socket)) {
                    Files.deleteIfExists(socket);
                    Files.deleteIfExists(switches);
                }
            }
        } catch (IOException | RuntimeException e) {
            // Files that stay do no harm.
        }
    }

    private static boolean isLeft(Path socket) {
        if (!Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
            return true;
        }
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // A program that lives and has too many connections waiting answers that it can't now.
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(socket));
            return false;
        } catch (java.net.ConnectException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static Path service() throws InitException {
        try {
            int user = RunningProgram.user();
            if (user == 0 && !Files.exists(SERVICES)) {
                // Like /tmp: every user's services have a directory in it, which nobody else can remove.
                Files.createDirectory(SERVICES);
                Files.setAttribute(SERVICES, "unix:mode", 01777);
            }
            return SERVICES.resolve(Integer.toString(user));
        } catch (IOException e) {
            throw unusable(SERVICES, e);
        }
    }

    /** An earlier program's directory in /tmp, or a new one. Its name is random, since another user could make one that can be guessed. */
    private static Path fallback() throws InitException {
        try {
            String prefix = "protolog-" + RunningProgram.user() + "-";
            Path found = null;
            try (DirectoryStream<Path> all = Files.newDirectoryStream(FALLBACKS, prefix + "*")) {
                for (Path each : all) {
                    boolean isFirst = found == null || each.compareTo(found) < 0;
                    found = isFirst && isPrivate(each) ? each : found;
                }
            }
            String random = String.format("%016x", new SecureRandom().nextLong());
            Path directory = found != null ? found : FALLBACKS.resolve(prefix + random);
            check(directory);
            return directory;
        } catch (IOException e) {
            throw unusable(FALLBACKS, e);
        }
    }

    /** Makes the directory if it is missing, and checks that it is private. */
    private static void check(Path directory) throws InitException {
        try {
            Files.createDirectory(directory, PRIVATE_DIRECTORY);
        } catch (FileAlreadyExistsException e) {
            // It is looked at below.
        } catch (IOException e) {
            throw unusable(directory, e);
        }
        try {
            if (!isPrivate(directory)) {
                throw new NotPrivate(directory);
            }
        } catch (IOException e) {
            throw unusable(directory, e);
        }
    }

    private static boolean isPrivate(Path directory) throws IOException {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        Map<String, Object> own = Files.readAttributes(directory, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        Path above = directory.toAbsolutePath().getParent();
        Map<String, Object> parent = Files.readAttributes(above == null ? directory : above, "unix:uid,mode");
        int user = RunningProgram.user();
        int parentUser = (Integer) parent.get("uid");
        int parentMode = (Integer) parent.get("mode");
        return (Integer) own.get("uid") == user
                && ((Integer) own.get("mode") & 077) == 0
                && ((parentMode & 022) == 0 || (parentMode & 01000) != 0)
                && (parentUser == user || parentUser == 0);
    }

    private static InitException unusable(Path path, IOException error) {
        return new InitException("can't use the directory `" + path + "`: " + reason(error),
                "set XDG_RUNTIME_DIR, or let the service manager make the directory (systemd: RuntimeDirectory=protolog)");
    }

    /** The directory belongs to another user, is open to others, can be replaced by others, or is no directory. */
    private static final class NotPrivate extends InitException {
        private static final long serialVersionUID = 1;

        NotPrivate(Path path) {
            super("`" + path + "` is not private to this user",
                    "make it a directory of this user with `chmod 700`, where others can't rename it");
        }
    }
}
