package dev.protolog.internal.session;

import dev.protolog.Summary;
import dev.protolog.internal.files.Claims;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.OutputRules;
import dev.protolog.internal.files.Outputs;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Sequence;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes a trace of the messages that a session keeps in its ring.
 *
 * <p>Invariants: the file appears whole, or not at all; it is its owner's only. It replaces none
 * that somebody writes or is going to write. The rules of {@link OutputRules} hold for its path
 * when the session starts, and again, in the directory that was found then, when it is written.
 */
final class KeptTrace {
    /** The sequence of messages about triggers, behind those of all writers. */
    private static final int CAUSE_SEQUENCE = 1 << 17;

    private final SessionCore session;
    private final BootClock.Moment started;
    private final int compression;
    private final EarlierRuns.Earlier earlier;
    /** The session's own file; null for none. */
    private final Own own;
    /** The trace that is written now, or was last. */
    private volatile OutputFile written;
    /** Those of the last trace. */
    private SessionStats stats = new SessionStats(0, 0, 0, List.of());

    /** {@code own} is the result of {@link #claim}; null for none. */
    KeptTrace(SessionCore session, BootClock.Moment started, int compression, EarlierRuns.Earlier earlier, Own own) {
        this.earlier = earlier;
        this.session = session;
        this.compression = compression;
        this.started = started;
        this.own = own;
    }

    /**
     * A file that is to be written at the end, and the claim on its name; null for a file that is
     * written as it is.
     */
    record Own(Location place, Claims.Claim claim) implements AutoCloseable {
        /** Gives the claim up. It may be given up again. */
        @Override
        public void close() {
            if (claim != null) {
                claim.close();
            }
        }
    }

    /**
     * Claims the name of a file that is to be written at the end. An error if it could not be
     * written now.
     */
    static Own claim(Path file) throws IOException {
        Location place = Location.of(file);
        if (Outputs.isStream(place, null)) {
            return new Own(place, null);
        }
        Claims.Claim claim = Claims.name(place);
        try {
            release(Outputs.hold(place, claim));
            OutputFile part = Outputs.create(partOf(place));
            part.removeAndClose();
            return new Own(place, claim);
        } catch (IOException | RuntimeException | Error e) {
            claim.close();
            throw e;
        }
    }

    /**
     * What a trace has.
     *
     * @param chunks these; null for all that there are
     * @param event the messages about an event; none for a trace of the session
     * @param filter the requests whose messages it has; null for all messages
     */
    record Contents(ChunkSource chunks, List<byte[]> event, RequestFilter filter) {
        private static final Contents ALL = new Contents(null, List.of(), null);
    }

    /** Gives the claim up. */
    void close() {
        if (own != null) {
            own.close();
        }
    }

    /**
     * The messages that are kept now, or that the last trace has once the session is over, and
     * those that are not.
     */
    SessionStats stats() throws IOException {
        return session.isStopped() ? stats : count();
    }

    /** Those of a trace that would be written now. */
    SessionStats count() throws IOException {
        write(null, new TraceOutput(OutputStream.nullOutputStream(), 0), session.total(), Contents.ALL);
        return stats;
    }

    /** Writes a trace of the present messages to a file. */
    Summary writeTo(Path file) throws IOException {
        return write(Location.of(file), false);
    }

    /**
     * Writes the session's own file. {@code staysOpen}: the program is ending, and messages that
     * come after the end are counted in the file.
     */
    Summary writeOwn(boolean staysOpen) throws IOException {
        return write(own.place, staysOpen);
    }

    private Summary write(Location place, boolean staysOpen) throws IOException {
        Path file = place.path();
        Claims.Claim claim = own == null ? null : own.claim;
        if (Outputs.isStream(place, claim)) {
            try (OutputFile out = Outputs.openEmpty(place)) {
                written = out;
                return write(file, out, session.total(), Contents.ALL);
            }
        }
        // It stays open, so that a file made there can be removed after any error.
        OpenDirectory directory = OpenDirectory.keep(place);
        try {
            return replace(place, claim, staysOpen);
        } finally {
            directory.close();
        }
    }

    /**
     * Writes the file of a trigger, which gets its name, which is free, when it is complete.
     *
     * @throws FileAlreadyExistsException if the name is taken
     */
    Summary writeEvent(Location place, Contents contents) throws IOException {
        try (OpenDirectory directory = OpenDirectory.keep(place); OutputFile part = Outputs.createNew(partOf(place))) {
            if (directory.status(place.name()) != null) {
                part.remove();
                throw new FileAlreadyExistsException(place.path().toString());
            }
            try {
                Summary summary = write(place.path(), part, session.total(), contents);
                part.rename(place.name());
                return summary;
            } catch (IOException | RuntimeException | Error e) {
                part.remove();
                throw e;
            }
        }
    }

    private Summary replace(Location place, Claims.Claim claim, boolean staysOpen) throws IOException {
        Path file = place.path();
        OutputFile part = Outputs.create(partOf(place));
        boolean isLeftOpen = false;
        try {
            try {
                written = part;
                Losses total = session.total();
                Summary summary = write(file, part, total, Contents.ALL);
                if (own != null && place == own.place) {
                    EarlierRuns.keep(place, claim, earlier);
                }
                OutputFile replaced = Outputs.hold(place, claim);
                try {
                    if (!part.moveTo(place.name())) {
                        throw new NoSuchFileException(part.path().toString(), null, "somebody has removed it");
                    }
                } finally {
                    release(replaced);
                }
                if (staysOpen) {
                    isLeftOpen = true;
                    session.countAfter(new AfterEnd(session, part, total));
                }
                return summary;
            } finally {
                part.remove();
            }
        } finally {
            if (!isLeftOpen) {
                part.close();
            }
        }
    }

