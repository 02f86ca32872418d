package dev.protolog;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.zip.Deflater;

/**
 * Records messages of some groups and levels. Any number of sessions run at once.
 *
 * <pre>{@code
 * try (Session session = Session.builder().file("app.pftrace").logFrom(LogLevel.DEBUG).start()) {
 *     run();
 * }
 * }</pre>
 *
 * <p>A session writes its file while it runs; if the process dies, {@code protologtool recover app.pftrace} completes it. One that keeps
 * the newest messages has them in a ring, in memory, or in a file that outlives the process
 * ({@link Builder#record}); its trace is written when it is stopped, and by {@link #snapshot}.
 *
 * <p>Invariants: a session writes no file that another one writes. What a thread logged before {@link #stop} is in the trace.
 */
public final class Session implements AutoCloseable {
    private static final int DEFAULT_BUFFER = 4 << 20;
    private static final int MIN_STRING = 64;
    private static final int DEFAULT_STRING = 4096;
    /** The least age of a segment, so that its thread has time for more than rotation. */
    private static final Duration MIN_AGE = Duration.ofMillis(10);

    private final SessionConfig config;
    private final Path recording;
    /** Null once the session is over: whoever keeps it would keep its buffer. */
    private volatile Parts parts;
    private Summary summary;
    /** The statistics in the end. */
    private SessionStats last;
    /** The error of a session that failed. */
    private IOException failure;

    /** All that has memory; {@code stream} is null for none. */
    private record Parts(SessionCore core, KeptTrace kept, Stream stream) {}

    private Session(SessionConfig config) throws IOException {
        this.config = config;
        byte[] id = new byte[16];
        new SecureRandom().nextBytes(id);
        KeptTrace.Own own = config.isStream() || config.file() == null ? null : KeptTrace.claim(config.file());
        SessionCore core = SessionStart.core(config, id, own);
        recording = core.recording() == null ? null : core.recording().path();
        BootClock.Moment started = core.clock().moment();
        core.dictionary().addKnown();
        Stream stream = config.isStream() ? SessionStart.stream(core, config, started) : null;
        parts = new Parts(core, new KeptTrace(core, started, config.compression(), config.earlier(), own), stream);
        try {
            core.setStats(this::stats);
            core.open();
            Sessions.add(core);
            // Messages that became known between the two.
            core.dictionary().addKnown();
            // Before messages rely on the session.
            RuntimeClasses.load();
            if (stream != null) {
                stream.start();
            }
            AtExit.add(this);
        } catch (RuntimeException | Error e) {
            SessionStart.abandon(core, own, stream);
            throw e;
        }
    }

    /** The settings of a new session. */
    public static Builder builder() {
        return new Builder();
    }

    /** The file that has the buffer and outlives the process; null where there is none. */
    public Path recording() {
        return recording;
    }

    /** Writes a trace of what the session has now, and goes on. */
    public synchronized Summary snapshot(Path file) throws IOException {
        Parts running = running();
        if (running.stream != null) {
            throw new IOException("a session that streams has no snapshots; call flush() and read its file");
        }
        return running.kept.writeTo(Objects.requireNonNull(file).toAbsolutePath());
    }

    /** Writes what was logged so far to the file; of a session that keeps its messages, has the recording on the disk, if it is on one. */
    public synchronized void flush() throws IOException {
        Parts running = running();
        if (running.stream != null) {
            running.stream.flush();
        } else if (recording != null) {
            running.core.recording().sync();
        }
    }

    /**
     * Ends the session and writes its trace, if it has a {@link Builder#file}. The recording is removed then; without a file it stays
     * for {@code protologtool recover}. Further calls give the same result.
     *
     * @throws StopException if the trace can't be written whole; a recording stays then, and the exception has the counts
     */
    public Summary stop() throws IOException {
        return stop(false);
    }

    /** {@code isAtExit}: the program is ending, and goes on to log. */
    private synchronized Summary stop(boolean isAtExit) throws IOException {
        if (summary != null) {
            return summary;
        } else if (failure != null) {
            throw failure;
        }
        try {
            return complete(parts, isAtExit);
        } finally {
            // Last: where the JVM ends meanwhile, it waits for all of this.
            AtExit.remove(this);
        }
    }

