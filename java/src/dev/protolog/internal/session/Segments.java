package dev.protolog.internal.session;

import dev.protolog.internal.files.Claims;
import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.Outputs;
import dev.protolog.internal.write.CommittedChunk;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A trace in several files, one after the other: their names, when the next one begins, and which
 * old ones are removed. Names are those of {@code protolog-rt/src/session/file/segments.rs}:
 * {@code app.pftrace} becomes {@code app.0001.pftrace}, {@code app.0002.pftrace} and so on, the
 * last one with {@code .part} after it until it is complete.
 *
 * <p>Invariants: numbers count up over all runs of the program. Files of other users are not read,
 * and their numbers count for nothing but that their names are taken: a user who may put files
 * there can have taken the highest one. A name without {@code .part} is that of a complete file.
 * Only files whose names have this form, and that say that they are segments, are ever removed: the
 * number in another one's name may be that of a process, or a date. An empty one with {@code .part}
 * is one, too: its program died before it wrote.
 */
public final class Segments implements AutoCloseable {
    private static final String PART = ".part";
    private static final Pattern NUMBER = Pattern.compile("\\.([0-9]{4,18})");
    /**
     * Room for the end of a trace, in bytes, for each sequence in it, and for the growth of a
     * packet on its way.
     */
    private static final int TRAILER = 1024;
    private static final int SEQUENCE_TRAILER = 160;
    private static final int GROWTH = 6;

    private final Location place;
    private final Limits limits;
    private final int compression;
    private final Claims.Claim claim;
    /** The directory, open as long as files are made there. */
    private final OpenDirectory directory;
    /** The names of segments that are there once they are complete, the oldest first. */
    private final Deque<String> old;
    /** Numbers of files of others, which are taken. */
    private final Set<Long> taken;
    private long next;
    /** The number of the first one of this session. */
    private final long first;
    private long begun = System.nanoTime();
    /** Why a complete one has no name; null for none. */
    private IOException nameless;
    /** The file that is being made; null for none. */
    private Location unfinished;

    /**
     * The most bytes and the longest time of a segment, in nanoseconds, and the number of complete
     * ones that are kept; 0 for no limit.
     */
    public record Limits(long bytes, long ageNanos, int keep) {
        static final Limits NONE = new Limits(0, 0, 0);

        boolean areAny() {
            return bytes != 0 || ageNanos != 0 || keep != 0;
        }
    }

    private Segments(
            Location place, Limits limits, int compression, OpenDirectory directory, TreeMap<Long, String> known, Set<Long> taken) throws IOException {
        this.place = place;
        this.limits = limits;
        this.compression = compression;
        this.directory = directory;
        claim = Claims.segments(place);
        old = new ArrayDeque<>(known.values());
        this.taken = taken;
        next = known.isEmpty() ? 1 : known.lastKey() + 1;
        first = next;
    }

    /** Claims the segments of a place for a session, and finds those that exist. */
    static Segments of(Location place, Limits limits, int compression) throws IOException {
        TreeMap<Long, String> known = new TreeMap<>();
        Set<Long> taken = new HashSet<>();
        OpenDirectory directory = OpenDirectory.keep(place);
        try {
            for (String file : directory.names("*")) {
                long number = number(place.name(), file);
                if (number < 0) {
                    continue;
                } else if (SegmentHead.isOf(place.name(), directory, file)) {
                    known.put(number, name(place.name(), number));
                } else {
                    taken.add(number);
                }
            }
            return new Segments(place, limits, compression, directory, known, taken);
        } catch (IOException | RuntimeException | Error e) {
            directory.close();
            throw e;
        }
    }

    /**
     * Creates the next segment, and then removes those that are too old to be kept beside it: where
     * none can be created, all stay.
     */
    TraceFile open() throws IOException {
        TraceFile file = create();
        try {
            removeOld();
            return file;
        } catch (RuntimeException | Error e) {
            abandon(file);
            throw e;
        }
    }

