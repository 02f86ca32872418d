package dev.protolog.internal.perfetto;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.PageLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The way to the service: whole chunks in requests ({@code CommitData}), and the ids of writers.
 * This is Perfetto's emulation of shared memory, for which Java would need a descriptor; the
 * service takes it over sockets of every kind.
 *
 * <p>Invariants: a writer is registered before its first chunk. A writer id that is used again goes
 * on from its last chunk id, and the one that was given back first is used first.
 */
final class Outlet {
    /**
     * The highest writer id that services of all versions take. Higher ones are used where all of
     * these are in use.
     */
    private static final int OLD_MAX_WRITER_ID = 1023;
    /** The most bytes of a request's arguments; the frame has some around them. */
    private static final int MAX_ARGUMENTS = Frame.MAX - 512;
    /** The most bytes around a chunk in a request, and of the number of a flush. */
    private static final int AROUND = 64;
    private static final int HEADER = 8;
    /** The most bytes of a chunk of the session's own packets, without its header. */
    static final int MAX_PAYLOAD = 4072;
    private static final int FRAGMENT_SIZE = 4;
    /** The most packets of such a chunk. */
    private static final int MAX_PACKETS = 1000;
    /** {@code first_packet_on_sequence} of a packet. */
    private static final int FIRST_PACKET = 87;

    private final Link link;
    private final ByteBuffer arguments = ByteBuffer.allocateDirect(MAX_ARGUMENTS).order(ByteOrder.LITTLE_ENDIAN);
    private final ProtoWriter entry = new ProtoWriter(AROUND);
    private final ProtoWriter head = new ProtoWriter(AROUND);
    private final ProtoWriter payload = new ProtoWriter(MAX_PAYLOAD);
    /** The requests with chunks that were sent. */
    private volatile long requests;
    /** The last writer id that was used for the first time. */
    private int lastId;
    /** Writers that were given back. */
    private final Deque<ServiceWriter> free = new ArrayDeque<>();

    Outlet(Link link) {
        this.link = link;
    }

    /** The requests with chunks that were sent so far. */
    long requests() {
        return requests;
    }

    /** Registers a writer to a buffer of the service; null where there are as many as can be. */
    ServiceWriter register(int target) throws IOException {
        ServiceWriter writer;
        if (lastId < OLD_MAX_WRITER_ID || free.isEmpty() && lastId < PageLayout.MAX_WRITER_ID) {
            writer = new ServiceWriter(++lastId, target, 0);
        } else if (free.isEmpty()) {
            return null;
        } else {
            ServiceWriter before = free.remove();
            writer = new ServiceWriter(before.id, target, before.chunk);
        }
        link.call("RegisterTraceWriter", new ProtoWriter().varint(1, writer.id).varint(2, Integer.toUnsignedLong(target)));
        // The service takes every first packet for one that follows a loss, and readers know by the
        // mark that there was none.
        write(writer, List.of(new ProtoWriter().varint(FIRST_PACKET, 1).done()));
        return writer;
    }

    /** Ends a writer. Its chunks are committed first: without it the service takes none. */
    void unregister(ServiceWriter writer) throws IOException {
        commit(0);
        link.call("UnregisterTraceWriter", new ProtoWriter().varint(1, writer.id));
        if (!writer.isFree) {
            // Once, though an error out of memory may have it ended again.
            writer.isFree = true;
            free.add(writer);
        }
    }

    /** Tells the service that a data source has started, or stopped. */
    void notify(String method, long instance) throws IOException {
        commit(0);
        link.call(method, new ProtoWriter().varint(1, instance));
    }

