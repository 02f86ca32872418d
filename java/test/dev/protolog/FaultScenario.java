package dev.protolog;

import dev.protolog.Faults.Fault;
import dev.protolog.Faults.Kind;
import dev.protolog.Faults.Outcome;
import dev.protolog.internal.session.SessionCore;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.PageLayout;
import dev.protolog.internal.write.Sequence;
import dev.protolog.internal.write.SharedBuffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A session with one kind of call, in which one place after the other fails. After each, the
 * messages that are recorded and those that are counted as lost must be those that were logged; in
 * the end the same holds for the trace, read by {@link FaultTrace}.
 */
final class FaultScenario {
    /** The most places. Only a call that takes longer each time has as many. */
    private static final int MANY = 3_000;
    /** The trials after which groups that are not used any more are collected. */
    private static final int COLLECTION = 64;
    /** The problems after which a scenario ends. */
    private static final int ENOUGH = 3;
    /** A snapshot takes longer than a call: so many places fewer are tried. */
    private static final int LONG = 20;
    /** More groups than one packet reports losses of. */
    private static final int LOST_GROUPS = Losses.MAX_RECORDS + 2;

    private static int trials;

    private final String name;
    private final FaultSweep.Settings settings;
    private final FaultSweep.Log call;
    private final Fault fault;
    private final State state;
    private final List<String> problems;
    private final Path in;
    private final Session session;
    private final SessionCore core;
    /** The buffer that has the messages. */
    private final SharedBuffer buffer;
    private final List<SharedBuffer.Claim> held = new ArrayList<>();
    private long logged;
    /** Messages whose call had no stack to begin, and said so. */
    private long notBegun;
    /** Losses that no sequence has. */
    private long unattributed;
    private int found;

    /** The session when a call is made, or the operation that is tried instead of a call. */
    enum State {
        EASY,
        /** Each message takes a chunk of its own. */
        CROWDED,
        /** There is no chunk. */
        FULL,
        /** As crowded, and the chunk begins with losses. */
        LOSSES,
        /** The first call of a thread. */
        THREAD,
        /** The file is written. */
        FLUSH,
        /** Chunks and sequences of threads that have ended are taken back. */
        SWEEP,
        /** The session ends. */
        STOP,
        /** Another session starts and ends. */
        START,
        /** A line goes to a text file, which is rotated. */
        TEXT
    }

    FaultScenario(String name, FaultSweep.Settings settings, FaultSweep.Log call, Fault fault, State state, Path directory, List<String> problems)
            throws IOException {
        this.name = name;
        this.settings = settings;
        this.call = call;
        this.fault = fault;
        this.state = state;
        this.problems = problems;
        in = Files.createTempDirectory(directory, "s");
        session = settings.of(Session.builder().bufferBytes(256 << 10).enableAll(), in).start();
        core = Sessions.running().stream().filter(session.running()::isOf).findFirst().orElseThrow();
        buffer = (core.pinned() == null ? core : core.pinned()).buffer();
    }

    /** Fails at every {@code step}th place, and returns their number. */
    int run(int step) throws Exception {
        int places = 0;
        log();
        log();
        if (state == State.STOP) {
            return stop(step);
        }
        int stride = stride(step);
        for (int passed = 0; passed < MANY && found < ENOUGH; passed += stride) {
            Fault next = new Fault(fault.kind(), passed, fault.lasts());
            Outcome outcome = trial(next);
            if (!outcome.hasFired()) {
                break;
            }
            places++;
            check(next, outcome);
            if (++trials % COLLECTION == 0) {
                System.gc();
            }
        }
        giveBack();
        checkTrace(session.stop());
        return places;
    }

    /** The distance between two places that are tried. */
    private int stride(int step) {
        boolean isInterrupt = fault.kind() == Kind.INTERRUPT;
        if (isInterrupt && fault.lasts()) {
            // There is an interrupt at all places anyway.
            return MANY;
        }
        boolean isLong = state == State.FLUSH && core.keepsMessages() || isInterrupt && step > 1;
        return isLong ? LONG * step : step;
    }

