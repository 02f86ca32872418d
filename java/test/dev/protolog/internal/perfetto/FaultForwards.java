package dev.protolog.internal.perfetto;

import dev.protolog.FaultGroup;
import dev.protolog.FaultTrace;
import dev.protolog.Faults;
import dev.protolog.Faults.Fault;
import dev.protolog.Faults.Kind;
import dev.protolog.IProtoLogGroup;
import dev.protolog.ProtoLogImpl;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.session.Sessions;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Sessions of a service with a large dictionary, in which one place of the thread that forwards
 * fails in turn for want of memory. The connection goes on; each message is in the trace once, with
 * its text before it, and counted once. {@code FaultTest} has it run by classes with hooks.
 */
public final class FaultForwards {
    /** The messages of a dictionary that is large, with the words of each. */
    private static final int TEXTS = 2000;
    private static final String WORDS = "%d of many, with " + "words ".repeat(22) + "and %s";
    /** {@code ENABLE_ALL}. */
    private static final byte[] ALL = new ProtoWriter().message(126, new ProtoWriter().varint(2, 1)).done();
    /** The problems after which no more is tried. */
    private static final int ENOUGH = 5;

    private static final IProtoLogGroup GROUP = new FaultGroup("FORWARDED");

    private final List<String> problems = new ArrayList<>();
    private final Path directory;
    private Connection connection;
    private long sessions;
    private long flushes;
    private long logged;
    /** The id of the last message of a dictionary. */
    private long lastId = 1L << 40;
    private int failed;
    /** Why the last connection ended. */
    private String lastEnd;

    /** What the forwarder does while a place fails. */
    private enum Step {
        /** Writes a dictionary that has become large. */
        BECOME_LARGE,
        /** Passes on messages that a large one has, and the session did not have. */
        USE,
        /** Starts a session with a large one. */
        START
    }

    /** A producer with its service. */
    private static final class Connection implements AutoCloseable {
        private final FaultService service;
        private final Link link;
        private final Forwarder forwarder;
        private final ProducerState state = new ProducerState();
        private final Thread commands;
        private final Thread forwarding;
        private volatile String end;

        Connection(Path socket) throws IOException {
            service = new FaultService(socket);
            link = Link.connect(ServiceAddress.parse(socket.toString()));
            forwarder = new Forwarder(link, state);
            forwarder.start();
            forwarding = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("protolog-fwd")).findFirst().orElseThrow();
            commands = new Thread(this::receive);
            commands.setDaemon(true);
            commands.start();
        }

        private void receive() {
            try {
                while (forwarder.add(link.receiveCommand())) {
                    // The next one.
                }
            } catch (IOException e) {
                end = e.getMessage();
            }
            link.close();
            String reason = forwarder.end();
            end = reason == null ? end : reason;
        }

