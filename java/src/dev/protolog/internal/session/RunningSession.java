package dev.protolog.internal.session;

import dev.protolog.Session;
import dev.protolog.StopException;
import dev.protolog.Summary;
import dev.protolog.internal.ApiAccess;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.RuntimeClasses;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.TextQueue;
import dev.protolog.internal.write.Causes;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;

/**
 * A session from its start to its end: the calls that programs make by {@link Session}, and those
 * by the end of the JVM and operators.
 *
 * <p>Invariants: a session writes no file that another one writes. A message that a thread logged
 * before {@link #stop} is in the trace.
 */
public final class RunningSession implements ExitingSession {
    private final SessionConfig config;
    private final Path recording;
    private final Causes causes;
    /** Null once the session is over: an object that keeps it would keep its buffer. */
    private volatile Parts parts;
    private Summary summary;
    /** The statistics in the end. */
    private SessionStats last;
    /** The error of a session that failed. */
    private IOException failure;

    /** All that has memory; {@code stream} is null for none. */
    private record Parts(SessionCore core, KeptTrace kept, Stream stream, TriggerThread triggers) {}

    /**
     * Starts a session.
     *
     * @throws IOException if a file can't be made
     */
    public RunningSession(SessionConfig config) throws IOException {
        this.config = config;
        byte[] id = new byte[16];
        new SecureRandom().nextBytes(id);
        KeptTrace.Own own = config.isStream() || config.file() == null ? null : KeptTrace.claim(config.file());
        SessionCore core = SessionStart.core(config, id, own);
        causes = core.causes();
        recording = core.recording() == null ? null : core.recording().path();
        BootClock.Moment started = core.clock().moment();
        core.dictionary().addKnown();
        Stream stream = config.isStream() ? SessionStart.stream(core, config, started) : null;
        TriggerThread triggers = null;
        try {
            if (config.triggers() != null) {
                KeptTrace ofEvents = new KeptTrace(core, started, config.compression(), config.earlier(), null);
                triggers = new TriggerThread(core, new TriggerFiles(core, ofEvents, config.triggers()), config.triggers());
            }
            parts = new Parts(core, new KeptTrace(core, started, config.compression(), config.earlier(), own), stream, triggers);
            core.setStats(this::stats);
            core.open();
            Sessions.add(core);
            SessionLimits.onStart(core);
            // Messages that became known between the two.
            core.dictionary().addKnown();
            // Before messages rely on the session.
            RuntimeClasses.load();
            if (stream != null) {
                stream.start();
            }
            AtExit.add(this);
            if (triggers != null && config.triggers().watchesUncaught()) {
                UncaughtExceptions.watch(core.causes());
            }
            // They hold for the whole program, so a start that fails must leave none.
            Routing.apply(config.rules());
        } catch (IOException | RuntimeException | Error e) {
            AtExit.remove(this);
            if (triggers != null) {
                UncaughtExceptions.forget(core.causes());
                triggers.end();
            }
            SessionStart.abandon(core, own, stream);
            throw e;
        }
    }

    /** The file that has the buffer and outlives the process; null where there is none. */
    public Path recording() {
        return recording;
    }

    /** Writes a trace of the session's present messages, and goes on. */
    public synchronized Summary snapshot(Path file) throws IOException {
        Parts running = running();
        if (running.stream != null) {
            throw new IOException("a session that streams has no snapshots; call flush() and read its file");
        }
        return running.kept.writeTo(Objects.requireNonNull(file).toAbsolutePath());
    }

    /**
     * Writes the messages logged so far to the file; of a session that keeps its messages, has the
     * recording on the disk, if it is on one.
     */
    public synchronized void flush() throws IOException {
        Parts running = running();
        if (running.stream != null) {
            running.stream.flush();
        } else if (recording != null) {
            running.core.recording().sync();
        }
    }

    /**
     * Ends the session and writes its trace, if it has a file. Further calls give the same result.
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
        endTriggers(ended);
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
                summary = config.file() == null ? new Summary(null, 0, 0, 0, List.of(), 0) : ended.kept.writeOwn(isAtExit);
            }
            last = ended.stream != null ? ended.stream.stats() : ended.kept.stats();
            EndReport.reportUnreadable(last, config.file());
            config.report().print(config, last, isAtExit);
        } catch (IOException e) {
            // The buffer of a session that keeps its messages can be written later,
            // unless its recording stays for `recover`.
            StopException stopped = stopped(e, ended);
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

    /**
     * Has what fired written. While the session goes on, since its files have texts of their own.
     */
    private static void endTriggers(Parts ended) {
        if (ended.triggers != null) {
            UncaughtExceptions.forget(ended.core.causes());
            ended.triggers.end();
        }
    }

    /** The causes of the session's triggers, also once it is over; null for none. */
    public Causes causes() {
        return causes;
    }

    /**
     * The error of an end that failed, with the session's counts; where even that fails, nothing is
     * known to be in the file.
     */
    private StopException stopped(IOException cause, Parts ended) {
        Summary counted = new Summary(config.file(), 0, 0, 0, List.of(), 0);
        try {
            SessionStats stats = ended.stream != null ? ended.stream.stats() : ended.kept.count();
            counted = new Summary(config.file(), stats.messages(), stats.lost(), stats.bytes(), stats.passedOver(), stats.repeated());
        } catch (Exception e) {
            cause.addSuppressed(e);
        }
        return ApiAccess.get().stopped(cause, counted);
    }

    /** The messages so far, or in the end, and those that are lost. */
    public synchronized SessionStats stats() throws IOException {
        Parts now = parts;
        if (now == null && last == null) {
            throw new IOException("the session is over", failure);
        } else if (now == null) {
            return last;
        }
        return now.stream != null ? now.stream.stats() : now.kept.stats();
    }

    public boolean isOf(SessionCore other) {
        Parts now = parts;
        return now != null && now.core == other;
    }

    /** The file of the trace; null for none. */
    public Path file() {
        return config.file();
    }

    @Override
    public long messages() {
        Parts now = parts;
        return now == null ? 0 : now.core.messages();
    }

    @Override
    public boolean isWriting() {
        Parts now = parts;
        return now != null && now.core.isWriting();
    }

    @Override
    public long progress() {
        Parts now = parts;
        return now == null ? 0 : now.stream != null ? now.stream.progress() : now.kept.progress();
    }

    /**
     * Has messages counted from now on, since the program ends. A session without a file goes on:
     * its recording has all that the program logs.
     */
    @Override
    public void beginEnd() {
        Parts now = parts;
        if (now != null && config.file() != null) {
            now.core.beginEnd();
        }
    }

    @Override
    public synchronized void stopAtExit() {
        try {
            if (config.file() != null) {
                stop(true);
            } else if (parts != null) {
                endTriggers(parts);
            }
        } catch (IOException e) {
            LogPrinter.problem("can't complete the trace `" + config.file() + "`: " + e.getMessage(), "run `protologtool recover`");
        }
    }

    @Override
    public void reportStuck() {
        boolean isSnapshot = config.file() == null;
        String file = isSnapshot ? "a snapshot" : "the trace `" + config.file() + "`";
        String help = isSnapshot ? "have what reads it take it before the program ends" : "run `protologtool recover`";
        LogPrinter.problem("can't complete " + file + ", which takes nothing any more", help);
    }

    private Parts running() throws IOException {
        Parts now = parts;
        // Messages kept since an end has failed can be written.
        if (now == null || now.core.isStopped() && (now.stream != null || summary != null)) {
            throw new IOException("the session is over", now == null ? failure : now.core.failure());
        }
        return now;
    }
}
