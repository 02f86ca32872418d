package dev.protolog.internal.control;

import dev.protolog.StopException;
import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.PrivateDirectory;
import dev.protolog.internal.files.RuntimeDirectories;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.RunningProgram;
import java.io.Closeable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.util.Locale;

/**
 * The directory of the program's socket, by the rules of {@code protolog-rt/src/control/place.rs}:
 * {@code $PROTOLOG_RUNTIME_DIR}, or else {@code $XDG_RUNTIME_DIR/protolog} or
 * {@code /run/protolog/UID}, or else a directory of its own in {@code /tmp}.
 *
 * <p>Beside the socket {@code PID-TIME.sock} is the file {@code PID-TIME.switches}, made after it
 * and removed with it. The files of a killed program are removed by the next one that starts there.
 *
 * <p>Invariants: no socket is made in a directory that another user owns, can enter or can replace.
 * The directory that was checked stays open: all is made, looked at and removed there.
 */
final class SocketPlace {
    static final String SOCKET_SUFFIX = ".sock";
    static final String SWITCHES_SUFFIX = ".switches";

    /** The end of the name of a socket that does not listen yet, at which no operator looks. */
    private static final String UNFINISHED = ".new";
    /** The most files of other programs that are looked at. */
    private static final int MAX_LEFT = 64;

    private final PrivateDirectory directory;
    /** The reason why it is not the first one; null for none. */
    private final ControlException displaced;
    /** The names of socket and switches. */
    private final String socket;
    private final String switches;
    /** The socket, once it is there. */
    private FileStatus made;

    private SocketPlace(PrivateDirectory directory, ControlException displaced) {
        this.directory = directory;
        this.displaced = displaced;
        String name = RunningProgram.pid() + "-" + Long.toHexString(BootClock.ofProcess().now());
        socket = name + SOCKET_SUFFIX;
        switches = name + SWITCHES_SUFFIX;
    }

    /** The place of the socket. {@code chosen} is the program's own choice; null for none. */
    static SocketPlace find(Path chosen) throws ControlException {
        Path only = chosen != null ? chosen : RunningProgram.absolutePath("PROTOLOG_RUNTIME_DIR");
        if (only != null) {
            return new SocketPlace(make(only), null);
        }
        ControlException displaced = null;
        Path runtime = RunningProgram.absolutePath("XDG_RUNTIME_DIR");
        for (int i = runtime == null ? 1 : 0; i < 2; i++) {
            try {
                Path directory = i == 0 ? runtime.resolve("protolog") : service();
                return new SocketPlace(make(directory), displaced);
            } catch (NotPrivate e) {
                displaced = displaced == null ? e : displaced;
            } catch (ControlException e) {
                // After an error that names another user, a missing directory says less.
                if (displaced == null) {
                    throw e;
                }
            }
        }
        return new SocketPlace(fallback(), displaced);
    }

    /** The path of the socket, for people. */
    Path path() {
        return directory.path().resolve(socket);
    }

    ControlException displaced() {
        return displaced;
    }

    /** The user of the directory, and of the program. */
    UserPrincipal owner() throws IOException {
        return Files.getOwner(directory.here());
    }

    /** Listens on a new socket, after a look for files that killed programs left. */
    ServerSocketChannel listen() throws ControlException {
        removeLeft();
        ServerSocketChannel channel = null;
        try {
            channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            String unfinished = socket + UNFINISHED;
            channel.bind(UnixDomainSocketAddress.of(directory.at(unfinished)));
            // Nobody else can enter the directory.
            Files.setPosixFilePermissions(directory.at(unfinished), PosixFilePermissions.fromString("rw-------"));
            made = FileStatus.at(directory.at(unfinished));
            directory.rename(unfinished, socket);
            channel.configureBlocking(false);
            return channel;
        } catch (IOException | UnsupportedOperationException e) {
            close(channel);
            close(directory);
            throw new ControlException("can't listen on `" + path() + "`: " + reason(e),
                    "set PROTOLOG_RUNTIME_DIR to a directory that can be written");
        }
    }

    /** The path of the file with the switches that is to be made. */
    Path switches() throws IOException {
        return directory.at(switches);
    }

