package dev.protolog.internal.perfetto;

import dev.protolog.internal.session.ForwardedSession;
import dev.protolog.internal.session.KeptMessages;
import dev.protolog.internal.write.CommittedChunk;
import java.io.IOException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A session of the service that records this process: its chunks on their way, and its dictionary.
 *
 * <p>Each chunk of the session's buffer goes to the service as it is, so that it decodes alone
 * there as well. A chunk that is still being written goes as far as it is committed, and again when
 * there is more of it.
 *
 * <p>Invariants: the chunks of a sequence go in order. What the service has of a chunk never
 * changes, and its count never falls. The text of a message goes before it, also after an error out
 * of memory.
 */
final class Instance {
    /**
     * A ring has the dictionary as long as it has room for so many times its size since it was
     * written last.
     */
    private static final long HEAD_PART = 8;
    /** The least number of bytes between two dictionaries. */
    private static final long MIN_DISTANCE = 32 * 1024;
    /** The longest that the end looks for more, in nanoseconds. */
    private static final long LONGEST_END = TimeUnit.SECONDS.toNanos(3);

    final long id;
    final ForwardedSession session;
    private final int target;
    private final Outlet outlet;
    /** The sequence of packets that are no thread's. */
    private final ServiceWriter own;
    private final Map<Integer, ServiceWriter> sequences = new TreeMap<>();
    /** The size of description and dictionary. */
    private long head;
    /** Bytes of chunks since they were written last. */
    private long sinceHead;
    /** Entries of the dictionary were taken, and an error came before they were written. */
    private boolean isHeadDue;
    /** The messages that were logged before the last look. */
    private long seen = -1;
    /** Messages from before the session; null for none. */
    private volatile KeptMessages kept;
    /** Sequences for which there is no writer: all of them is lost. */
    private final Set<Integer> refused = new HashSet<>();
    /**
     * The messages in the request that is not sent yet, and the requests before it. Read by who
     * waits for the end, too.
     */
    private volatile long unsent;
    private volatile long requests;

    private Instance(long id, int target, ForwardedSession session, Outlet outlet, ServiceWriter own) {
        this.id = id;
        this.target = target;
        this.session = session;
        this.outlet = outlet;
        this.own = own;
        session.setUnsent(this::held);
    }

    /**
     * Starts to record.
     *
     * @throws IOException if the connection is over
     */
    static Instance start(long id, int target, ForwardedSession session, Outlet outlet, ServiceWriter own) throws IOException {
        Instance instance = new Instance(id, target, session, outlet, own);
        instance.writeHead();
        outlet.write(own, List.of(session.instant("protolog session started")));
        return instance;
    }

    /**
     * Passes on all complete chunks, and with {@code unfinishedToo} the committed part of those
     * that are being written. True if there was anything.
     */
    boolean forward(boolean unfinishedToo) throws IOException {
        if (unfinishedToo) {
            session.sweep();
        }
        List<CommittedChunk> chunks = session.find(unfinishedToo);
        writeNewEntries();
        boolean hasForwarded = false;
        for (CommittedChunk chunk : chunks) {
            ServiceWriter writer = writer(chunk.writer());
            boolean isKnown = writer != null && !chunk.isComplete() && (chunk.count() == 0 || chunk.packets() == writer.sent);
            if (isKnown) {
                continue;
            }
            byte[] bytes = session.bytes(chunk);
            if (writer == null) {
                session.lose(chunk, bytes);
                if (chunk.isComplete()) {
                    session.free(chunk);
                }
                continue;
            }
            long messages = session.count(chunk, bytes);
            addUnsent(messages);
            // Before the chunk goes: all that it names.
            writeNewEntries();
            keepUnsent(messages);
            outlet.chunk(writer, chunk.packets(), bytes, bytes.length, chunk.isComplete());
            keepUnsent(messages);
            if (chunk.isComplete()) {
                session.free(chunk);
                sinceHead += bytes.length;
            }
            hasForwarded = true;
        }
        if (sinceHead > Math.max(HEAD_PART * head, MIN_DISTANCE)) {
            writeHead();
        }
        return hasForwarded;
    }

    /** The messages that the session has passed on, and that the service does not have. */
    private long held() {
        KeptMessages rest = kept;
        return unsent() + (rest == null ? 0 : rest.missing());
    }

    /** The messages that were passed on to the outlet, and that it has not sent yet. */
    private long unsent() {
        return outlet.requests() == requests ? unsent : 0;
    }

    /** Counts messages again, if the outlet has sent only what it had before them. */
    private void keepUnsent(long messages) {
        if (unsent() == 0) {
            addUnsent(messages);
        }
    }

    private void addUnsent(long messages) {
        unsent = unsent() + messages;
        requests = outlet.requests();
    }

