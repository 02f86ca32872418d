package dev.protolog.internal.write;

import dev.protolog.internal.process.ThreadIdentity;
import dev.protolog.internal.proto.ProtoWriter;

/**
 * The packet with which a sequence's state is set up anew, so that a chunk can be read alone. Its
 * fields are in {@code docs/design/wire-format.md}.
 */
public final class SequenceState {
    /** Perfetto's number of the clock that runs while the machine is suspended, too. */
    public static final int BOOTTIME = 6;
    /** The clock of a sequence, which each message advances. */
    private static final int SEQUENCE = 64;

    private SequenceState() {}

    /**
     * Writes the packet that a chunk begins with: the clock of its sequence, its thread, and losses
     * before it. Its {@code info} has the fields of {@link ThreadIdentity#write}, and the number of
     * messages so far if the buffer keeps them. Both {@code snapshot} and {@code part} are scratch
     * space.
     */
    public static void write(ProtoWriter to, long time, ProtoWriter info, Losses.Pending losses, ProtoWriter snapshot, ProtoWriter part) {
        snapshot.clear().message(1, part.clear().varint(1, SEQUENCE).varint(2, time).varint(3, 1));
        snapshot.message(1, part.clear().varint(1, BOOTTIME).varint(2, time));
        to.clear().message(6, snapshot).varint(13, 1);
        if (losses.hasDropped()) {
            to.varint(42, 1);
        }
        to.message(59, part.clear().varint(58, SEQUENCE)).message(1000, info);
        losses.write(to);
    }

    /** The beginning of such a packet: its clock, and that timestamps are in it. */
    public static ProtoWriter begin(long time) {
        ProtoWriter snapshot = new ProtoWriter()
                .message(1, new ProtoWriter().varint(1, SEQUENCE).varint(2, time).varint(3, 1))
                .message(1, new ProtoWriter().varint(1, BOOTTIME).varint(2, time));
        return new ProtoWriter()
                .message(6, snapshot)
                .varint(13, 1)
                .message(59, new ProtoWriter().varint(58, SEQUENCE));
    }
}