        @Override
        public void close() throws IOException {
            service.close();
            try {
                commands.join();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    private FaultForwards(Path directory) {
        this.directory = directory;
    }

    /**
     * Fails at so many places of each step. Returns the number of those that failed, and what went
     * wrong.
     */
    public static Map.Entry<Integer, List<String>> run(int places) throws Exception {
        System.setProperty("protolog.level", "off");
        Path directory = Files.createTempDirectory("protolog-forwards");
        FaultForwards forwards = new FaultForwards(directory);
        try {
            for (Step step : Step.values()) {
                forwards.run(step, places);
            }
        } finally {
            forwards.disconnect();
            for (Path path : Files.list(directory).toList()) {
                Files.delete(path);
            }
            Files.delete(directory);
        }
        return Map.entry(forwards.failed, forwards.problems);
    }

    private void run(Step step, int places) throws Exception {
        if (step == Step.START) {
            // From here on all sessions have it from their start.
            Method add = Dictionaries.class.getDeclaredMethod("add", byte[].class, ClassLoader.class);
            add.setAccessible(true);
            add.invoke(null, dictionary(), null);
        }
        int all = Integer.MAX_VALUE - trial(step, Integer.MAX_VALUE);
        for (int at = 0; at < places && problems.size() < ENOUGH; at++) {
            trial(step, (int) ((long) all * at / places));
            failed += Faults.place() == null ? 0 : 1;
        }
    }

    /** One session. Returns the places that were not passed. */
    private int trial(Step step, int passed) throws Exception {
        String name = step + " at " + passed;
        List<Long> numbers = new ArrayList<>();
        int left = 0;
        try {
            connect();
            Fault fault = new Fault(Kind.MEMORY, passed, false);
            long id = ++sessions;
            if (step == Step.START) {
                Faults.arm(connection.forwarding, fault);
                connection.service.start(id, ALL);
                left = Faults.disarm();
            } else {
                connection.service.start(id, ALL);
                Method add = SessionDictionary.class.getDeclaredMethod("addToAll", byte[].class);
                add.setAccessible(true);
                add.invoke(null, dictionary());
            }
            log(numbers, 2);
            connection.service.flush(id, ++flushes, true);
            if (step == Step.BECOME_LARGE) {
                Faults.arm(connection.forwarding, fault);
            }
            connection.service.flush(id, ++flushes, false);
            if (step == Step.USE) {
                Faults.arm(connection.forwarding, fault);
                log(numbers, 6);
                connection.service.flush(id, ++flushes, true);
            }
            left = step == Step.START ? left : Faults.disarm();
            FaultTrace trace = FaultTrace.of(connection.service.takeTrace());
            // A ring has lost what came before by now.
            trace.dictionary.clear();
            log(numbers, 3);
            connection.service.flush(id, ++flushes, true);
            SessionStats stats = Sessions.running().get(0).stats();
            same(name + ": messages and losses counted", stats.messages() + " " + stats.lost(), numbers.size() + " 0");
            connection.service.stop(id);
            same(name + ": lost", connection.state.get().lost(), 0L);
            trace.readPackets(connection.service.takeTrace());
            same(name + ": what a reader can't make sense of", trace.problems, List.of());
            same(name + ": losses", trace.losses, Map.of());
            trace.numbers.sort(null);
            same(name + ": messages", trace.numbers, numbers);
            same(name + ": texts at the end", numbers.stream().filter(number -> !trace.dictionary.contains(id(number))).toList(), List.of());
        } catch (IOException e) {
            left = Faults.disarm();
            disconnect();
            problems.add(name + ": " + e.getMessage() + ": " + lastEnd + where());
        }
        return left;
    }

    private void connect() throws IOException {
        if (connection == null) {
            connection = new Connection(directory.resolve("s" + sessions));
        }
    }

    private void disconnect() throws IOException {
        if (connection != null) {
            connection.close();
            lastEnd = connection.end;
            connection = null;
        }
    }

    /** A dictionary with messages that no other has. */
    private byte[] dictionary() {
        ProtoWriter dictionary = new ProtoWriter();
        for (int at = 0; at < TEXTS; at++) {
            dictionary.message(1, new ProtoWriter().fixed64(1, ++lastId).string(2, WORDS).varint(3, 3).varint(4, 7));
        }
        return dictionary.done();
    }

    /** Logs so many messages of the last dictionary, each with an id of its own. */
    private void log(List<Long> numbers, int count) {
        for (int at = 0; at < count; at++) {
            numbers.add(++logged);
            ProtoLogImpl.i(GROUP, id(logged), 1, logged, logged + ". text");
        }
    }

    /** The message with this number has this id in the last dictionary. */
    private long id(long number) {
        return lastId - number % TEXTS;
    }

    /** Where the last place failed. */
    private static String where() {
        StringBuilder text = new StringBuilder();
        if (Faults.place() != null) {
            Stream.of(Faults.place().getStackTrace()).limit(8).forEach(frame -> text.append("\n    ").append(frame));
        }
        return text.toString();
    }

    private void same(String what, Object actual, Object expected) {
        if (!actual.equals(expected)) {
            problems.add(what + "\n    expected: " + expected + "\n    actual:   " + actual + where());
        }
    }
}
