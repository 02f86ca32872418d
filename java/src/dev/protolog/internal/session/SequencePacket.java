package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.RequestMark;
import java.util.ArrayList;
import java.util.List;

/**
 * The parts of a packet that is no plain message. Its {@code request} is what a mark says of the
 * one that later messages belong to; null for no mark.
 */
record SequencePacket(long clock, long delta, byte[] info, byte[] strings, boolean isMessage, long message, byte[] request, List<Losses.Count> losses) {
    static SequencePacket read(byte[] bytes, int from, int to) throws ProtoReader.MalformedException {
        ProtoReader fields = new ProtoReader(bytes, from, to);
        long clock = 0;
        long delta = 0;
        byte[] info = null;
        byte[] strings = null;
        boolean isMessage = false;
        long message = 0;
        byte[] request = null;
        List<Losses.Count> losses = List.of();
        while (fields.next()) {
            switch (fields.field()) {
                case 104 -> {
                    isMessage = true;
                    message = idOf(fields.message());
                }
                case 6 -> clock = time(fields.message());
                case 8 -> delta = fields.varint();
                case 12 -> strings = fields.bytes();
                case 1000 -> info = fields.bytes();
                case RequestMark.REQUEST -> request = fields.bytes();
                case Losses.LOSS -> {
                    losses = losses.isEmpty() ? new ArrayList<>() : losses;
                    losses.add(Losses.Count.read(fields.field(), fields.message()));
                }
                default -> fields.skip();
            }
        }
        return new SequencePacket(clock, delta, info, strings, isMessage, message, request, losses);
    }

    /** The id of a message: its first field. */
    private static long idOf(ProtoReader message) throws ProtoReader.MalformedException {
        return message.next() && message.field() == 1 ? message.fixed64() : 0;
    }

    /** The time of a snapshot: the value of any of its clocks, as they are the same. */
    private static long time(ProtoReader snapshot) throws ProtoReader.MalformedException {
        long time = 0;
        while (snapshot.next()) {
            ProtoReader clock = snapshot.message();
            while (clock.next()) {
                if (clock.field() == 2) {
                    time = clock.varint();
                } else {
                    clock.skip();
                }
            }
        }
        return time;
    }
}
