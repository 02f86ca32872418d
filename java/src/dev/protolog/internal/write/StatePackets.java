package dev.protolog.internal.write;

import dev.protolog.internal.process.Origin;
import dev.protolog.internal.process.ThreadIdentity;
import dev.protolog.internal.proto.ProtoWriter;

/**
 * Encodes the packet that a chunk begins with, and that names another thread, for one writer.
 *
 * <p>Invariant: losses are the sequence's, or here, or reported, whatever error ends this.
 */
final class StatePackets {
    /** The most bytes of one. */
    static final int MAX = 128;

    private final ProtoWriter state = new ProtoWriter(2 * MAX);
    private final ProtoWriter info = new ProtoWriter();
    private final ProtoWriter snapshot = new ProtoWriter();
    private final ProtoWriter part = new ProtoWriter();
    /** Losses that were taken and that no packet reports yet. */
    final Losses.Pending losses = new Losses.Pending(Losses.MAX_RECORDS);

    /**
     * Encodes the packet with this time, of the current thread, or of that of an event. It reports
     * {@link #losses}, which are taken from the sequence.
     */
    ProtoWriter encode(WriterOwner session, Sequence sequence, ThreadIdentity identity, Origin origin, long now) {
        identity.describe(origin, session.pid(), info.clear());
        if (session.keepsMessages()) {
            info.varint(4, sequence.messages);
        }
        // Those that an error has left are reported first.
        sequence.losses.take(losses);
        SequenceState.write(state, now, info, losses, snapshot, part);
        return state;
    }
}
