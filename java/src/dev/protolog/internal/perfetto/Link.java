package dev.protolog.internal.perfetto;

import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The connection with the service: requests out, frames in.
 *
 * <p>The channel does not block, and each direction has a selector: so an interrupt of a thread
 * closes nothing, and a wait has a limit where it needs one.
 *
 * <p>Invariants: a request goes out whole, or not at all, or the connection is over. Requests are
 * sent by one thread at a time: by the one that connects, and then by the one that forwards.
 */
final class Link implements AutoCloseable {
    /** The time that the service has to accept the connection, in nanoseconds. */
    private static final long TIMEOUT = 10_000_000_000L;
    private static final String DATA_SOURCE = "android.protolog";
    private static final int PAGE = 4096;
    /**
     * The memory that the service makes for a producer, and that this one leaves alone: it can't
     * get the descriptor of it. It takes no room where nobody writes to it.
     */
    private static final int MEMORY = 16 * PAGE;
    /** Value of {@code SMBScrapingMode}: there is nothing in that memory to look for. */
    private static final int SCRAPING_DISABLED = 2;
    private static final ByteBuffer NO_ARGUMENTS = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final Selector readable;
    private final Selector writable;
    private final FrameInput input = new FrameInput();
    /** Made once there is a connection: attempts may go on for ever. */
    private ByteBuffer bytes;
    private long service;
    private Map<String, Long> methods = Map.of();
    private long requests;
    /** The request to which commands are answers. */
    private long commands;
    /** The bytes that the service has taken. */
    private volatile long sent;
    /** The service has the beginning of a request only; after an error it stays so. */
    private boolean isCutOff;

    /** The channel is the link's from here on, also after an error. */
    private Link(SocketChannel channel) throws IOException {
        this.channel = channel;
        Selector first = null;
        Selector second = null;
        try {
            channel.configureBlocking(false);
            first = Selector.open();
            second = Selector.open();
            channel.register(first, SelectionKey.OP_READ);
            channel.register(second, SelectionKey.OP_WRITE);
        } catch (IOException | RuntimeException | Error e) {
            close(first, second, channel);
            throw e;
        }
        readable = first;
        writable = second;
    }

    /** Connects to the service, and registers the data source. */
    static Link connect(ServiceAddress place) throws IOException {
        if (!place.isRemote() && !Files.exists(place.path())) {
            throw new IOException("there is no such socket");
        }
        Link link = new Link(place.isRemote() ? SocketChannel.open() : SocketChannel.open(StandardProtocolFamily.UNIX));
        try {
            link.open(place);
            return link;
        } catch (IOException | RuntimeException | Error e) {
            link.close();
            throw e;
        }
    }

    private void open(ServiceAddress place) throws IOException {
        long by = System.nanoTime() + TIMEOUT;
        if (!channel.connect(place.address())) {
            channel.keyFor(writable).interestOps(SelectionKey.OP_CONNECT);
            while (!channel.finishConnect()) {
                await(writable, by);
            }
            channel.keyFor(writable).interestOps(SelectionKey.OP_WRITE);
        }
        ServiceTrust.check(channel, place);
        bytes = ByteBuffer.allocateDirect(16 * 1024);
        if (place.isRemote()) {
            write(ByteBuffer.wrap(Frame.identity(RunningProgram.pid(), RunningProgram.user(), kernel("random/boot_id"), kernel("hostname"))));
        }
        bind(by);
        initialize(by);
        commands = request("GetAsyncCommand", NO_ARGUMENTS, false);
        // It reports its start and its stop, and clears incremental state when asked.
        ProtoWriter source = new ProtoWriter().string(1, DATA_SOURCE).varint(2, 1).varint(3, 1).varint(4, 1);
        call("RegisterDataSource", new ProtoWriter().message(1, source));
    }

    private void bind(long by) throws IOException {
        long request = ++requests;
        write(ByteBuffer.wrap(Frame.bind(request, "ProducerPort")));
        Frame bound = receive(by);
        while (bound.request() != request) {
            bound = receive(by);
        }
        if (bound.kind() != Frame.Kind.BOUND || !bound.isSuccess()) {
            throw new IOException("the service has no `ProducerPort`");
        }
        service = bound.serviceId();
        methods = bound.methods();
    }

