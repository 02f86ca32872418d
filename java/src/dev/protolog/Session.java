package dev.protolog;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

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
    /** The fewest bytes of a buffer: room for the largest message and for some threads. */
    private static final int MIN_BUFFER = 256 << 10;
    private static final int DEFAULT_BUFFER = 4 << 20;
    private static final int DEFAULT_STRING = 4096;

    private final SessionConfig config;
    private final SessionCore core;
    /** Of a session that keeps its messages. */
    private final KeptTrace kept;
    /** Of one that streams; null for none. */
    private final Stream stream;
    private final Thread hook = new Thread(this::stopAtExit, "protolog exit");
    private Summary summary;

    private Session(SessionConfig config) throws IOException {
        this.config = config;
        byte[] id = new byte[16];
        new SecureRandom().nextBytes(id);
        core = new SessionCore(config, id);
        BootClock.Moment started = core.clock().moment();
        kept = new KeptTrace(core, started);
        core.dictionary().addKnown();
        stream = config.isRing() ? null : newStream(started);
        core.setStats(this::stats);
        core.open();
        Sessions.add(core);
        // Messages that became known between the two.
        core.dictionary().addKnown();
        if (stream != null) {
            stream.start();
        }
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** The settings of a new session. */
    public static Builder builder() {
        return new Builder();
    }

    /** The file that has the buffer and outlives the process; null where there is none. */
    public Path recording() {
        return core.recording() == null ? null : core.recording().path();
    }

    /** Writes a trace of what the session has now, and goes on. */
    public synchronized Summary snapshot(Path file) throws IOException {
        checkRuns();
        if (stream != null) {
            throw new IOException("a session that streams has no snapshots; call flush() and read its file");
        }
        return kept.write(Objects.requireNonNull(file));
    }

    /** Writes what was logged so far to the file; of a session that keeps its messages, has the recording on the disk, if it is on one. */
    public synchronized void flush() throws IOException {
        checkRuns();
        if (stream != null) {
            stream.flush();
        } else if (core.recording() != null) {
            core.recording().sync();
        }
    }

    /**
     * Ends the session and writes its trace, if it has a {@link Builder#file}. The recording is removed then; without a file it stays
     * for {@code protologtool recover}. Further calls give the same result.
     *
     * @throws IOException if the trace can't be written; a recording stays then
     */
    public synchronized Summary stop() throws IOException {
        if (summary != null) {
            return summary;
        }
        Sessions.remove(core);
        core.stop();
        removeHook();
        try {
            if (core.failure() != null) {
                throw new IOException("the session's file can't be used any more", core.failure());
            }
            if (stream != null) {
                summary = stream.finish(config.file());
            } else {
                summary = config.file() == null ? new Summary(null, 0, 0, 0) : kept.write(config.file());
            }
        } finally {
            if (core.recording() != null) {
                core.recording().close(summary != null && config.file() != null);
            }
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
        return stream != null ? stream.stats() : kept.stats();
    }

    boolean isOf(SessionCore other) {
        return core == other;
    }

    private Stream newStream(BootClock.Moment started) throws IOException {
        try {
            return new Stream(core, config.file(), started);
        } catch (IOException e) {
            if (core.recording() != null) {
                core.recording().close(true);
            }
            throw e;
        }
    }

    /** Completes the file of a program that calls {@link System#exit}. */
    private void stopAtExit() {
        try {
            stop();
        } catch (IOException e) {
            LogPrinter.problem("can't complete the trace: " + e, "run `protologtool recover`");
        }
    }

    private void removeHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The program is ending.
        }
    }

    private void checkRuns() throws IOException {
        if (core.isStopped()) {
            throw new IOException("the session is over", core.failure());
        }
    }

    /** The settings of a session that is not started yet, in any order. Without others it records WTF of all groups. */
    public static final class Builder {
        private Path file;
        private Path recording;
        private boolean keepsNewest;
        private int bufferBytes = DEFAULT_BUFFER;
        private int maxStringBytes = DEFAULT_STRING;
        private int defaultLevels = LogLevel.WTF.andAbove();
        private final Map<String, Integer> groups = new LinkedHashMap<>();
        private final List<String> stacks = new ArrayList<>();
        private boolean hasLocations;

        private Builder() {}

        /** Sets the file of the trace, which is its owner's only. An existing one is replaced. */
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
            keepsNewest = true;
            return this;
        }

        /** Keeps the newest messages in a file in {@code /dev/shm} that outlives the process, whatever ends it. */
        public Builder record() {
            return recordTo(Recording.DIRECTORY);
        }

        /** As {@link #record}, in this file, or in one of its own in this directory. An existing file is renamed to {@code .old}. */
        public Builder recordTo(Path path) {
            recording = path.toAbsolutePath();
            keepsNewest = true;
            return this;
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
            return group(MessageId.fullName(group), level);
        }

        /** As above, of groups with this full name, with this end of it, or this beginning. */
        public Builder group(String name, LogLevel level) {
            groups.put(Objects.requireNonNull(name), level == null ? 0 : level.andAbove());
            return this;
        }

        /**
         * Records each message of a group with the stack trace of the call, and with those of its arguments that are exceptions. A stack trace
         * takes some microseconds and up to 4 KiB, so this is for groups that log rarely.
         */
        public Builder collectStacktrace(IProtoLogGroup group) {
            return collectStacktrace(MessageId.fullName(group));
        }

        /** As above, of groups that are named as in {@link #group(String, LogLevel)}. */
        public Builder collectStacktrace(String name) {
            stacks.add(Objects.requireNonNull(name));
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

        /** Records these levels of all groups that are not named. */
        void levels(int levels) {
            defaultLevels = levels;
        }

        /** Records these levels of the group of this name. */
        void levels(String group, int levels) {
            groups.put(group, levels);
        }

        /** Sets the size of the buffer, in bytes; at least 256 KiB. */
        public Builder bufferBytes(int bytes) {
            bufferBytes = bytes;
            return this;
        }

        /** Sets the most bytes of a string; longer ones end in an ellipsis. 4096 by default, 64 to 4096. */
        public Builder maxStringBytes(int bytes) {
            maxStringBytes = bytes;
            return this;
        }

        /**
         * Starts the session.
         *
         * @throws IOException if a file can't be made
         * @throws IllegalStateException if settings are missing or contradict each other
         */
        public Session start() throws IOException {
            if (file == null && recording == null && !keepsNewest) {
                throw new IllegalStateException("no file; call file(path), record() or keepNewest()");
            }
            int size = Math.min(Math.max(bufferBytes, MIN_BUFFER), 1 << 30) / PageLayout.PAGE * PageLayout.PAGE;
            int strings = Math.min(Math.max(maxStringBytes, 64), DEFAULT_STRING);
            Path buffer = recording;
            if (!keepsNewest) {
                // The buffer outlives the process, so that `recover` completes the file.
                boolean isInMemory = Files.isWritable(Recording.DIRECTORY);
                buffer = isInMemory ? Recording.DIRECTORY : file.getParent();
            }
            Filter filter = new Filter(defaultLevels, groups, stacks);
            return new Session(new SessionConfig(file, buffer, filter, keepsNewest, size, strings, hasLocations));
        }
    }
}
