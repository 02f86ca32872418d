package dev.protolog.internal.session;

import dev.protolog.LogLevel;
import dev.protolog.Summary;
import dev.protolog.internal.dictionary.RuntimeMessages;
import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.Outputs;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.LoggerGroup;
import dev.protolog.internal.groups.LoggerGroups;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.Cause;
import dev.protolog.internal.write.EventKey;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The files of a session's triggers: {@code app.error.20261127T220509.123Z.pftrace}, with the cause
 * and the time of the event in UTC. As {@code protolog-rt/src/session/trigger/files.rs}.
 *
 * <p>Invariants: a file appears when it is complete, and replaces none. Only what this session has
 * made is removed. One thread uses it.
 */
final class TriggerFiles {
    /** The names to try where others are taken. */
    private static final int NAMES = 100;
    /** The group's full name and tag. */
    private static final LoggerGroup GROUP = LoggerGroups.of("trigger");
    private static final DateTimeFormatter UTC = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final SessionCore session;
    private final KeptTrace trace;
    private final Location place;
    private final int keptFiles;
    private final long keptBytes;
    /** Those that this session has made, the oldest first. */
    private final Deque<Made> made = new ArrayDeque<>();

    /** A file that this session has made. */
    private record Made(String name, Object key, long bytes) {}

    /** An error if no file can be made there. */
    TriggerFiles(SessionCore session, KeptTrace trace, TriggerSettings settings) throws IOException {
        this.session = session;
        this.trace = trace;
        place = Location.of(settings.path());
        keptFiles = settings.keptFiles();
        keptBytes = settings.keptBytes();
        // The longest name that a file may get.
        OutputFile tried = Outputs.createNew(named("x".repeat(EventKey.MAX_CAUSE), System.currentTimeMillis(), "-" + Long.toHexString(System.nanoTime())));
        tried.removeAndClose();
        removeRemains();
    }

    /**
     * Writes the file of an event, which was at {@code millis} since 1970, and before which so many
     * others were suppressed.
     */
    void write(String cause, Cause.Event event, long millis, long suppressed, ChunkSource chunks) throws IOException {
        byte[] message = message(cause, event, suppressed);
        for (int number = 1;; number++) {
            Location file = named(EventKey.inName(cause), millis, number == 1 ? "" : "-" + number);
            try {
                Summary summary = trace.writeEvent(file, chunks, message);
                try (OpenDirectory directory = OpenDirectory.of(place)) {
                    FileStatus there = directory.status(file.name());
                    if (there != null) {
                        made.add(new Made(file.name(), there.key(), summary.bytes()));
                    }
                    removeOld(directory);
                }
                return;
            } catch (FileAlreadyExistsException e) {
                // Another session's of the same event, for example.
                if (number >= NAMES) {
                    throw e;
                }
            }
        }
    }

    /** Removes what killed processes have left of such files. Those that are written are locked. */
    private void removeRemains() {
        String[] parts = EarlierRuns.numbered(place.name(), "\0").split("\0", -1);
        Pattern remains = Pattern.compile(
                Pattern.quote("." + parts[0]) + "[a-z0-9-]+\\.\\d{8}T\\d{6}\\.\\d{3}Z(-\\d+)?" + Pattern.quote(parts[1]) + "\\.[0-9a-f]+\\.part");
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            for (String name : directory.names("*.part")) {
                if (remains.matcher(name).matches()) {
                    remove(place.sibling(name));
                }
            }
        } catch (IOException e) {
            // They stay.
        }
    }

    private static void remove(Location remains) {
        try {
            OutputFile held = Outputs.hold(remains, null);
            if (held != null) {
                held.removeAndClose();
            }
        } catch (IOException e) {
            // Another process writes it.
        }
    }

    private Location named(String cause, long millis, String number) {
        return place.sibling(EarlierRuns.numbered(place.name(), cause + "." + UTC.format(Instant.ofEpochMilli(millis)) + number));
    }

    private void removeOld(OpenDirectory directory) throws IOException {
        long bytes = made.stream().mapToLong(Made::bytes).sum();
        while (made.size() > keptFiles || bytes > keptBytes && made.size() > 1) {
            Made oldest = made.remove();
            bytes -= oldest.bytes;
            try {
                directory.remove(oldest.name, oldest.key);
            } catch (IOException e) {
                // That it can't be removed is no reason not to write the next one.
            }
        }
    }

    /** The message about a cause, as a packet, whose text is known to all traces from here on. */
    private byte[] message(String cause, Cause.Event event, long suppressed) {
        boolean hasProcess = event.origin() > 0;
        String template = "trigger: " + cause.replace("%", "%%") + (hasProcess ? ", of process %d" : "")
                + (suppressed == 0 ? "" : "; %d more were suppressed since its last file");
        GroupState group = Routing.of(GROUP);
        RuntimeMessage message = RuntimeMessages.of(group, LogLevel.WARN, template, null);
        ProtoWriter info = new ProtoWriter().varint(1, session.pid());
        if (event.thread() != 0) {
            info.varint(2, event.thread());
        }
        ProtoWriter packet = new ProtoWriter().varint(8, event.time()).varint(13, 1).message(1000, info);
        if (message != null) {
            // Where there are too many, the name of the file has the cause.
            ProtoWriter body = new ProtoWriter().fixed64(1, message.id());
            if (hasProcess) {
                body.varint(3, event.origin() << 1);
            }
            if (suppressed != 0) {
                body.varint(3, suppressed << 1);
            }
            packet.message(104, body);
        }
        return packet.done();
    }
}
