package app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * An operator in pure Java, which receives no file descriptors:
 * {@code Operator SOCKET GROUP LEVELS} prints the groups whose name ends with GROUP at these levels
 * (bit = severity), by a store into the file that the program names.
 */
public final class Operator {
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final int TEXT = 8;
    private static final int ALL = 0x3f;

    private Operator() {}

    public static void main(String[] args) throws IOException {
        Path socket = Path.of(args[0]);
        int levels = Integer.decode(args[2]);
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            BufferedReader replies = new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
            ask(channel, replies, "protolog 1");
            List<String> groups = ask(channel, replies, "groups");
            String[] named = ask(channel, replies, "pages-file").get(0).split(" ", 4);
            int page = Integer.parseInt(named[2]);
            int size = Integer.parseInt(named[1]) * page;
            // A file beside the socket is opened only if it is none by way of a link.
            Path path = checked(socket, named[3]);
            Set<OpenOption> options = new HashSet<>(Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
            if (!path.startsWith("/proc")) {
                options.add(LinkOption.NOFOLLOW_LINKS);
            }
            try (FileChannel file = FileChannel.open(path, options)) {
                ByteBuffer words = file.map(FileChannel.MapMode.READ_WRITE, 0, size).order(ByteOrder.nativeOrder());
                for (String group : groups) {
                    // group PAGE INDEX WORD COMPILED NAME TAG
                    String[] fields = group.split(" ", 7);
                    if (fields[5].endsWith(args[1])) {
                        int at = Integer.parseInt(fields[1]) * page + 4 * Integer.parseInt(fields[2]);
                        INT.getAndBitwiseOr(words, at, levels << TEXT);
                        INT.getAndBitwiseAnd(words, at, ~((ALL & ~levels) << TEXT));
                        System.out.println("switched " + fields[5]);
                    }
                }
            }
        }
    }

    /**
     * The path of a file that the program named: its own memory, or one beside its socket; of this
     * user, and of nobody else. Java can't ask what it has opened, so the directory is one that
     * only this user can enter, by a path without links: nobody else can put another file there.
     */
    private static Path checked(Path socket, String name) throws IOException {
        if (name.matches("/proc/[0-9]+/fd/[0-9]+")) {
            Path path = Path.of(name);
            check(Files.readSymbolicLink(path).toString().equals("/memfd:protolog-switches (deleted)"), "no memory of switches");
            checkOwn(path, 0600);
            return path;
        }
        Path directory = socket.toAbsolutePath().getParent().toRealPath();
        checkOwn(directory, 0700);
        check(!name.contains("/") && !name.equals("..") && !name.equals("."), "no name");
        Path path = directory.resolve(name);
        check(Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS), "no file beside the socket");
        check(Files.getAttribute(path, "unix:nlink").equals(1), "a file with another name");
        checkOwn(path, 0600);
        return path;
    }

    private static void checkOwn(Path path, int mode) throws IOException {
        check(((Integer) Files.getAttribute(path, "unix:mode") & 0777) == mode, "not private");
        check(Files.getAttribute(path, "unix:uid").equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")), "another user's");
    }

    private static void check(boolean holds, String problem) throws IOException {
        if (!holds) {
            throw new IOException(problem);
        }
    }

    private static List<String> ask(SocketChannel channel, BufferedReader replies, String request) throws IOException {
        channel.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
        List<String> lines = new ArrayList<>();
        for (String line = replies.readLine(); !line.equals("ok"); line = replies.readLine()) {
            check(!line.startsWith("error "), line);
            lines.add(line);
        }
        return lines;
    }
}
