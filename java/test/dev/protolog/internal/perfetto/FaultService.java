package dev.protolog.internal.perfetto;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A service, played by a test: it takes one producer, passes commands on, and makes a trace of the
 * chunks that it gets, as the real one does. A packet that goes on in another chunk is whole there;
 * of a chunk that comes again only what is new counts.
 */
final class FaultService implements AutoCloseable {
    private static final List<String> METHODS = List.of("InitializeConnection", "RegisterDataSource", "CommitData", "GetAsyncCommand",
            "RegisterTraceWriter", "UnregisterTraceWriter", "NotifyDataSourceStarted", "NotifyDataSourceStopped");
    /** The longest that an answer takes, in seconds. */
    private static final int LONG = 30;

    final Path socket;
    private final ServerSocketChannel listener;
    /** What the producer says: the name of a method, or the number of a flush. */
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final ByteArrayOutputStream trace = new ByteArrayOutputStream();
    private final Map<Long, Sequence> sequences = new HashMap<>();
    private SocketChannel channel;
    private volatile long commands;

    /** A writer's packets. */
    private static final class Sequence {
        private long chunk;
        private int packets;
        private byte[] partial;
    }

    FaultService(Path socket) throws IOException {
        this.socket = socket;
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(UnixDomainSocketAddress.of(socket));
        Thread thread = new Thread(this::serve, "service");
        thread.setDaemon(true);
        thread.start();
    }

    void start(long id, byte[] config) throws IOException {
        command(new ProtoWriter().message(1, new ProtoWriter().varint(1, id).bytes(2, config)));
        await("NotifyDataSourceStarted");
    }

    void stop(long id) throws IOException {
        command(new ProtoWriter().message(2, new ProtoWriter().varint(1, id)));
        await("NotifyDataSourceStopped");
    }

    /** A flush that is one of a series does not ask for the dictionary. */
    void flush(long id, long number, boolean isPeriodic) throws IOException {
        command(new ProtoWriter().message(5, new ProtoWriter().varint(1, id).varint(2, number).varint(3, isPeriodic ? 1 : 0)));
        await("flush " + number);
    }

    /** The trace since the last call. */
    synchronized byte[] takeTrace() {
        byte[] bytes = trace.toByteArray();
        trace.reset();
        return bytes;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        if (channel != null) {
            channel.close();
        }
    }

    /** Waits until the producer says this. */
    private void await(String what) throws IOException {
        try {
            String next = said.poll(LONG, TimeUnit.SECONDS);
            while (next != null && !next.equals(what) && !next.isEmpty()) {
                next = said.poll(LONG, TimeUnit.SECONDS);
            }
            if (next == null || next.isEmpty()) {
                throw new IOException(next == null ? "no answer: " + what : "the producer has closed the connection before " + what);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void command(ProtoWriter command) throws IOException {
        reply(commands, 6, new ProtoWriter().varint(1, 1).varint(2, 1).message(3, command));
    }

    private synchronized void reply(long request, int field, ProtoWriter reply) throws IOException {
        ProtoWriter frame = new ProtoWriter().varint(2, request).message(field, reply);
        ByteBuffer bytes = ByteBuffer.allocate(4 + frame.size()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(frame.size()).put(frame.done()).flip();
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private void serve() {
        try {
            channel = listener.accept();
            DataInputStream in = new DataInputStream(Channels.newInputStream(channel));
            while (true) {
                byte[] frame = new byte[Integer.reverseBytes(in.readInt())];
                in.readFully(frame);
                take(frame);
            }
        } catch (IOException | ProtoReader.MalformedException e) {
            said.add("");
        }
    }

    private void take(byte[] frame) throws IOException, ProtoReader.MalformedException {
        long request = 0;
        for (ProtoReader fields = new ProtoReader(frame); fields.next();) {
            switch (fields.field()) {
                case 2 -> request = fields.varint();
                case 3 -> {
                    fields.skip();
                    ProtoWriter bound = new ProtoWriter().varint(1, 1).varint(2, 1);
                    for (int i = 0; i < METHODS.size(); i++) {
                        bound.message(3, new ProtoWriter().varint(1, i + 1).string(2, METHODS.get(i)));
                    }
                    reply(request, 4, bound);
                }
                case 5 -> call(request, fields.message());
                default -> fields.skip();
            }
        }
    }

    private void call(long request, ProtoReader call) throws IOException, ProtoReader.MalformedException {
        String method = "";
        byte[] arguments = {};
        while (call.next()) {
            switch (call.field()) {
                case 2 -> method = METHODS.get((int) call.varint() - 1);
                case 3 -> arguments = call.bytes();
                default -> call.skip();
            }
        }
        switch (method) {
            // It knows emulated memory.
            case "InitializeConnection" -> reply(request, 6, new ProtoWriter().varint(1, 1).message(3, new ProtoWriter().varint(3, 1)));
            case "GetAsyncCommand" -> commands = request;
            case "CommitData" -> commit(new ProtoReader(arguments));
            default -> said.add(method);
        }
    }

    private void commit(ProtoReader request) throws ProtoReader.MalformedException {
        while (request.next()) {
            switch (request.field()) {
                case 1 -> move(request.message());
                case 3 -> said.add("flush " + request.varint());
                default -> request.skip();
            }
        }
    }

    private synchronized void move(ProtoReader move) throws ProtoReader.MalformedException {
        boolean isIncomplete = false;
        byte[] data = {};
        while (move.next()) {
            switch (move.field()) {
                case 4 -> data = move.bytes();
                case 5 -> isIncomplete = move.varint() != 0;
                default -> move.skip();
            }
        }
        ByteBuffer chunk = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        long number = Integer.toUnsignedLong(chunk.getInt());
        long writer = Short.toUnsignedLong(chunk.getShort());
        int word = Short.toUnsignedInt(chunk.getShort());
        int count = (word & 0x3ff) - (isIncomplete ? 1 : 0);
        Sequence sequence = sequences.computeIfAbsent(writer, id -> new Sequence());
        int known = sequence.chunk == number ? sequence.packets : 0;
        for (int at = 0; at < count && chunk.hasRemaining(); at++) {
            byte[] packet = new byte[size(chunk)];
            chunk.get(packet);
            if (at >= known) {
                boolean continues = at == 0 && (word & 1 << 10) != 0;
                boolean isContinued = at + 1 == count && (word & 2 << 10) != 0;
                take(writer, sequence, packet, continues, isContinued);
            }
        }
        sequence.chunk = number;
        sequence.packets = Math.max(count, known);
    }

    private static int size(ByteBuffer chunk) {
        int size = 0;
        for (int shift = 0;; shift += 7) {
            byte next = chunk.get();
            size |= (next & 0x7f) << shift;
            if (next >= 0) {
                return size;
            }
        }
    }

    private void take(long writer, Sequence sequence, byte[] part, boolean continues, boolean isContinued) {
        byte[] before = continues && sequence.partial != null ? sequence.partial : new byte[0];
        ProtoWriter packet = new ProtoWriter().raw(before, 0, before.length).raw(part, 0, part.length);
        sequence.partial = isContinued ? packet.done() : null;
        if (!isContinued && packet.size() > 0) {
            packet.varint(10, writer);
            byte[] field = new ProtoWriter().message(1, packet).done();
            trace.write(field, 0, field.length);
        }
    }
}