    /**
     * Introduces this process. A service that says nothing of emulated memory knows none, and would
     * drop what it gets in silence.
     */
    private void initialize(long by) throws IOException {
        byte[] introduction = new ProtoWriter()
                .varint(1, PAGE)
                .varint(2, MEMORY)
                .string(3, RunningProgram.name())
                .varint(4, SCRAPING_DISABLED)
                .string(8, "protolog for Java")
                .done();
        long request = request("InitializeConnection", ByteBuffer.wrap(introduction), false);
        Frame reply = receive(by);
        while (reply.request() != request) {
            reply = receive(by);
        }
        if (reply.kind() != Frame.Kind.REPLY || !reply.isSuccess()) {
            throw new IOException("the service refused the connection");
        }
        boolean knowsEmulation = false;
        try {
            for (ProtoReader fields = new ProtoReader(reply.reply()); fields.next(); fields.skip()) {
                knowsEmulation |= fields.field() == 3;
            }
        } catch (ProtoReader.MalformedException e) {
            throw new IOException("the service sent a malformed reply", e);
        }
        if (!knowsEmulation) {
            throw new IOException("the service is too old to take messages from Java, by emulated memory; update Perfetto");
        }
    }

    /** The bytes that the service has taken so far. */
    long sent() {
        return sent;
    }

    /** Calls a method whose reply nobody needs. */
    void call(String method, ProtoWriter args) throws IOException {
        request(method, ByteBuffer.wrap(args.array(), 0, args.size()), true);
    }

    /** As above; {@code args} has nothing left afterwards. */
    void call(String method, ByteBuffer args) throws IOException {
        request(method, args, true);
    }

    private long request(String method, ByteBuffer args, boolean dropsReply) throws IOException {
        Long number = methods.get(method);
        if (number == null) {
            throw new IOException("the service has no method `" + method + "`");
        }
        long request = ++requests;
        write(ByteBuffer.wrap(Frame.invocation(request, service, number, dropsReply, args.remaining())), args);
        return request;
    }

    /** Waits for the next command, without a limit. */
    Command receiveCommand() throws IOException {
        while (true) {
            Frame frame = receive(0);
            if (frame.request() != commands) {
                continue;
            }
            if (frame.kind() == Frame.Kind.ERROR || frame.kind() == Frame.Kind.REPLY && !frame.isSuccess()) {
                throw new IOException("the service gives no commands");
            }
            try {
                Command command = Command.decode(frame.reply());
                if (command != null) {
                    return command;
                }
            } catch (ProtoReader.MalformedException e) {
                throw new IOException("the service sent a malformed command: " + e.getMessage(), e);
            }
        }
    }

    /** Waits for the next frame until {@code by}, of {@link System#nanoTime}; 0 for any time. */
    private Frame receive(long by) throws IOException {
        while (true) {
            // Who sends other frames without end does not answer either.
            if (by != 0 && by - System.nanoTime() <= 0) {
                throw new IOException("the service does not answer");
            }
            Frame frame = input.next();
            if (frame != null) {
                return frame;
            }
            int count;
            try {
                count = channel.read(bytes.clear());
            } catch (IOException e) {
                throw broken(e);
            }
            if (count < 0) {
                throw new IOException("the service closed the connection");
            } else if (count == 0) {
                await(readable, by);
            }
            input.add(bytes.flip());
        }
    }

    /** Sends all of these, however long the service takes. */
    private void write(ByteBuffer... parts) throws IOException {
        if (isCutOff) {
            throw new IOException("no memory was left to send a request to its end");
        }
        int left = remaining(parts);
        while (left > 0) {
            int before = left;
            try {
                channel.write(parts);
            } catch (IOException e) {
                throw broken(e);
            } catch (Error e) {
                if (remaining(parts) == before) {
                    throw e;
                }
                // Out of memory after it was written: whoever tries again would send it twice.
            }
            left = remaining(parts);
            isCutOff |= left < before;
            sent += before - left;
            if (left == before) {
                await(writable, 0);
            }
        }
        isCutOff = false;
    }

    private static int remaining(ByteBuffer... parts) {
        int bytes = 0;
        for (ByteBuffer part : parts) {
            bytes += part.remaining();
        }
        return bytes;
    }

    private void await(Selector selector, long by) throws IOException {
        long left = by == 0 ? 0 : by - System.nanoTime();
        if (left < 0 || by != 0 && left == 0) {
            throw new IOException("the service does not answer");
        }
        // An interrupt of all threads of a program does not mean this one.
        Thread.interrupted();
        try {
            selector.select(by == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(left) + 1);
            selector.selectedKeys().clear();
        } catch (ClosedSelectorException e) {
            throw new IOException("the connection was closed", e);
        }
    }

    private static IOException broken(IOException e) {
        // The peer is gone; who closed this end knows that.
        return new IOException("the service closed the connection", e);
    }

    /** Ends the connection, for both directions; threads that wait for it go on with an error. */
    @Override
    public void close() {
        close(readable, writable, channel);
    }

    private static void close(AutoCloseable... all) {
        for (AutoCloseable each : all) {
            try {
                if (each != null) {
                    each.close();
                }
            } catch (Exception e) {
                // It is of no use any more.
            }
        }
    }

    /** What the kernel says of the machine; empty if it does not. */
    private static String kernel(String name) {
        try {
            return Files.readString(Path.of("/proc/sys/kernel").resolve(name), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