    private Summary complete(Parts ended, boolean isAtExit) throws IOException {
        SessionCore core = ended.core;
        if (!isAtExit) {
            Sessions.remove(core);
        }
        core.stop();
        try {
            if (core.failure() != null) {
                throw core.failure();
            }
            if (ended.stream != null) {
                summary = ended.stream.finish(isAtExit);
            } else {
                summary = config.file() == null ? new Summary(null, 0, 0, 0) : ended.kept.writeOwn(isAtExit);
            }
            last = ended.stream != null ? ended.stream.stats() : ended.kept.stats();
            Dictionaries.reportUnknown(last, config.file());
            config.report().print(config.file(), last, isAtExit);
        } catch (IOException e) {
            // What is in the buffer of a session that keeps its messages can be written later, unless its recording stays for `recover`.
            StopException stopped = StopException.of(e, config.file(), () -> ended.stream != null ? ended.stream.stats() : ended.kept.count());
            failure = ended.stream != null || core.failure() != null || core.recording() != null ? stopped : null;
            throw stopped;
        } finally {
            ended.kept.close();
            if (core.recording() != null) {
                core.recording().close(summary != null && config.file() != null);
            }
            if (!isAtExit && (summary != null || failure != null)) {
                parts = null;
            }
            TextQueue.flushAtEnd();
        }
        return summary;
    }

    /** As {@link #stop}. */
    @Override
    public void close() throws IOException {
        stop();
    }

    /** The messages so far, or in the end, and those that are lost. */
    synchronized SessionStats stats() throws IOException {
        Parts now = parts;
        if (now == null && last == null) {
            throw new IOException("the session is over", failure);
        } else if (now == null) {
            return last;
        }
        return now.stream != null ? now.stream.stats() : now.kept.stats();
    }

    boolean isOf(SessionCore other) {
        Parts now = parts;
        return now != null && now.core == other;
    }

    /** The file of the trace; null for none. */
    Path file() {
        return config.file();
    }

    /** The messages so far, a moment behind. */
    long messages() {
        Parts now = parts;
        return now == null ? 0 : now.core.messages();
    }

    /** True while a thread is within a message. */
    boolean isWriting() {
        Parts now = parts;
        return now != null && now.core.isWriting();
    }

    /** The bytes of the file that is being written, for those who wait for its end. */
    long progress() {
        Parts now = parts;
        return now == null ? 0 : now.stream != null ? now.stream.progress() : now.kept.progress();
    }

    /** Has messages counted from now on, since the program ends. A session without a file goes on: its recording has all that the program logs. */
    void beginEnd() {
        Parts now = parts;
        if (now != null && config.file() != null) {
            now.core.beginEnd();
        }
    }

    /** Completes the file of a program that ends. What another thread has begun, an end or a snapshot, is waited for. */
    synchronized void stopAtExit() {
        try {
            if (config.file() != null) {
                stop(true);
            }
        } catch (IOException e) {
            LogPrinter.problem("can't complete the trace `" + config.file() + "`: " + e.getMessage(), "run `protologtool recover`");
        }
    }

    private Parts running() throws IOException {
        Parts now = parts;
        // What is kept since an end has failed can be written.
        if (now == null || now.core.isStopped() && (now.stream != null || summary != null)) {
            throw new IOException("the session is over", now == null ? failure : now.core.failure());
        }
        return now;
    }

    /** The settings of a session that is not started yet, in any order. Without others it records WTF of all groups. */
    public static final class Builder {
        private Path file;
        private Path recording;
        private FillPolicy policy = FillPolicy.STREAM;
        private Duration longestWait;
        private int compression;
        private long segmentBytes;
        private Duration segmentAge;
        private int keptSegments;
        private int keptRuns = EarlierRuns.Earlier.DEFAULT.keep();
        private boolean truncates;
        private int bufferBytes = DEFAULT_BUFFER;
        private int maxStringBytes = DEFAULT_STRING;
        private int defaultLevels = LogLevel.WTF.andAbove();
        private final Map<String, Integer> groups = new LinkedHashMap<>();
        private final List<String> stacks = new ArrayList<>();
        private boolean hasLocations;
        private boolean reportsLosses = true;
        /** The names of groups that the program has written. */
        private final Set<String> named = new HashSet<>();