    /**
     * Adds a chunk to the next request: the writer's next one, or as far as it is written. After an
     * error out of memory or of stack the request is as it was.
     *
     * @param packets count and flags
     */
    void chunk(ServiceWriter writer, int packets, byte[] bytes, int length, boolean isComplete) throws IOException {
        if (arguments.remaining() < HEADER + length + AROUND) {
            commit(0);
        }
        entry.clear().varint(1, 0).varint(2, 0).varint(3, Integer.toUnsignedLong(writer.target));
        if (!isComplete) {
            entry.varint(5, 1);
        }
        entry.length(4, HEADER + length);
        head.clear().length(1, entry.size() + HEADER + length);
        int from = arguments.position();
        try {
            arguments.put(head.array(), 0, head.size()).put(entry.array(), 0, entry.size());
            arguments.putInt(writer.chunk).putShort((short) writer.id).putShort((short) packets).put(bytes, 0, length);
        } catch (RuntimeException | Error e) {
            arguments.position(from);
            throw e;
        }
        // Nothing is called from here on.
        writer.chunk += isComplete ? 1 : 0;
        writer.sent = isComplete ? 0 : packets;
        writer.bytes = isComplete ? null : bytes;
    }

    /** Gives the rest of a chunk of which the service has the beginning: there comes no more. */
    void close(ServiceWriter writer) throws IOException {
        if (writer.sent == 0) {
            return;
        }
        byte[] bytes = writer.bytes;
        int end = 0;
        for (int left = (writer.sent & PageLayout.MAX_PACKETS) - 1; left > 0; left--) {
            int size = 0;
            int shift = 0;
            while (bytes[end] < 0) {
                size |= (bytes[end++] & 0x7f) << shift;
                shift += 7;
            }
            size |= bytes[end++] << shift;
            end += size;
        }
        // The packet that was started last is empty. Its thread may be writing it.
        bytes[end] = 0;
        chunk(writer, writer.sent, bytes, bytes.length, true);
    }

    /** Adds packets of the session itself, in chunks of their own. */
    void write(ServiceWriter writer, List<byte[]> packets) throws IOException {
        payload.clear();
        int count = 0;
        int flags = 0;
        for (byte[] packet : packets) {
            if (payload.size() + ProtoWriter.MAX_VARINT + packet.length > MAX_PAYLOAD && count > 0 || count == MAX_PACKETS) {
                chunk(writer, count | flags, payload.array(), payload.size(), true);
                payload.clear();
                count = 0;
                flags = 0;
            }
            int at = 0;
            for (int part = part(packet.length); part > 0; part = part(packet.length - at)) {
                putFragmentSize(part);
                payload.raw(packet, at, part);
                chunk(writer, 1 | flags | PageLayout.CONTINUED, payload.array(), payload.size(), true);
                payload.clear();
                at += part;
                flags = PageLayout.CONTINUES;
            }
            payload.value(packet.length - at).raw(packet, at, packet.length - at);
            count++;
        }
        if (count > 0) {
            chunk(writer, count | flags, payload.array(), payload.size(), true);
        }
    }

    /**
     * The bytes that a chunk takes of a packet of which {@code left} are left; 0 where the chunk
     * has room for all of them.
     */
    static int part(int left) {
        // The size of what fits has two bytes at most.
        return left > MAX_PAYLOAD - FRAGMENT_SIZE ? MAX_PAYLOAD - FRAGMENT_SIZE : 0;
    }

    private void putFragmentSize(int size) {
        int word = ProtoWriter.varint4(size);
        byte[] bytes = {(byte) word, (byte) (word >>> 8), (byte) (word >>> 16), (byte) (word >>> 24)};
        payload.raw(bytes, 0, FRAGMENT_SIZE);
    }

    /** Tells the service of all chunks, and that the flush of this number is done; 0 for none. */
    void commit(long flush) throws IOException {
        if (flush != 0) {
            head.clear().varint(3, flush);
            arguments.put(head.array(), 0, head.size());
        }
        if (arguments.position() > 0) {
            int end = arguments.position();
            try {
                link.call("CommitData", arguments.flip());
            } catch (Error e) {
                // It is still to be sent, unless some of it was: the link knows that.
                arguments.clear().position(end);
                throw e;
            }
            arguments.clear();
            requests++;
        }
    }
}
