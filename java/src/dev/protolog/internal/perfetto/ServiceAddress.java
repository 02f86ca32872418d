package dev.protolog.internal.perfetto;

import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * The socket of the tracing service for producers: the one that a variable of the environment
 * names, or else the one in {@code /run/perfetto}, if it is there, or the one in {@code /tmp}.
 *
 * @param name the socket, for people
 * @param path null for one that is no file
 * @param isAnybodys every user may have made it, since the variable names none; whoever names one
 *     trusts it
 */
record ServiceAddress(String name, SocketAddress address, Path path, boolean isAnybodys) {
    /** The variable: a path, or {@code HOST:PORT}. */
    static final String VARIABLE = "PERFETTO_PRODUCER_SOCK_NAME";

    private static final Path IN_RUN = Path.of("/run/perfetto/traced-producer.sock");
    private static final Path IN_TMP = Path.of("/tmp/perfetto-producer");

    static ServiceAddress find() throws IOException {
        String named = RunningProgram.variable(VARIABLE);
        if (named != null && !named.isEmpty()) {
            return parse(named);
        }
        return Files.exists(IN_RUN) ? of(IN_RUN, false) : of(IN_TMP, true);
    }

    /**
     * The socket of a name as Perfetto reads it: behind the last colon of a host is a number.
     *
     * @throws IOException if Java can't use such a socket, or does not find the host
     */
    static ServiceAddress parse(String name) throws IOException {
        if (name.startsWith("@") || name.startsWith("vsock://")) {
            throw new IOException(name + ": Java has no such sockets; let the service listen on a file or on `127.0.0.1:PORT`");
        }
        int colon = name.lastIndexOf(':');
        if (colon > 0 && name.substring(colon + 1).matches("[0-9]{1,5}")) {
            String host = name.substring(0, colon);
            boolean isBracketed = host.startsWith("[") && host.endsWith("]");
            int port = Integer.parseInt(name.substring(colon + 1));
            if (port > 65535) {
                throw new IOException(name + ": no port has the number " + port);
            }
            InetSocketAddress address = new InetSocketAddress(isBracketed ? host.substring(1, host.length() - 1) : host, port);
            if (address.isUnresolved()) {
                throw new UnknownHostException("there is no host `" + host + "`");
            }
            return new ServiceAddress(name, address, null, false);
        }
        try {
            return of(Path.of(name), false);
        } catch (InvalidPathException e) {
            throw new IOException("this is no path", e);
        }
    }

    /** True for a socket of the network, over which the kernel does not say who is at its ends. */
    boolean isRemote() {
        return path == null;
    }

    private static ServiceAddress of(Path path, boolean isAnybodys) throws IOException {
        try {
            return new ServiceAddress(path.toString(), UnixDomainSocketAddress.of(path), path, isAnybodys);
        } catch (IllegalArgumentException e) {
            throw new IOException("no socket can be there", e);
        }
    }
}