    /** The bytes of the trace that is written now, for other threads. */
    long progress() {
        OutputFile now = written;
        return now == null ? 0 : now.written();
    }

    private Summary write(Path file, OutputFile to, Losses total, Contents contents) throws IOException {
        TraceOutput trace = new TraceOutput(to.out(), compression);
        try {
            return write(file, trace, total, contents);
        } finally {
            trace.end();
        }
    }

    private static void release(OutputFile held) throws IOException {
        if (held != null) {
            held.close();
        }
    }

    /** A name beside a file that nobody can know in advance. */
    private static Location partOf(Location place) {
        String random = Long.toHexString(new SecureRandom().nextLong());
        return place.sibling("." + place.name() + "." + random + ".part");
    }

    /** {@code total} has the losses so far. */
    private Summary write(Path file, TraceOutput out, Losses total, Contents contents) throws IOException {
        int pid = session.pid();
        // Counted before the chunks are copied, so that a message that is logged meanwhile is not
        // taken for a lost one.
        Map<Integer, Long> counted = new TreeMap<>();
        // Repeats that no packet of a chunk reports.
        Map<Integer, List<Losses.Count>> repeats = new TreeMap<>();
        for (Sequence sequence : session.sequences()) {
            counted.put(sequence.id, sequence.counted);
            repeats.put(sequence.id, contents.filter != null || sequence.unreported() == null ? List.of() : sequence.unreported().repeats());
        }
        Losses reported = new Losses();
        List<Losses.Count> losses = total.all();
        ChunkSource chunks = contents.chunks != null ? contents.chunks : new KeptChunks(session);
        // After the chunks: the dictionary has all that they have.
        out.own(TracePackets.clocks(started));
        for (byte[] packet : session.packets()) {
            out.own(packet);
        }
        out.own(TracePackets.instant(pid, started.boottime(), "protolog session started"));
        for (byte[] message : contents.event) {
            out.packet(CAUSE_SEQUENCE, message);
        }
        RequestFilter filter = contents.filter;
        SessionStats.Written written = new SessionStats.Written(session.dictionary());
        long messages = 0;
        long overwritten = 0;
        long damaged = 0;
        for (Map.Entry<Integer, List<CommittedChunk>> each : chunks.byWriter().entrySet()) {
            PacketOutput to = filter == null ? out : new FilteredPackets(out, filter);
            SequenceReader reader = new SequenceReader(each.getKey(), pid, to, written, false);
            for (CommittedChunk chunk : each.getValue()) {
                byte[] bytes = chunks.bytes(chunk);
                // Else it was overwritten meanwhile, and is counted as all that was before.
                if (bytes != null) {
                    reader.read(chunk, bytes);
                }
            }
            reader.end(Losses.Pending.of(repeats.getOrDefault(each.getKey(), List.of())));
            reader.reported().all().stream().filter(loss -> loss.cause() == LossCause.REPEATED).forEach(loss -> loss.addTo(reported));
            messages += reader.recorded();
            overwritten += reader.messages() - reader.recorded() - reader.damaged();
            damaged += reader.damaged();
            counted.computeIfPresent(each.getKey(), (id, all) -> Math.max(0, all - reader.messages()));
        }
        if (filter != null) {
            messages -= filter.leftOut();
            out.own(filter.report());
            out.packet(CAUSE_SEQUENCE, filter.note());
        }
        // Their chunks are gone, and no newer one of their writer says so.
        long vanished = counted.values().stream().mapToLong(Long::longValue).sum();
        writeLosses(out, total.without(reported), vanished);
        BootClock.Moment now = session.clock().moment();
        out.own(TracePackets.clocks(now));
        SessionCore pinned = session.pinned();
        out.own(TracePackets.stats(session.buffer().stats(), pinned == null ? null : pinned.buffer().stats()));
        out.own(TracePackets.instant(pid, now.boottime(), contents.event.isEmpty() ? "protolog session ended" : "protolog session goes on"));
        long lost = overwritten + vanished + damaged;
        for (Losses.Count loss : losses) {
            lost += loss.cause().isLost() ? loss.count() : 0;
        }
        out.flush();
        if (damaged > 0) {
            losses.add(new Losses.Count(0, LossCause.WRITE_FAILED, damaged));
        }
        stats = written.stats(losses, overwritten + vanished, out.written());
        return new Summary(file, messages, lost, out.written(), stats.passedOver(), stats.repeated());
    }

    private void writeLosses(TraceOutput out, List<Losses.Count> losses, long vanished) throws IOException {
        if (losses.isEmpty() && vanished == 0) {
            return;
        }
        ProtoWriter packet = new ProtoWriter().varint(8, session.clock().now());
        losses.forEach(loss -> loss.write(packet));
        if (vanished > 0) {
            new Losses.Count(0, LossCause.OVERWRITTEN, vanished).write(packet);
        }
        out.own(packet.done());
    }
}
