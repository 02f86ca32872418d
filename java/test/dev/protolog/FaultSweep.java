package dev.protolog;

import dev.protolog.FaultScenario.State;
import dev.protolog.Faults.Fault;
import dev.protolog.Faults.Kind;
import dev.protolog.internal.files.Claims;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Log calls, flushes and stops in which each place fails in turn that can: for want of memory, once
 * or from there on, and for want of stack. Each message is in the trace or counted as lost, in the
 * session and in the trace, whatever fails. An interrupt at any place loses nothing and stays set.
 * {@link FaultTest} has it run by classes with hooks.
 */
public final class FaultSweep {
    /** The message of processed calls. */
    static final long ID = 0x1122334455667788L;
    private static final List<Fault> FAULTS =
            List.of(new Fault(Kind.MEMORY, 0, false), new Fault(Kind.MEMORY, 0, true), new Fault(Kind.STACK, 0, false),
                    new Fault(Kind.LINK, 0, false), new Fault(Kind.INTERRUPT, 0, false), new Fault(Kind.INTERRUPT, 0, true));
    /**
     * Calls that a short run tries in each state of a session that streams; the first one in
     * others, too.
     */
    private static final List<String> COMMON = List.of("string", "long string", "in requests");
    /** The requests that messages with a number belong to. */
    private static final List<Request> REQUESTS = List.of(new Request("r0"), new Request("r1"), new Request("r2"));
    /** Groups of the same name, which come and go. */
    private static final int NAMES = 20;

    /** The group of a session: there is a limit to the templates of groups that are still there. */
    private static volatile FaultGroup net;

    private FaultSweep() {}

    /** Logs the message of a number, with that number first. */
    interface Log {
        void log(long number);
    }

    /** Settings of a session that writes to a directory. */
    interface Settings {
        Session.Builder of(Session.Builder builder, Path directory);
    }

    /**
     * Fails at every {@code step}th place of each scenario whose name has {@code only} in it, 1 for
     * all places; a short run leaves some scenarios out. Returns the number of places and what went
     * wrong.
     */
    public static Map.Entry<Integer, List<String>> run(int step, String only) throws Exception {
        System.setProperty("protolog.level", "off");
        Path directory = Files.createTempDirectory("protolog-faults");
        List<String> problems = new ArrayList<>();
        Set<Object> claimed = new HashSet<>();
        int places = 0;
        try {
            for (Map.Entry<String, Settings> settings : sessions().entrySet()) {
                for (Map.Entry<String, Log> call : calls().entrySet()) {
                    for (State state : State.values()) {
                        for (Fault fault : FAULTS) {
                            String name = settings.getKey() + ", " + call.getKey() + ", " + state + ", " + fault.kind() + (fault.lasts() ? " on" : "");
                            if (name.contains(only) && isTried(call.getKey(), state, fault) && (step == 1 || isShort(settings.getKey(), call.getKey(), state, fault))) {
                                net = new FaultGroup("NET");
                                places += new FaultScenario(name, settings.getValue(), call.getValue(), fault, state, directory, problems).run(step);
                                claimed.addAll(fault.kind() == Kind.STACK || fault.lasts() ? claims() : Set.of());
                                if (!claimed.containsAll(claims())) {
                                    problems.add(name + ": still claimed: " + claims() + ", before it " + claimed);
                                }
                            }
                        }
                    }
                }
            }
        } finally {
            try (Stream<Path> all = Files.walk(directory)) {
                all.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
        return Map.entry(places, problems);
    }

    /** All claims on files, those included that somebody had no stack or memory to give up. */
    private static Set<Object> claims() throws ReflectiveOperationException {
        Field field = Claims.class.getDeclaredField("TAKEN");
        field.setAccessible(true);
        Map<?, ?> taken = (Map<?, ?>) field.get(null);
        synchronized (taken) {
            return new HashSet<>(taken.keySet());
        }
    }

    /**
     * To start a session and to print take no call, and are tried with interrupts: each of them
     * throws where memory is missing.
     */
    private static boolean isTried(String call, State state, Fault fault) {
        boolean isOther = state == State.START || state == State.TEXT;
        return !isOther || call.equals(COMMON.get(0)) && fault.kind() == Kind.INTERRUPT && !fault.lasts();
    }

    /** True of what a short run tries. */
    private static boolean isShort(String session, String call, State state, Fault fault) {
        if (!session.equals("stream")) {
            return call.equals(COMMON.get(0)) && Set.of(State.CROWDED, State.FLUSH, State.STOP, State.START).contains(state);
        }
        return COMMON.contains(call) || fault.kind() == Kind.MEMORY && (state == State.EASY || state == State.THREAD);
    }

    private static Map<String, Settings> sessions() {
        Map<String, Settings> sessions = new LinkedHashMap<>();
        sessions.put("stream", (it, in) -> it.file(in.resolve("t.pftrace")));
        sessions.put("segments", (it, in) -> it.file(in.resolve("t.pftrace")).segmentBytes(20_000));
        sessions.put("ring", (it, in) -> it.file(in.resolve("t.pftrace")).keepNewest());
        sessions.put("record", (it, in) -> it.file(in.resolve("t.pftrace")).recordTo(in.resolve("t.rec")));
        sessions.put("pinned", (it, in) -> it.file(in.resolve("t.pftrace")).recordTo(in.resolve("t.rec")).pin(new Pinned().level(LogLevel.INFO)));
        return sessions;
    }

    private static Map<String, Log> calls() {
        Map<String, Log> calls = new LinkedHashMap<>();
        calls.put("ints", n -> ProtoLogImpl.i(net, ID, 5, n, 7L));
        calls.put("string", n -> ProtoLogImpl.i(net, ID, 1, n, n + ". text"));
        // More than a chunk.
        calls.put("in requests", n -> {
            try (RequestScope scope = REQUESTS.get((int) (n % REQUESTS.size())).enter()) {
                ProtoLogImpl.i(net, ID, 1, n, scope == null ? null : n + ". text");
            }
        });
        calls.put("long string", n -> ProtoLogImpl.i(net, ID, 1, n, n + "." + "x".repeat(3900), n + "." + "y".repeat(3900)));
        calls.put("six arguments", n -> ProtoLogImpl.i(net, ID, 1, n, 1L, 2.0, true, n + ". text", 5L));
        calls.put("array", n -> ProtoLogImpl.i(net, ID, 1, new Object[] {n, 1, 2, 3, n + ". text", 5, 6, 7}));
        calls.put("unprocessed", n -> ProtoLog.i(net, "%d of %s", n, n + ". text"));
        calls.put("new template", n -> ProtoLog.i(net, "%d of template " + n, n));
        calls.put("wrong template", n -> ProtoLog.i(net, "%d %q", n));
        calls.put("new group", n -> ProtoLogImpl.i(new FaultGroup("GROUP" + n % NAMES), ID, 1, n));
        calls.put("new group, unprocessed", n -> ProtoLog.i(new FaultGroup("GROUP" + n % NAMES), "%d in a new group", n));
        calls.put("guarded new group", n -> {
            FaultGroup group = new FaultGroup("GUARDED" + n % NAMES);
            if (ProtoLogImpl.isEnabled(group, LogLevel.INFO)) {
                ProtoLogImpl.i(group, ID, 1, n);
            }
        });
        return calls;
    }
}