    /** Stops the session while a place fails that depends on the scenario: there is one stop. */
    private int stop(int step) throws Exception {
        Path recording = session.recording();
        Summary[] summary = {null};
        int passed = Math.floorMod(name.hashCode(), 97) * (fault.kind() == Kind.STACK ? step : 1);
        Outcome outcome = Faults.during(new Fault(fault.kind(), passed, fault.lasts()), () -> summary[0] = session.stop());
        if (fault.kind() == Kind.INTERRUPT && outcome.hasFired()) {
            checkInterrupted(fault, outcome);
        }
        if (summary[0] == null && recording != null && !Files.exists(recording)) {
            problem(outcome, "neither a trace nor a recording");
        }
        try {
            // One that has its messages in memory tries again; of others there is the recording.
            checkTrace(session.stop());
        } catch (IOException e) {
            same("a recording stays", recording != null, true);
        }
        if (recording != null) {
            Files.deleteIfExists(recording);
        }
        return 1;
    }

    private Outcome trial(Fault next) throws Exception {
        prepare();
        Outcome[] outcome = {null};
        switch (state) {
            case FLUSH -> outcome[0] = Faults.during(next, () -> {
                if (core.keepsMessages()) {
                    session.snapshot(in.resolve("snapshot"));
                } else {
                    session.flush();
                }
            });
            case SWEEP -> outcome[0] = Faults.during(next, core::sweep);
            case START -> outcome[0] = Faults.during(next, this::startAnother);
            case TEXT -> outcome[0] = Faults.during(next, this::writeLine);
            case THREAD -> {
                long number = logged++;
                Thread thread = new Thread(() -> outcome[0] = Faults.during(next, () -> call.log(number)));
                thread.start();
                thread.join();
            }
            default -> {
                long number = logged++;
                outcome[0] = Faults.during(next, () -> call.log(number));
            }
        }
        if (state == State.FULL) {
            giveBack();
        }
        // The next message puts right whatever the error has left.
        log();
        if (state == State.THREAD) {
            core.sweep();
        }
        return outcome[0];
    }

    private void prepare() throws InterruptedException {
        if (state == State.LOSSES) {
            List<Sequence> sequences = core.sequences();
            for (int group = 1; group <= LOST_GROUPS; group++) {
                core.lose(sequences.isEmpty() ? null : sequences.get(0), group, LossCause.BUFFER_FULL);
                logged++;
            }
        }
        if (state == State.CROWDED || state == State.LOSSES) {
            hold(true);
        } else if (state == State.FULL) {
            hold(false);
        } else if (state == State.FLUSH) {
            for (int i = 0; i < (name.contains("long") ? 3 : 20); i++) {
                log();
            }
        } else if (state == State.SWEEP) {
            Thread thread = new Thread(this::log);
            thread.start();
            thread.join();
        }
    }

    private void log() {
        call.log(logged++);
    }

    /** Takes chunks until threads should keep none, or until there are none. */
    private void hold(boolean isCrowded) {
        while (!isCrowded || !buffer.isCrowded(false)) {
            SharedBuffer.Claim claim = new SharedBuffer.Claim();
            if (buffer.acquire(claim, SharedBuffer.NONE, PageLayout.ONE, 0) == SharedBuffer.NONE) {
                return;
            }
            held.add(claim);
        }
    }

    private void giveBack() {
        held.forEach(buffer::giveBack);
        held.clear();
    }

    /** Starts and stops a session that is as the one that runs. */
    private void startAnother() throws Exception {
        Path other = Files.createDirectory(in.resolve("other"));
        settings.of(Session.builder().bufferBytes(256 << 10).enableAll(), other).start().stop();
        try (Stream<Path> all = Files.walk(other)) {
            all.sorted((one, next) -> next.compareTo(one)).forEach(path -> path.toFile().delete());
        }
    }

    /** Writes a line into a new file, and one into the next. */
    private void writeLine() throws Exception {
        Path text = in.resolve("app.log");
        try (RotatingFile file = RotatingFile.open(text, 1, 1)) {
            file.show(new TextLine(LogLevel.INFO, "Net", "first"));
            file.show(new TextLine(LogLevel.INFO, "Net", "second"));
            if (file.problem() != null || !Files.readString(text).contains("second") || !Files.readString(in.resolve("app.log.1")).contains("first")) {
                throw new AssertionError("a line is missing");
            }
        }
        Files.delete(text);
        Files.delete(in.resolve("app.log.1"));
    }

