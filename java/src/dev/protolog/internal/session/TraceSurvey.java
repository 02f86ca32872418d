package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoReader;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * A look through a trace: the id of its session, the name of its program, and whether the session
 * was ended. As {@code protolog-recording/src/scan.rs}.
 *
 * <p>Invariants: any bytes can be surveyed; a packet that is cut off or too large ends the survey.
 */
public final class TraceSurvey {
    /** The names of the events that end a session, in Rust and in Java. */
    static final String STOPPED = "protolog session stopped";
    static final String ENDED = "protolog session ended";
    private static final int PACKET = 0x0a;
    /** The first byte of a message's packet. */
    private static final int TIMESTAMP = 0x40;
    private static final int TRACK_EVENT = 11;
    private static final int COMPRESSED_PACKETS = 50;
    private static final int TRACK_DESCRIPTOR = 60;
    private static final int MESSAGE = 104;
    private static final int SEQUENCE_INFO = 1000;
    private static final int LOSS = 1001;
    private static final int FOR_UI = 1002;
    /** The largest packet that is looked into, before and after it is inflated, in bytes. */
    private static final int MAX_PACKET = 16 << 20;

    private final boolean isOfHead;
    private byte[] sessionId = {};
    private String program;
    private boolean hasEnd;

    private TraceSurvey(boolean isOfHead) {
        this.isOfHead = isOfHead;
    }

    /** Surveys a trace; {@code isOfHead}: as far as the id of its session. */
    static TraceSurvey of(InputStream trace, boolean isOfHead) throws IOException {
        TraceSurvey survey = new TraceSurvey(isOfHead);
        survey.read(new BufferedInputStream(trace, 1 << 16), 0);
        return survey;
    }

    /** The id of the session that wrote it, 16 bytes; empty if it has none. */
    byte[] sessionId() {
        return sessionId;
    }

    /** The name of the process, as it was called; null if it is not known. */
    String program() {
        return program;
    }

    /** True if the session that wrote it was ended by its program. */
    boolean hasEnd() {
        return hasEnd;
    }

    private boolean isDone() {
        return isOfHead && sessionId.length > 0;
    }

    private void read(InputStream trace, int depth) throws IOException {
        try {
            while (!isDone() && trace.read() == PACKET) {
                long length = length(trace);
                if (length > MAX_PACKET) {
                    return;
                }
                byte[] packet = trace.readNBytes((int) length);
                if (packet.length < length) {
                    return;
                }
                packet(packet, depth);
            }
        } catch (EOFException | ProtoReader.MalformedException e) {
            // What came before counts.
        }
    }

    private void packet(byte[] packet, int depth) throws IOException, ProtoReader.MalformedException {
        if (packet.length > 0 && packet[0] == TIMESTAMP && !has(packet, LOSS)) {
            boolean isMessage = has(packet, MESSAGE);
            // A packet for Perfetto's UI only may follow the end.
            if (isMessage || !has(packet, FOR_UI)) {
                hasEnd = !isMessage && isEnd(packet);
            }
            return;
        }
        ProtoReader fields = new ProtoReader(packet);
        while (fields.next()) {
            switch (fields.field()) {
                case COMPRESSED_PACKETS -> {
                    byte[] bundle = fields.bytes();
                    if (depth == 0) {
                        read(new ByteArrayInputStream(inflated(bundle)), 1);
                    }
                }
                case SEQUENCE_INFO -> addInfo(fields.message());
                case TRACK_DESCRIPTOR -> addTrack(fields.message());
                default -> fields.skip();
            }
        }
    }

    private void addInfo(ProtoReader info) throws ProtoReader.MalformedException {
        while (info.next()) {
            if (info.field() == 7) {
                byte[] id = info.bytes();
                sessionId = id.length == 16 ? id : sessionId;
            } else {
                info.skip();
            }
        }
    }

    /** Learns the name of the process; that of the first one counts. */
    private void addTrack(ProtoReader track) throws ProtoReader.MalformedException {
        while (track.next()) {
            if (track.field() != 3 || program != null) {
                track.skip();
                continue;
            }
            ProtoReader process = track.message();
            while (process.next()) {
                if (process.field() == 6) {
                    program = process.string();
                } else {
                    process.skip();
                }
            }
        }
    }

    /** True if a packet is the event that ends a session. */
    private static boolean isEnd(byte[] packet) throws ProtoReader.MalformedException {
        ProtoReader fields = new ProtoReader(packet);
        while (fields.next()) {
            if (fields.field() != TRACK_EVENT) {
                fields.skip();
                continue;
            }
            ProtoReader event = fields.message();
            while (event.next()) {
                if (event.field() != 23) {
                    event.skip();
                    continue;
                }
                String name = event.string();
                if (name.equals(STOPPED) || name.equals(ENDED)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean has(byte[] packet, int field) throws ProtoReader.MalformedException {
        ProtoReader fields = new ProtoReader(packet);
        while (fields.next()) {
            if (fields.field() == field) {
                return true;
            }
            fields.skip();
        }
        return false;
    }

    private static long length(InputStream trace) throws IOException {
        long length = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            int next = trace.read();
            if (next < 0) {
                throw new EOFException();
            }
            length |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return length;
            }
        }
        throw new EOFException();
    }

    /** The packets of a bundle, as far as they are sound. */
    public static byte[] inflated(byte[] bundle) {
        Inflater inflater = new Inflater();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[1 << 16];
        try {
            inflater.setInput(bundle);
            while (!inflater.finished() && out.size() < MAX_PACKET) {
                int length = inflater.inflate(part);
                if (length == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    break;
                }
                out.write(part, 0, length);
            }
        } catch (DataFormatException e) {
            // What came before counts.
        } finally {
            inflater.end();
        }
        return out.toByteArray();
    }
}