    /** Removes socket and switches. */
    void remove() {
        try {
            directory.remove(socket, made);
            FileStatus shared = FileStatus.at(directory.at(switches));
            if (shared != null && shared.isRegular()) {
                directory.remove(switches, shared);
            }
        } catch (IOException e) {
            // Files that stay do no harm.
        }
    }

    /** Closes the directory. Nothing can be done in it any more. */
    void close() {
        close(directory);
    }

    /** The error of the system in words. */
    static String reason(Exception given) {
        Throwable error = given instanceof StopException ? given.getCause() : given;
        String message = error.getMessage();
        boolean isKnown = error instanceof java.nio.file.FileSystemException;
        String reason = isKnown ? ((java.nio.file.FileSystemException) error).getReason() : message;
        return reason != null ? reason : error.getClass().getSimpleName();
    }

    private static void close(Closeable open) {
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            // It is of no use any more.
        }
    }

    /** Removes sockets and switches of programs that were killed: nobody listens. */
    private void removeLeft() {
        try {
            int looked = 0;
            for (String left : directory.names(SWITCHES_SUFFIX)) {
                String beside = left.substring(0, left.length() - SWITCHES_SUFFIX.length()) + SOCKET_SUFFIX;
                FileStatus socketLeft = FileStatus.at(directory.at(beside));
                FileStatus switchesLeft = FileStatus.at(directory.at(left));
                boolean isFile = switchesLeft != null && switchesLeft.isRegular();
                if (looked++ < MAX_LEFT && isFile && isLeft(beside, socketLeft)) {
                    directory.remove(beside, socketLeft);
                    directory.remove(left, switchesLeft);
                }
            }
        } catch (IOException | RuntimeException e) {
            // Files that stay do no harm.
        }
    }

    private boolean isLeft(String name, FileStatus socketLeft) throws IOException {
        if (socketLeft == null) {
            return true;
        }
        if (!socketLeft.isSocket()) {
            return false;
        }
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // A program that lives and has too many connections waiting answers that it can't now.
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(directory.at(name)));
            return false;
        } catch (java.net.ConnectException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static Path service() throws ControlException {
        try {
            int user = RunningProgram.user();
            if (user == 0) {
                makeServices();
            }
            return RuntimeDirectories.SERVICES.resolve(Integer.toString(user));
        } catch (IOException e) {
            throw unusable(RuntimeDirectories.SERVICES, e);
        }
    }

    private static void makeServices() throws IOException {
        try {
            Files.createDirectory(RuntimeDirectories.SERVICES);
            // Like /tmp: every user's services have a directory in it, which nobody else can
            // remove.
            Files.setAttribute(RuntimeDirectories.SERVICES, "unix:mode", 01777);
        } catch (FileAlreadyExistsException e) {
            // Of an earlier program.
        }
    }

    /**
     * An earlier program's directory in /tmp, or a new one. Its name is random, since another user
     * could make one that can be guessed.
     */
    private static PrivateDirectory fallback() throws ControlException {
        try {
            String prefix = RuntimeDirectories.fallbackPrefix();
            PrivateDirectory known = RuntimeDirectories.knownFallback();
            return known != null ? known : make(RuntimeDirectories.FALLBACKS.resolve(prefix + String.format(Locale.ROOT, "%016x", new SecureRandom().nextLong())));
        } catch (IOException e) {
            throw unusable(RuntimeDirectories.FALLBACKS, e);
        }
    }

    /** Opens the directory, and makes it if it is missing. An error unless it is private. */
    private static PrivateDirectory make(Path path) throws ControlException {
        try {
            PrivateDirectory directory = PrivateDirectory.make(path);
            if (directory == null) {
                throw new NotPrivate(path);
            }
            return directory;
        } catch (IOException e) {
            throw unusable(path, e);
        }
    }

    private static ControlException unusable(Path path, IOException error) {
        return new ControlException("can't use the directory `" + path + "`: " + reason(error),
                "set XDG_RUNTIME_DIR, or let the service manager make the directory (systemd: RuntimeDirectory=protolog)");
    }

    /**
     * The directory belongs to another user, is open to others, can be replaced by others, or is no
     * directory.
     */
    private static final class NotPrivate extends ControlException {
        private static final long serialVersionUID = 1;

        NotPrivate(Path path) {
            super("`" + path + "` is not private to this user",
                    "make it a directory of this user with `chmod 700`, where others can't rename it");
        }
    }
}