    /**
     * Removes the oldest ones. Those that earlier runs left incomplete are counted apart, as long
     * as they are newer than a complete one that is kept: runs that die soon take no complete one
     * away.
     */
    private void removeOld() {
        if (limits.keep == 0) {
            return;
        }
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            removeOld(directory);
        } catch (IOException e) {
            // They stay.
        }
    }

    private void removeOld(OpenDirectory directory) throws IOException {
        int complete = limits.keep;
        int parts = limits.keep;
        Iterator<String> names = old.descendingIterator();
        // The one that begins. The one before is still being finished, so it stays even if none is
        // to be kept.
        names.next();
        while (names.hasNext()) {
            String name = names.next();
            boolean isPart = number(place.name(), name) < first && directory.status(name) == null;
            if (complete == 0 || isPart && parts == 0) {
                names.remove();
                removeSegment(directory, name);
                removeSegment(directory, part(name));
            } else if (isPart) {
                parts--;
            } else {
                complete--;
            }
        }
    }

    private TraceFile create() throws IOException {
        while (true) {
            String name = name(place.name(), nextFree());
            Location part = place.sibling(part(name));
            unfinished = part;
            try {
                Location complete = place.sibling(name);
                TraceFile file = TraceFile.createNew(part, complete, compression);
                note(name, file);
                begun = System.nanoTime();
                unfinished = null;
                return file;
            } catch (FileAlreadyExistsException e) {
                // Another process uses the same path.
                unfinished = null;
            }
        }
    }

    /** Adds a new segment to those that there are; without memory for that, it is none. */
    private void note(String name, TraceFile file) throws IOException {
        try {
            old.add(name);
        } catch (RuntimeException | Error e) {
            file.remove();
            throw e;
        }
    }

    /**
     * Removes a segment that an error of the JVM interrupted {@link #open} at, unless a process
     * writes it.
     */
    void removeUnfinished() throws IOException {
        Location part = unfinished;
        if (part != null) {
            removeEmpty(part.name());
        }
        unfinished = null;
    }

    /** Removes the newest segment, in which nothing is yet. */
    void abandon(TraceFile file) throws IOException {
        file.remove();
        old.pollLast();
    }

    /** True unless a segment of {@code sequences} sequences would become too long by a chunk. */
    boolean hasRoom(TraceOutput out, CommittedChunk chunk, SequenceReader reader, int sequences) throws IOException {
        long more = chunk.size() + chunk.count() * GROWTH + reader.pendingSize() + TRAILER + (sequences + 1) * SEQUENCE_TRAILER;
        if (hasRoom(out.size(), more)) {
            return true;
        }
        // The buffered packets may be few bytes once they are compressed.
        out.flush();
        return hasRoom(out.size(), more);
    }

    /** True if {@code bytes} more fit a segment that has {@code size} bytes. */
    private boolean hasRoom(long size, long bytes) {
        return limits.bytes == 0 || size + bytes <= limits.bytes;
    }

    /** The nanoseconds until the newest segment is old. */
    long left() {
        return limits.ageNanos == 0 ? Long.MAX_VALUE : limits.ageNanos - (System.nanoTime() - begun);
    }

    /** Starts the age of the newest segment anew, since nothing is in it yet. */
    void restartAge() {
        begun = System.nanoTime();
    }

    /**
     * Gives a complete segment its name, and closes it. If somebody has taken that, it stays as it
     * is, and {@link #close} has the error.
     */
    void complete(TraceFile file) throws IOException {
        try {
            file.close(true);
        } catch (FileAlreadyExistsException e) {
            nameless = nameless == null ? e : nameless;
        }
    }

    @Override
    public void close() throws IOException {
        claim.close();
        directory.close();
        if (nameless != null) {
            throw nameless;
        }
    }

    /**
     * The next number that nobody has, by now. The directory is opened once, however many are
     * taken.
     */
    private long nextFree() throws IOException {
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            while (taken.contains(next) || directory.status(name(place.name(), next)) != null) {
                next++;
            }
            return next++;
        }
    }

    static boolean isPart(String name) {
        return name.endsWith(PART);
    }

    private static String part(String name) {
        return name + PART;
    }

    /** The name of a segment: its number is before the extension. */
    public static String name(String name, long number) {
        int dot = name.lastIndexOf('.');
        int end = dot <= 0 ? name.length() : dot;
        return String.format(Locale.ROOT, "%s.%04d%s", name.substring(0, end), number, name.substring(end));
    }

    /** The number of a segment of {@code name}, complete or not; -1 of other files. */
    public static long number(String name, String file) {
        int dot = name.lastIndexOf('.');
        int end = dot <= 0 ? name.length() : dot;
        String whole = file.endsWith(PART) ? file.substring(0, file.length() - PART.length()) : file;
        String extension = name.substring(end);
        if (!whole.startsWith(name.substring(0, end)) || !whole.endsWith(extension) || whole.length() < name.length()) {
            return -1;
        }
        Matcher number = NUMBER.matcher(whole.substring(end, whole.length() - extension.length()));
        return number.matches() ? Long.parseLong(number.group(1)) : -1;
    }

    /**
     * Removes a file that is a segment, unless somebody writes it. That it can't be removed is no
     * reason to stop logging.
     */
    private void removeSegment(OpenDirectory directory, String name) {
        try (OutputFile file = Outputs.hold(place.sibling(name), null)) {
            FileStatus found = directory.status(name);
            if (file != null && SegmentHead.isOf(place.name(), file)) {
                file.remove();
            } else if (file == null && found != null && SegmentHead.isOf(place.name(), directory, name)) {
                // One that may not be written, so that nobody holds it.
                directory.remove(name, found.key());
            }
        } catch (IOException e) {
            // It stays.
        }
    }

    /** As above, if nothing is in it. */
    private void removeEmpty(String name) {
        try (OutputFile file = Outputs.hold(place.sibling(name), null)) {
            if (file != null && file.size() == 0) {
                file.remove();
            }
        } catch (IOException e) {
            // It stays.
        }
    }
}
