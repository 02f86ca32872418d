package dev.protolog;

import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.session.Contradictions;
import dev.protolog.internal.session.EarlierRuns;
import dev.protolog.internal.session.EndReport;
import dev.protolog.internal.session.PinnedMessages;
import dev.protolog.internal.session.Recording;
import dev.protolog.internal.session.RunningSession;
import dev.protolog.internal.session.Segments;
import dev.protolog.internal.session.SessionConfig;
import dev.protolog.internal.session.SettingRange;
import dev.protolog.internal.session.TriggerSettings;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.write.Causes;
import dev.protolog.internal.write.FillPolicy;
import dev.protolog.internal.write.PageLayout;
import java.io.IOException;
import java.nio.file.Path;
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
 * <p>A session writes its file while it runs; if the process dies,
 * {@code protologtool recover app.pftrace} completes it. One that keeps the newest messages has
 * them in a ring, in memory, or in a file that outlives the process ({@link Builder#record}); its
 * trace is written when it is stopped, and by {@link #snapshot}.
 *
 * <p>Invariants: a session writes no file that another one writes. A message that a thread logged
 * before {@link #stop} is in the trace.
 */
public final class Session implements AutoCloseable {
    private static final int DEFAULT_BUFFER = 4 << 20;
    private static final int MIN_STRING = 64;
    private static final int DEFAULT_STRING = 4096;
    /** The least age of a segment, so that its thread has time for more than rotation. */
    private static final Duration MIN_AGE = Duration.ofMillis(10);

    static {
        Access.install();
    }

    private final RunningSession running;

    private Session(RunningSession running) {
        this.running = running;
    }

    /** The settings of a new session. */
    public static Builder builder() {
        return new Builder();
    }

    /** The file that has the buffer and outlives the process; null where there is none. */
    public Path recording() {
        return running.recording();
    }

    /** Writes a trace of the session's present messages, and goes on. */
    public Summary snapshot(Path file) throws IOException {
        return running.snapshot(file);
    }

    /**
     * Writes the messages logged so far to the file; of a session that keeps its messages, has the
     * recording on the disk, if it is on one.
     */
    public void flush() throws IOException {
        running.flush();
    }

    /**
     * Fires a cause of the session's {@linkplain Builder#triggers triggers}, known or new: what it
     * keeps is written to a file of its own. False if the cause has fired a moment ago, and is
     * counted, or if the session is over.
     *
     * @throws IllegalStateException if it has no triggers
     */
    public boolean trigger(String cause) {
        Causes causes = running.causes();
        if (causes == null) {
            throw new IllegalStateException("the session has no triggers; set them by Session.Builder.triggers");
        }
        return causes.fire(Objects.requireNonNull(cause));
    }

    /** The events of each cause of its triggers so far; empty without any. */
    public List<TriggerCounts> triggerCounts() {
        Causes causes = running.causes();
        return causes == null ? List.of() : causes.all().stream().filter(it -> it.name() != null)
                .map(it -> new TriggerCounts(it.name(), it.fired(), it.suppressed(), it.written(), it.failed())).toList();
    }

    /**
     * Ends the session and writes its trace, if it has a {@link Builder#file}. The recording is
     * removed then; without a file it stays for {@code protologtool recover}. Further calls give
     * the same result.
     *
     * @throws StopException if the trace can't be written whole; a recording stays then, and the
     * exception has the counts
     */
    public Summary stop() throws IOException {
        return running.stop();
    }

    /** As {@link #stop}. */
    @Override
    public void close() throws IOException {
        stop();
    }

    /** The session itself, of which programs see this. */
    RunningSession running() {
        return running;
    }

    /**
     * The settings of a session that is not started yet, in any order. Without others it records
     * WTF of all groups.
     */
    public static final class Builder extends RuleSettings {
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
        private int defaultLevels = LevelSet.andAbove(LogLevel.WTF);
        private final Map<String, Integer> groups = new LinkedHashMap<>();
        private final List<String> stacks = new ArrayList<>();
        private boolean hasLocations;
        private boolean reportsLosses = true;
        /** The names of groups that the program has written. */
        private final Set<String> named = new HashSet<>();
        private TriggerSettings triggers;
        private PinnedMessages pins;

        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /**
         * Sets the file of the trace, which is its owner's only. The file that the last run left
         * there gets another name ({@link #keepPrevious}).
         */
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

        /**
         * Keeps the first messages, until the buffer is full; later ones are counted. Otherwise as
         * {@link #keepNewest}.
         */
        public Builder keepFirst() {
            policy = FillPolicy.DISCARD;
            return this;
        }

        /**
         * Keeps the newest messages in a file in {@code /dev/shm} that outlives the process,
         * however it ends.
         */
        public Builder record() {
            return recordTo(Recording.DIRECTORY);
        }

        /**
         * As {@link #record}, in this file, or in one of its own in this directory. An existing
         * file is renamed to {@code .old}.
         */
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
            defaultLevels = LevelSet.andAbove(level);
            return this;
        }

        /** Records this level and more severe ones of a group; null for none. */
        public Builder group(IProtoLogGroup group, LogLevel level) {
            return put(MessageId.fullName(group), level);
        }

        /**
         * As above, of groups with this full name, this end of it or this beginning, in any case;
         * in this order the names count.
         */
        public Builder group(String name, LogLevel level) {
            named.add(Objects.requireNonNull(name));
            return put(name, level);
        }

        private Builder put(String name, LogLevel level) {
            groups.put(Objects.requireNonNull(name), level == null ? 0 : LevelSet.andAbove(level));
            return this;
        }

        /**
         * Records each message of a group with the stack trace of the call, and with those of its
         * arguments that are exceptions. A stack trace takes some microseconds and up to 4 KiB, so
         * this is for groups that log rarely.
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
         * Records file and line of calls that the tool has not processed; those of processed calls
         * are in the dictionary anyway. Each such call then takes a look at its stack, which takes
         * a microsecond or two.
         */
        public Builder locations() {
            hasLocations = true;
            return this;
        }

        /**
         * Sets whether a session that lost messages says so in one line on standard error when it
         * ends, names selectors of its rules that take no call, and those names of
         * {@link #group(String, LogLevel)} and {@link #collectStacktrace(String)} that are almost a
         * group's and no group's. It does by default. What {@link #keepNewest} overwrites is not
         * lost in this sense.
         */
        public Builder reportLosses(boolean reports) {
            reportsLosses = reports;
            return this;
        }

        /**
         * As {@link #keepNewest}, with files of their own for the events that {@code triggers}
         * names. The session needs no {@link #file} then, and the newest messages at its stop are
         * written only if it has one.
         */
        public Builder triggers(Triggers events) {
            triggers = events.settings();
            return keepNewest();
        }

        /**
         * As {@link #keepNewest}, with the messages that {@code pinned} names in a ring of their
         * own: other messages never overwrite them, however many there are. A trace, a trigger's
         * file and a recording have both, by time. The ring's newer messages overwrite its oldest,
         * and are counted as in any ring.
         */
        public Builder pin(Pinned pinned) {
            pins = pinned.settings();
            pins.groups().forEach(group -> named.add(group.pattern()));
            return keepNewest();
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
         * Sets the most bytes of a string; longer ones end in an ellipsis. 64 to 4096, which is the
         * default.
         *
         * @throws IllegalArgumentException if it is another one
         */
        public Builder maxStringBytes(int bytes) {
            maxStringBytes = SettingRange.within("maxStringBytes", bytes, MIN_STRING, DEFAULT_STRING);
            return this;
        }

        /**
         * Waits instead of dropping a message when the buffer is full, but no longer than this.
         * After a message that waited in vain others are dropped at once, until the file makes
         * progress. Of a session that streams.
         */
        public Builder waitAtMost(Duration longest) {
            longestWait = Objects.requireNonNull(longest);
            return this;
        }

        /**
         * Divides the trace into files of about this size or less, each of which can be read alone:
         * {@code app.0001.pftrace}, {@code app.0002.pftrace} and so on, the last one with
         * {@code .part} after its name. Numbers continue those of earlier runs. Of a session that
         * streams.
         *
         * @throws IllegalArgumentException unless it is more than 0
         */
        public Builder segmentBytes(long bytes) {
            segmentBytes = SettingRange.positive("segmentBytes", bytes);
            return this;
        }

        /**
         * Divides the trace into files that end once they are this old, if they have a message; at
         * least 10 ms. As {@link #segmentBytes}.
         */
        public Builder segmentAge(Duration age) {
            segmentAge = age.compareTo(MIN_AGE) < 0 ? MIN_AGE : age;
            return this;
        }

        /**
         * Keeps this many complete files beside the one that is written; older ones are removed,
         * those of earlier runs, too. As {@link #segmentBytes}.
         *
         * @throws IllegalArgumentException unless it is more than 0
         */
        public Builder keepSegments(int count) {
            keptSegments = (int) SettingRange.positive("keepSegments", count);
            return this;
        }

        /**
         * Sets how many traces of earlier runs are kept, 1 by default. When a session begins to
         * write its file, a trace there is renamed: {@code app.pftrace} to {@code app.1.pftrace},
         * and that to {@code app.2.pftrace}. Older ones are removed.
         *
         * <p>The trace of a run that crashed is kept for any {@code count}, read-only, until
         * those of all crashed runs take more than 256 MiB or are more than 64. The newest one
         * stays in any case, and a line on standard error says so.
         * {@code protologtool recover app.1.pftrace} completes it. A file under such a name that is
         * no trace of this program is left alone, and its number left out. A smaller disk stays
         * full of them until somebody removes some. Segments have names of their own, and snapshots
         * replace the file there.
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
         * Compresses the trace with zlib, at a level from 1, fast, to 9, small. All readers of
         * traces read it.
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
            Filter filter = new Filter(defaultLevels, groups, stacks);
            Segments.Limits limits = new Segments.Limits(segmentBytes, SettingRange.nanos(segmentAge), keptSegments);
            Contradictions.check(policy, longestWait != null, limits, triggers, pins);
            EarlierRuns.Earlier earlier = new EarlierRuns.Earlier(keptRuns, truncates);
            SessionConfig config = new SessionConfig(file, recording, filter, policy, bufferBytes / PageLayout.PAGE * PageLayout.PAGE,
                    maxStringBytes, hasLocations, SettingRange.nanos(longestWait), compression, limits, earlier,
                    new EndReport(reportsLosses, named), rules, byteLimit, triggers, pins);
            return new Session(new RunningSession(config));
        }
    }
}