    private void check(Fault at, Outcome outcome) throws Exception {
        boolean isCall = !Set.of(State.FLUSH, State.SWEEP, State.START, State.TEXT).contains(state);
        if (fault.kind() == Kind.INTERRUPT) {
            checkInterrupted(at, outcome);
        }
        if (isCall && outcome.thrown() != null && fault.kind() != Kind.STACK) {
            problem(outcome, "at " + at.passed() + ": the call throws " + outcome.thrown());
        }
        if (!core.keepsMessages()) {
            session.flush();
        }
        SessionStats stats = session.running().stats();
        long missing = logged - notBegun - stats.messages() - stats.lost();
        if (missing == 1 && isCall && fault.kind() == Kind.STACK && outcome.thrown() != null) {
            notBegun++;
        } else if (missing != 0) {
            problem(outcome, "at " + at.passed() + ": " + missing + " messages are neither recorded nor counted");
            notBegun += missing;
        }
        if (state == State.LOSSES && Files.exists(in.resolve("t.pftrace")) && !core.keepsMessages()) {
            checkReports(at, outcome);
        }
    }

    /** Checks that an interrupt has no effect but to be there. */
    private void checkInterrupted(Fault at, Outcome outcome) {
        if (outcome.thrown() != null) {
            problem(outcome, "at " + at.passed() + ": throws " + outcome.thrown());
        } else if (!outcome.isInterrupted()) {
            problem(outcome, "at " + at.passed() + ": the interrupt is forgotten");
        }
        boolean isLost = core.total().all().stream().anyMatch(loss -> loss.cause() != LossCause.TEMPLATE_LIMIT);
        if (state != State.FULL && state != State.LOSSES && isLost) {
            problem(outcome, "at " + at.passed() + ": " + core.total().all());
        }
    }

    /**
     * Checks that each loss is reported by a chunk or waits for the next one: that the end of a
     * trace reports what chunks don't is no help to one that is killed.
     */
    private void checkReports(Fault at, Outcome outcome) throws Exception {
        long waiting = 0;
        for (Sequence sequence : core.sequences()) {
            waiting += sequence.losses.all().stream().mapToLong(Losses.Count::count).sum();
        }
        long lost = core.total().all().stream().mapToLong(Losses.Count::count).sum();
        long reported = FaultTrace.read(List.of(in.resolve("t.pftrace")), Set.of(FaultSweep.ID)).lost();
        // One of a call that had no writer is reported at the end.
        long others = lost - reported - waiting - unattributed;
        if (others < 0 || others > 1) {
            problem(outcome, "at " + at.passed() + ": of " + lost + " losses " + reported + " are reported, and " + waiting + " wait");
        }
        unattributed += others;
    }

    private void problem(Outcome outcome, String what) {
        StringBuilder text = new StringBuilder(name + " " + what);
        if (outcome.place() != null) {
            Stream.of(outcome.place().getStackTrace()).limit(9).forEach(frame -> text.append("\n    ").append(frame));
        }
        problems.add(text.toString());
        found++;
    }

    private void checkTrace(Summary summary) throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.list(in)) {
            files = all.filter(path -> path.toString().endsWith(".pftrace")).sorted().toList();
        }
        FaultTrace trace = FaultTrace.read(files, Set.of(FaultSweep.ID));
        boolean hasText = name.contains("wrong template");
        same("what a reader can't make sense of", trace.problems.stream().filter(it -> !hasText).limit(3).toList(), List.of());
        same("messages of the trace and the summary", trace.messages, summary.messages());
        same("losses of the trace and the summary", trace.lost(), summary.lost());
        same("messages that are there or counted", summary.messages() + summary.lost(), logged - notBegun);
        if (trace.messages > 0) {
            // Where a scope finds no memory, its messages belong to none.
            same("messages belong to requests", trace.inRequests * 3 >= trace.messages, name.contains("in requests"));
        }
        Map<Long, Integer> times = new HashMap<>();
        trace.numbers.forEach(number -> times.merge(number, 1, Integer::sum));
        same("messages that are there twice", times.keySet().stream().filter(number -> times.get(number) > 1).toList(), List.of());
        try (Stream<Path> all = Files.list(in)) {
            for (Path path : all.toList()) {
                Files.delete(path);
            }
        }
    }

    private void same(String what, Object actual, Object expected) {
        if (!actual.equals(expected)) {
            problems.add(name + ": " + what + "\n    expected: " + expected + "\n    actual:   " + actual);
        }
    }
}
