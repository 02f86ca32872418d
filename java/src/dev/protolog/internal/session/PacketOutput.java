package dev.protolog.internal.session;

import java.io.IOException;

/** Takes the packets of a session, each with the id of its sequence. */
interface PacketOutput {
    /** Takes the packet that is a part of {@code bytes}. */
    void packet(int sequence, byte[] bytes, int from, int length) throws IOException;

    default void packet(int sequence, byte[] packet) throws IOException {
        packet(sequence, packet, 0, packet.length);
    }

    /** The bytes of all packets, before any compression. */
    long packetBytes();
}