    /**
     * Passes on the messages of a session that has kept them until now, those that this one
     * records.
     */
    void take(ForwardedSession startup) throws IOException {
        kept = session.take(startup);
        Map<Integer, ServiceWriter> writers = new TreeMap<>();
        kept.passOn(startup.find(true), (sequence, packets, messages) -> {
            ServiceWriter writer = writers.get(sequence);
            if (writer == null) {
                writer = outlet.register(target);
                if (writer == null) {
                    // It is not asked for again: ids are given back with the end of a session.
                    return false;
                }
                writers.put(sequence, writer);
            }
            writeNewEntries();
            outlet.write(writer, packets);
            addUnsent(messages);
            return true;
        });
        for (ServiceWriter writer : writers.values()) {
            outlet.unregister(writer);
        }
        reportKept();
    }

    private void reportKept() throws IOException {
        byte[] losses = kept == null ? null : session.report(kept);
        if (losses != null) {
            outlet.write(own, List.of(losses));
        }
    }

    /**
     * Ends the session where nobody takes its messages any more. Returns the number of those that
     * are lost with it.
     */
    long abandon() {
        try {
            session.stopWriters();
            return session.missing() + held();
        } finally {
            session.finish();
        }
    }

    /** As above with {@code unfinishedToo}, if there can be anything. */
    boolean look() throws IOException {
        long now = session.messages();
        boolean hasForwarded = now != seen && forward(true);
        seen = now;
        return hasForwarded;
    }

    /**
     * Passes on all that was logged before the call, and with {@code withHead} the dictionary in
     * full.
     */
    void flush(boolean withHead) throws IOException {
        forward(true);
        if (!withHead) {
            return;
        }
        for (Map.Entry<Integer, ServiceWriter> each : sequences.entrySet()) {
            byte[] repeats = session.newRepeats(each.getKey());
            if (repeats != null) {
                outlet.write(each.getValue(), List.of(repeats));
            }
        }
        byte[] losses = session.newLosses();
        if (losses != null) {
            outlet.write(own, List.of(losses));
        }
        writeHead();
    }

    /** Writes what every reader needs, in full: the process, the session, the dictionary. */
    void writeHead() throws IOException {
        isHeadDue = true;
        head = 0;
        sinceHead = 0;
        writeEntries(List.of(session.description()));
        writeEntries(session.entries());
        isHeadDue = false;
    }

    /** Writes what the dictionary has that was in no packet before. */
    private void writeNewEntries() throws IOException {
        if (isHeadDue) {
            writeHead();
            return;
        }
        isHeadDue = true;
        writeEntries(session.newEntries());
        isHeadDue = false;
    }

    /** Ends the session, and passes on all of it. After an error as of {@link #complete}. */
    void stop() throws IOException {
        complete();
        outlet.unregister(own);
        session.finish();
    }

    /**
     * Passes on all of the session, to which nothing comes any more. After an error out of memory
     * or of stack it can be done again.
     */
    private void complete() throws IOException {
        session.stopWriters();
        long begun = System.nanoTime();
        while (forward(true) && System.nanoTime() - begun < LONGEST_END) {
            // Threads that were within a message may have finished it.
        }
        for (Iterator<Map.Entry<Integer, ServiceWriter>> all = sequences.entrySet().iterator(); all.hasNext();) {
            Map.Entry<Integer, ServiceWriter> each = all.next();
            outlet.close(each.getValue());
            byte[] end = session.sequenceEnd(each.getKey());
            if (end != null) {
                outlet.write(each.getValue(), List.of(end));
            }
            outlet.unregister(each.getValue());
            all.remove();
        }
        reportKept();
        byte[] losses = session.lastLosses();
        if (losses != null) {
            outlet.write(own, List.of(losses));
        }
        writeHead();
        outlet.write(own, List.of(session.instant("protolog session stopped")));
    }

    /**
     * Passes on all of a session of a program that is ending. Messages that come later are counted:
     * see {@link #reportLate}.
     */
    void stopAtExit() throws IOException {
        complete();
        outlet.commit(0);
        session.complete();
    }

    /** Reports messages that came after the end. */
    void reportLate() throws IOException {
        byte[] losses = session.lastLosses();
        if (losses != null) {
            outlet.write(own, List.of(losses));
        }
    }

    private void writeEntries(List<byte[]> packets) throws IOException {
        if (!packets.isEmpty()) {
            outlet.write(own, packets);
            head += packets.stream().mapToLong(packet -> packet.length).sum();
        }
    }

    /** The writer of a sequence, a new one if need be; null where there can be no more. */
    private ServiceWriter writer(int sequence) throws IOException {
        ServiceWriter known = sequences.get(sequence);
        if (known == null && !refused.contains(sequence)) {
            known = outlet.register(target);
            if (known == null) {
                refused.add(sequence);
            } else {
                sequences.put(sequence, known);
            }
        }
        return known;
    }
}
