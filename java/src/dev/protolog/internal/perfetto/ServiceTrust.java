package dev.protolog.internal.perfetto;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.TrustedUsers;
import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import jdk.net.ExtendedSocketOptions;

/**
 * The users whose service may get what the process logs, where it listens at a place that is
 * anybody's: this one and root. The kernel says whose it is if the module {@code jdk.net} is there.
 * Otherwise it is the owner of the socket's file, which nobody else can put there: the directory
 * is one in which files are renamed and removed by their owners alone.
 */
final class ServiceTrust {
    private ServiceTrust() {}

    /** An error unless the service at the other end of {@code channel} is one of them. */
    static void check(SocketChannel channel, ServiceAddress place) throws IOException {
        if (!place.isAnybodys()) {
            return;
        }
        boolean isAdmitted = ModuleLayer.boot().findModule("jdk.net").isPresent() ? Peer.isAdmitted(channel) : isOwned(place.path());
        if (!isAdmitted) {
            throw new IOException("the service is of another user; to trust it, name its socket by `" + ServiceAddress.VARIABLE + "`");
        }
    }

    /** True for the socket of a user that is admitted. */
    static boolean isOwned(Path socket) throws IOException {
        FileStatus found = FileStatus.at(socket);
        return found != null && found.isSocket() && (found.owner() == 0 || found.owner() == RunningProgram.user());
    }

    /** What needs the module; the JVM looks for it with the first use of this class. */
    private static final class Peer {
        private Peer() {}

        static boolean isAdmitted(SocketChannel channel) throws IOException {
            return TrustedUsers.find().contains(channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user());
        }
    }
}
