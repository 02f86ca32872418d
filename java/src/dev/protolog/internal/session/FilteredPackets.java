package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.RequestMark;
import java.io.IOException;
import java.util.Arrays;

/**
 * Passes the packets of one sequence on as far as messages of some requests rest on them: those
 * that lie between marks of these. As {@code protolog-rt/src/session/ring/filtered.rs}.
 *
 * <pre>{@code
 * chunk   state  [mark 7]  message  message  [mark 9]  message  [no mark]  message
 * file    state                              [mark 9]  message
 * }</pre>
 *
 * <p>A state is passed on with the first message that needs it, so a chunk without such messages
 * leaves nothing. Messages that are left out may have brought strings that later ones refer to, and
 * the times of later ones count from theirs: the mark before the next message that is passed on has
 * these strings, and the time that has passed. Slices are passed on or left out as messages are,
 * and so are records of repeats, which lie between the marks of their request.
 *
 * <p>Invariant: each message is passed on, or counted as left out.
 */
final class FilteredPackets implements PacketOutput {
    private static final int NEEDS_STATE = 2;

    private final PacketOutput out;
    private final RequestFilter filter;
    private boolean hasAny;
    /** The request of the messages that follow; 0 for none. */
    private long current;
    /** State, description of a track, and mark, until they are passed on; null for none. */
    private byte[] state;
    private byte[] track;
    private byte[] mark;
    /** Nanoseconds from the last packet that was passed on to the last one that was left out. */
    private long passed;
    /** The strings of packets that were left out. */
    private final ProtoWriter strings = new ProtoWriter();

    FilteredPackets(PacketOutput out, RequestFilter filter) {
        this.out = out;
        this.filter = filter;
    }

    /** The parts of a packet that decide. */
    private static final class Parts {
        boolean isState;
        boolean isMark;
        boolean isMessage;
        boolean isSlice;
        boolean isTrack;
        boolean isEnd;
        boolean hasLosses;
        boolean isOfRepeats;
        long request;
        long time;
        byte[] strings = {};

        static Parts of(byte[] bytes, int from, int length) throws IOException {
            Parts parts = new Parts();
            try {
                ProtoReader fields = new ProtoReader(bytes, from, from + length);
                while (fields.next()) {
                    parts.read(fields);
                }
            } catch (ProtoReader.MalformedException e) {
                throw new IOException(e);
            }
            return parts;
        }

        private void read(ProtoReader fields) throws ProtoReader.MalformedException {
            switch (fields.field()) {
                case 8 -> time = fields.varint();
                case 12 -> strings = fields.bytes();
                case RequestMark.REQUEST -> {
                    isMark = true;
                    ProtoReader named = fields.message();
                    while (named.next()) {
                        if (named.field() == RequestMark.NUMBER) {
                            request = named.varint();
                        } else {
                            named.skip();
                        }
                    }
                }
                case Losses.LOSS -> {
                    hasLosses = true;
                    isOfRepeats |= Losses.Count.read(Losses.LOSS, fields.message()).message() != 0;
                }
                default -> {
                    isState |= fields.field() == 6;
                    isSlice |= fields.field() == 11;
                    isEnd |= fields.field() == 44;
                    isTrack |= fields.field() == 60;
                    isMessage |= fields.field() == 104;
                    hasLosses |= fields.field() == Losses.PASSED_OVER;
                    fields.skip();
                }
            }
        }
    }

    @Override
    public void packet(int sequence, byte[] bytes, int from, int length) throws IOException {
        Parts parts = Parts.of(bytes, from, length);
        if (parts.isMark) {
            current = parts.request;
            mark = Arrays.copyOfRange(bytes, from, from + length);
        } else if (parts.isMessage || parts.isSlice) {
            if (filter.isWanted(current)) {
                passOnBefore(sequence, parts.isSlice);
                out.packet(sequence, bytes, from, length);
                hasAny = true;
            } else {
                leaveOut(parts);
            }
        } else if (parts.isState) {
            state = Arrays.copyOfRange(bytes, from, from + length);
            if (parts.hasLosses) {
                out.packet(sequence, state);
                state = null;
            }
            current = 0;
            mark = null;
            forgetLeftOut();
        } else if (parts.isTrack) {
            // It holds for the chunk, whatever state comes in between.
            track = Arrays.copyOfRange(bytes, from, from + length);
        } else if (parts.isOfRepeats ? filter.isWanted(current) : hasAny || !parts.isEnd || parts.hasLosses) {
            // Messages that are missing, and the end.
            out.packet(sequence, bytes, from, length);
        }
    }

    /** Passes on what the next packet rests on. */
    private void passOnBefore(int sequence, boolean isSlice) throws IOException {
        if (state != null) {
            out.packet(sequence, state);
            state = null;
        }
        if (isSlice && track != null) {
            out.packet(sequence, track);
            track = null;
        }
        if (mark == null) {
            return;
        }
        ProtoWriter packet = new ProtoWriter().raw(mark, 0, mark.length);
        if (strings.size() > 0) {
            packet.message(12, strings);
        }
        if (passed > 0 || strings.size() > 0) {
            packet.varint(13, NEEDS_STATE).varint(8, passed);
        }
        out.packet(sequence, packet.done());
        mark = null;
        forgetLeftOut();
    }

    private void leaveOut(Parts parts) {
        if (parts.isMessage) {
            filter.leaveOut();
        }
        passed += parts.time;
        strings.raw(parts.strings, 0, parts.strings.length);
    }

    private void forgetLeftOut() {
        passed = 0;
        strings.clear();
    }

    @Override
    public long packetBytes() {
        return out.packetBytes();
    }
}
