package dev.protolog.internal.write;

import dev.protolog.internal.proto.ProtoWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The chunk that a writer has open: where its next packet goes, and how it is shown.
 *
 * <p>Invariants: only the writer's thread uses it. The count includes the packet that was started
 * last, whose size is 0.
 */
abstract class OpenChunk {
    public final Sequence sequence;

    final SharedBuffer buffer;
    final ByteBuffer memory;
    /** The same memory, little endian as protobuf is. */
    final ByteBuffer wire;
    /** Where the packet that was started last has its size. */
    int position;
    int limit;
    int countAt;
    int packets;

    private final byte[] sizeField = new byte[ProtoWriter.MAX_VARINT];

    OpenChunk(SharedBuffer buffer, Sequence sequence) {
        this.buffer = buffer;
        this.sequence = sequence;
        memory = buffer.memory();
        wire = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Appends a packet for which the chunk has room: a part of {@code bytes}, which ends so many
     * messages.
     */
    final void commit(byte[] bytes, int from, int length, long now, int messages) {
        int head = ProtoWriter.putVarint(sizeField, 0, length);
        memory.put(position, sizeField, 0, head);
        memory.put(position + head, bytes, from, length);
        sequence.time = now;
        commit(position + head + length, messages);
    }

    /**
     * Commits the started packet, which ends before {@code at} and has so many messages: shows it
     * to readers, and starts the next one there.
     */
    final void commit(int at, int messages) {
        memory.put(at, (byte) 0);
        buffer.publish(countAt, packets + 1);
        // Nothing is called in between: a message that is shown is counted, whatever error comes
        // next, and one that is not is not.
        position = at;
        packets++;
        sequence.messages += messages;
        buffer.check(countAt, packets);
    }

    final boolean isFull() {
        return (packets & PageLayout.MAX_PACKETS) >= PageLayout.MAX_PACKETS - 2;
    }

    /** True if a short packet has room. */
    final boolean hasRoom(byte[] packet) {
        return !isFull() && position + 1 + packet.length <= limit;
    }
}
