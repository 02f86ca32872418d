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
import dev.protolog.internal.write.FailedRequest;
import dev.protolog.internal.write.FailedRequests;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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
    /** The field of interned data with strings of messages. */
    private static final int STRINGS = 36;
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
     * others were suppressed; with {@code failed} the messages of these requests alone.
     */
    void write(String cause, Cause.Event event, long millis, long suppressed, ChunkSource chunks, FailedRequests.Taken failed) throws IOException {
        List<byte[]> messages = new ArrayList<>(List.of(message(cause, event, suppressed)));
        if (failed != null) {
            failed.all().forEach(each -> messages.add(message(each)));
            note(event, 0, failed.more());
        }
        for (int number = 1;; number++) {
            // One that counts what this attempt leaves out.
            RequestFilter filter = failed == null ? null : new RequestFilter(failed.all(), leftOut -> note(event, leftOut, failed.more()));
            KeptTrace.Contents contents = new KeptTrace.Contents(chunks, messages, filter);
            Location file = named(EventKey.inName(cause), millis, number == 1 ? "" : "-" + number);
            try {
                Summary summary = trace.writeEvent(file, contents);
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

    private byte[] message(String cause, Cause.Event event, long suppressed) {
        boolean hasProcess = event.origin() > 0;
        String template = "trigger: " + cause.replace("%", "%%") + (hasProcess ? ", of process %d" : "")
                + (suppressed == 0 ? "" : "; %d more were suppressed since its last file");
        List<Object> args = new ArrayList<>();
        if (hasProcess) {
            args.add(event.origin());
        }
        if (suppressed != 0) {
            args.add(suppressed);
        }
        return message(template, event.time(), event.thread(), args);
    }

    /** The message about a request that failed. */
    private byte[] message(FailedRequest failed) {
        return message("trigger: request %s failed: %s", failed.time(), failed.thread(), List.of(failed.id(), failed.reason()));
    }

    /**
     * The message that says how many messages of others a file leaves out, and how many requests
     * there was no room for.
     */
    private byte[] note(Cause.Event event, long leftOut, long requests) {
        String template = "trigger: %d messages of other requests are left out" + (requests == 0 ? "" : "; %d more requests failed, and are in no file");
        return message(template, event.time(), event.thread(), requests == 0 ? List.of(leftOut) : List.of(leftOut, requests));
    }

    /**
     * A message with integers, or with texts, as a packet that needs none before it. Its text is
     * known to all traces from here on.
     */
    private byte[] message(String template, long time, int thread, List<Object> args) {
        GroupState group = Routing.of(GROUP);
        RuntimeMessage message = RuntimeMessages.of(group, LogLevel.WARN, template, null);
        ProtoWriter info = new ProtoWriter().varint(1, session.pid());
        if (thread != 0) {
            info.varint(2, thread);
        }
        ProtoWriter packet = new ProtoWriter().varint(8, time).varint(13, 1).message(1000, info);
        if (message == null) {
            // Where there are too many, the name of the file has the cause.
            return packet.done();
        }
        ProtoWriter strings = new ProtoWriter();
        ProtoWriter body = new ProtoWriter().fixed64(1, message.id());
        int iid = 0;
        for (Object arg : args) {
            if (arg instanceof Long number) {
                body.varint(3, number << 1);
            } else {
                strings.message(STRINGS, new ProtoWriter().varint(1, ++iid).string(2, (String) arg));
                body.varint(2, iid);
            }
        }
        if (iid > 0) {
            packet.message(12, strings);
        }
        return packet.message(104, body).done();
    }
}