        private Builder() {}

        /** Sets the file of the trace, which is its owner's only. What the last run left there gets another name ({@link #keepPrevious}). */
        public Builder file(Path path) {
            file = path.toAbsolutePath();
            return this;
        }

        /** As {@link #file(Path)}. */
        public Builder file(String path) {
            return file(Path.of(path));
        }

        /** Keeps the newest messages in a ring; the trace is written at the end. */
        public Builder keepNewest() {
            policy = FillPolicy.RING_BUFFER;
            return this;
        }

        /** Keeps the first messages, until the buffer is full; later ones are counted. Otherwise as {@link #keepNewest}. */
        public Builder keepFirst() {
            policy = FillPolicy.DISCARD;
            return this;
        }

        /** Keeps the newest messages in a file in {@code /dev/shm} that outlives the process, whatever ends it. */
        public Builder record() {
            return recordTo(Recording.DIRECTORY);
        }

        /** As {@link #record}, in this file, or in one of its own in this directory. An existing file is renamed to {@code .old}. */
        public Builder recordTo(Path path) {
            recording = path.toAbsolutePath();
            return keepNewest();
        }

        /** Records all levels of all groups that no {@link #group} names. */
        public Builder enableAll() {
            return logFrom(LogLevel.VERBOSE);
        }

        /** Records this level and more severe ones of all groups that no {@link #group} names. */
        public Builder logFrom(LogLevel level) {
            defaultLevels = level.andAbove();
            return this;
        }

        /** Records this level and more severe ones of a group; null for none. */
        public Builder group(IProtoLogGroup group, LogLevel level) {
            return put(MessageId.fullName(group), level);
        }

        /** As above, of groups with this full name, this end of it or this beginning, in any case; in this order the names count. */
        public Builder group(String name, LogLevel level) {
            named.add(Objects.requireNonNull(name));
            return put(name, level);
        }

        private Builder put(String name, LogLevel level) {
            groups.put(Objects.requireNonNull(name), level == null ? 0 : level.andAbove());
            return this;
        }

        /**
         * Records each message of a group with the stack trace of the call, and with those of its arguments that are exceptions. A stack trace
         * takes some microseconds and up to 4 KiB, so this is for groups that log rarely.
         */
        public Builder collectStacktrace(IProtoLogGroup group) {
            stacks.add(MessageId.fullName(group));
            return this;
        }

        /** As above, of groups that are named as in {@link #group(String, LogLevel)}. */
        public Builder collectStacktrace(String name) {
            named.add(Objects.requireNonNull(name));
            stacks.add(name);
            return this;
        }

        /**
         * Records file and line of calls that the tool has not processed; those of processed calls are in the dictionary anyway. Each such
         * call then takes a look at its stack, which takes a microsecond or two.
         */
        public Builder locations() {
            hasLocations = true;
            return this;
        }

        /**
         * Sets whether a session that lost messages says so in one line on standard error when it ends, and names those of {@link #group(String, LogLevel)} and
         * {@link #collectStacktrace(String)} that are almost a group's and no group's. It does by default. What {@link #keepNewest} overwrites is not lost in
         * this sense.
         */
        public Builder reportLosses(boolean reports) {
            reportsLosses = reports;
            return this;
        }

        /** Records these levels of all groups that are not named. */
        void levels(int levels) {
            defaultLevels = levels;
        }

        /** Records these levels of the group of this name. */
        void levels(String group, int levels) {
            groups.put(group, levels);
        }

        /**
         * Sets the size of the buffer, in bytes: 256 KiB to 1 GiB, 4 MiB by default.
         *
         * @throws IllegalArgumentException if it is another one
         */
        public Builder bufferBytes(int bytes) {
            bufferBytes = SettingRange.within("bufferBytes", bytes, SettingRange.MIN_BUFFER, SettingRange.MAX_BUFFER);
            return this;
        }

        /**
         * Sets the most bytes of a string; longer ones end in an ellipsis. 64 to 4096, which is the default.
         *
         * @throws IllegalArgumentException if it is another one
         */
        public Builder maxStringBytes(int bytes) {
            maxStringBytes = SettingRange.within("maxStringBytes", bytes, MIN_STRING, DEFAULT_STRING);
            return this;
        }

        /**
         * Waits instead of dropping a message when the buffer is full, but no longer than this. After a message that waited in vain others
         * are dropped at once, until the file makes progress. Of a session that streams.
         */
        public Builder waitAtMost(Duration longest) {
            longestWait = Objects.requireNonNull(longest);
            return this;
        }

        /**
         * Divides the trace into files of about this size or less, each of which can be read alone: {@code app.0001.pftrace},
         * {@code app.0002.pftrace} and so on, the last one with {@code .part} after its name. Numbers continue those of earlier runs. Of a
         * session that streams.
         *
         * @throws IllegalArgumentException unless it is more than 0
         */
        public Builder segmentBytes(long bytes) {
            segmentBytes = SettingRange.positive("segmentBytes", bytes);
            return this;
        }

        /** Divides the trace into files that end once they are this old, if they have a message; at least 10 ms. As {@link #segmentBytes}. */
        public Builder segmentAge(Duration age) {
            segmentAge = age.compareTo(MIN_AGE) < 0 ? MIN_AGE : age;
            return this;
        }

        /**
         * Keeps this many complete files beside the one that is written; older ones are removed, those of earlier runs, too. As
         * {@link #segmentBytes}.
         *
         * @throws IllegalArgumentException unless it is more than 0
         */
        public Builder keepSegments(int count) {
            keptSegments = (int) SettingRange.positive("keepSegments", count);
            return this;
        }

        /**
         * Sets how many traces of earlier runs are kept, 1 by default. When a session begins to write its file, what is there is renamed:
         * {@code app.pftrace} to {@code app.1.pftrace}, and that to {@code app.2.pftrace}. Older ones are removed.
         *
         * <p>The trace of a run that crashed is kept whatever {@code count} is, read-only, until those of all crashed runs take more than 256 MiB
         * or are more than 64; the newest one stays in any case, and a line on standard error says so. {@code protologtool recover app.1.pftrace} completes it. A file under such a
         * name that is no trace of this program is left alone, and its number left out. A smaller disk stays full of them until somebody removes some. Segments have names of their own, and snapshots replace what is there.
         *
         * @throws IllegalArgumentException if it is less than 0
         */
        public Builder keepPrevious(int count) {
            keptRuns = SettingRange.within("keepPrevious", count, 0, Integer.MAX_VALUE);
            truncates = false;
            return this;
        }

        /** Empties or replaces the file that is there, also the trace of a run that crashed. */
        public Builder truncate() {
            truncates = true;
            return this;
        }

        /**
         * Compresses the trace with zlib, at a level from 1, fast, to 9, small. All readers of traces read it.
         *
         * @throws IllegalArgumentException if it is another one
         */
        public Builder compress(int level) {
            compression = SettingRange.within("compress", level, Deflater.BEST_SPEED, Deflater.BEST_COMPRESSION);
            return this;
        }

        /**
         * Starts the session.
         *
         * @throws IOException if a file can't be made
         * @throws IllegalStateException if settings are missing or contradict each other
         */
        public Session start() throws IOException {
            if (file == null && policy == FillPolicy.STREAM) {
                throw new IllegalStateException("no file; call file(path), record() or keepNewest()");
            }
            checkStreams();
            Filter filter = new Filter(defaultLevels, groups, stacks);
            Segments.Limits limits = new Segments.Limits(segmentBytes, SettingRange.nanos(segmentAge), keptSegments);
            return new Session(new SessionConfig(file, recording, filter, policy, bufferBytes / PageLayout.PAGE * PageLayout.PAGE,
                    maxStringBytes, hasLocations, SettingRange.nanos(longestWait), compression, limits, new EarlierRuns.Earlier(keptRuns, truncates),
                    new EndReport(reportsLosses, named)));
        }

        /** Refuses what sessions that keep their messages don't have. */
        private void checkStreams() {
            String refused = longestWait != null ? "waitAtMost"
                    : segmentBytes > 0 ? "segmentBytes"
                    : segmentAge != null ? "segmentAge"
                    : keptSegments > 0 ? "keepSegments" : null;
            if (refused != null && policy != FillPolicy.STREAM) {
                throw new IllegalStateException(refused + " is for sessions that stream to a file; leave it out, or keepNewest and keepFirst");
            }
        }
    }
}
