package dev.protolog.internal.perfetto;

import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.process.RuntimeThread;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.session.ForwardedSession;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that forwards: it does what the service asks for, and passes on what was logged. It
 * looks each 10 ms while something is logged, and less often up to each 100 ms while nothing is; a
 * writer wakes it when half of a buffer is in use. Without a session it sleeps.
 *
 * <p>Invariant: only this thread sends requests once the connection stands, so that the service
 * gets chunks before the answer to the flush that they belong to.
 */
final class Forwarder implements Runnable {
    /** The time between two looks, in nanoseconds. */
    private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(100);
    /** The pause after an error out of memory, which may pass. */
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    /** The most such errors in a row. */
    private static final int MAX_ERRORS = 50;
    /** The most commands that wait, and the most bytes that they take. */
    private static final int MAX_COMMANDS = 1024;
    private static final int MAX_COMMAND_BYTES = 4 << 20;
    /** The most sessions that record a process at a time. */
    private static final int MAX_SESSIONS = 32;
    /** The most sessions that are not recorded, and of which that is said again. */
    private static final int MAX_REFUSALS = 256;
    /** Our field of a packet. */
    private static final int REFUSAL = 1010;
    /** The reason of a flush in its flags, and the value for one of a series. */
    private static final long REASON = 0xf;
    private static final long PERIODIC = 1;

    private final Link link;
    private final Outlet outlet;
    private final ProducerState state;
    private final Thread thread = RuntimeThread.daemon(this, "protolog-fwd");
    private final BlockingQueue<Command> commands = new ArrayBlockingQueue<>(MAX_COMMANDS);
    /** The bytes of commands that wait. */
    private final AtomicInteger commandBytes = new AtomicInteger();
    private final List<Instance> instances = new ArrayList<>();
    /** Those that are complete since the program is ending. */
    private final List<Instance> ended = new ArrayList<>();
    /** The sessions that are not recorded, some of them. */
    private final List<Refused> refusals = new ArrayList<>();
    /** The connection is over. */
    private volatile boolean isClosed;
    /** The program leaves the service. */
    private volatile boolean isLeaving;
    /** The reason why this thread has ended the connection; null where it did not. */
    private volatile String reason;
    /** The command that is being obeyed; null for none. */
    private Command current;
    /** It was begun before, and ended in an error. */
    private boolean isRepeated;
    private long interval = INTERVAL;
    private long nextLook = System.nanoTime();

    /**
     * A session that is not recorded.
     *
     * @param target the service's buffer
     */
    private record Refused(long id, int target, String reason) {}

    Forwarder(Link link, ProducerState state) {
        this.link = link;
        this.state = state;
        outlet = new Outlet(link);
    }

    void start() throws IOException {
        RuntimeThread.start(thread);
    }

    /** Has a command done. False where too many wait. */
    boolean add(Command command) {
        boolean isAdded = commandBytes.addAndGet(command.bytes()) <= MAX_COMMAND_BYTES && commands.offer(command);
        LockSupport.unpark(thread);
        return isAdded;
    }

    /** Has all sessions completed, and the connection ended. */
    void leave() {
        isLeaving = true;
        LockSupport.unpark(thread);
    }

    /** The reason why this thread has ended the connection; null where it did not. */
    String reason() {
        return reason;
    }

    /**
     * Ends the thread, for whom there is no connection any more. Returns the reason why it had
     * ended that itself, or null.
     */
    String end() {
        isClosed = true;
        LockSupport.unpark(thread);
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // Nobody who means it interrupts this thread.
            }
        }
        return reason;
    }

    @Override
    public void run() {
        try {
            forward();
        } catch (IOException e) {
            reason = e.getMessage();
        } catch (RuntimeException | Error e) {
            reason = "an error of the runtime: " + e;
        } finally {
            link.close();
            instances.forEach(this::abandon);
            instances.clear();
        }
    }

    private void forward() throws IOException {
        int errors = 0;
        while (!isClosed) {
            try {
                obeyAll();
                endSessions();
                if (isLeaving) {
                    reason = "the program has left";
                    return;
                }
                look();
                errors = 0;
                sleep();
            } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
                // All that was done is known to be, and the rest is done by the next look.
                if (!PassingErrors.isOne(e) || ++errors > MAX_ERRORS) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE);
            }
        }
    }

    private void obeyAll() throws IOException {
        while (current != null || !commands.isEmpty()) {
            isRepeated = current != null;
            current = isRepeated ? current : commands.poll();
            obey(current);
            commandBytes.addAndGet(-current.bytes());
            current = null;
        }
    }

    private void obey(Command command) throws IOException {
        switch (command.kind()) {
            case START -> start(command);
            case STOP -> {
                Instance instance = find(command.id());
                if (instance != null) {
                    stop(instance);
                }
                writeRefusals(List.of(command.id()));
                refusals.removeIf(refused -> refused.id == command.id());
                outlet.notify("NotifyDataSourceStopped", command.id());
            }
            case FLUSH -> {
                boolean withHead = (command.flags() & REASON) != PERIODIC;
                for (Instance instance : instances) {
                    if (command.ids().contains(instance.id)) {
                        instance.flush(withHead);
                    }
                }
                if (withHead) {
                    writeRefusals(command.ids());
                }
                outlet.commit(command.request());
            }
            case CLEAR -> {
                for (Instance instance : instances) {
                    if (command.ids().contains(instance.id)) {
                        // Every chunk sets up its own state.
                        instance.writeHead();
                    }
                }
                outlet.commit(0);
            }
        }
    }

    private void start(Command command) throws IOException {
        long id = command.id();
        if (find(id) != null) {
            if (!isRepeated) {
                throw new IOException("the service started a session twice");
            }
            outlet.notify("NotifyDataSourceStarted", id);
            return;
        }
        SourceConfig config;
        try {
            config = SourceConfig.decode(command.config());
        } catch (ProtoReader.MalformedException e) {
            throw new IOException("the service sent a malformed configuration: " + e.getMessage(), e);
        }
        if (config.asksForAbort()) {
            state.setNotice("a session asks for STALL_THEN_ABORT; messages are dropped instead");
        }
        ServiceWriter own = instances.size() < MAX_SESSIONS ? outlet.register(config.target()) : null;
        if (own == null) {
            boolean isSessionTooMany = instances.size() >= MAX_SESSIONS;
            state.setNotice("a session does not record: there are too many " + (isSessionTooMany ? "sessions" : "writers"));
            refuse(id, config.target(), isSessionTooMany ? "it records " + MAX_SESSIONS + " others, the most at a time" : "there are too many writers");
        } else {
            start(id, config, own);
        }
        outlet.notify("NotifyDataSourceStarted", id);
    }

    private void start(long id, SourceConfig config, ServiceWriter own) throws IOException {
        ForwardedSession session;
        ForwardedSession startup = state.startup();
        try {
            session = ForwardedSession.start(config.filter(), config.waitNanos(), thread, link::sent, startup);
        } catch (IOException e) {
            state.setNotice("a session can't start: " + e.getMessage());
            outlet.unregister(own);
            refuse(id, config.target(), e.getMessage());
            return;
        }
        Instance instance;
        try {
            instance = Instance.start(id, config.target(), session, outlet, own);
            instances.add(instance);
        } catch (IOException | RuntimeException | Error e) {
            if (startup != null) {
                startup.resume(session);
            }
            abandon(session);
            throw e;
        }
        if (startup != null) {
            try {
                instance.take(startup);
            } finally {
                state.endStartup();
            }
        }
        interval = INTERVAL;
        state.setSessions(instances.size());
    }

    /**
     * Says in the trace of a session that it is not recorded: now, at each flush and at the end, in
     * case a ring has overwritten it.
     */
    private void refuse(long id, int target, String why) throws IOException {
        Refused refused = new Refused(id, target, why);
        if (refusals.size() < MAX_REFUSALS) {
            refusals.add(refused);
        }
        write(refused);
    }

    private void writeRefusals(List<Long> ids) throws IOException {
        for (Refused refused : refusals) {
            if (ids.contains(refused.id)) {
                write(refused);
            }
        }
    }

    private void write(Refused refused) throws IOException {
        ServiceWriter writer = outlet.register(refused.target);
        if (writer != null) {
            ProtoWriter refusal = new ProtoWriter().string(1, refused.reason).varint(2, RunningProgram.pid()).string(3, RunningProgram.name());
            outlet.write(writer, List.of(new ProtoWriter().message(REFUSAL, refusal).done()));
            outlet.unregister(writer);
        }
    }

    /** Ends a session of a connection that is over, whatever becomes of it. */
    private void abandon(Instance instance) {
        try {
            state.addLost(instance.abandon());
        } catch (RuntimeException | Error e) {
            // No memory to count its messages by. The others are to end, too.
        }
    }

    /** Ends a session of which the service has nothing, and counts what was logged to it. */
    private void abandon(ForwardedSession session) {
        try {
            session.stopWriters();
            state.addLost(session.missing());
        } finally {
            session.finish();
        }
    }

    private Instance find(long id) {
        return instances.stream().filter(instance -> instance.id == id).findFirst().orElse(null);
    }

    private void stop(Instance instance) throws IOException {
        instance.stop();
        instances.remove(instance);
        state.setSessions(instances.size());
    }

    /** Ends the sessions that the process asks to end. */
    private void endSessions() throws IOException {
        for (Instance instance : List.copyOf(instances)) {
            if (isLeaving) {
                stop(instance);
            } else if (instance.session.mustEnd()) {
                instance.stopAtExit();
                instances.remove(instance);
                ended.add(instance);
            }
        }
    }

    /** Passes on what was logged. */
    private void look() throws IOException {
        boolean isDue = System.nanoTime() - nextLook >= 0;
        boolean hasForwarded = false;
        for (Instance instance : instances) {
            boolean isScarce = instance.session.isScarce();
            hasForwarded |= isDue && instance.look() || isScarce && instance.forward(false);
        }
        for (Instance instance : ended) {
            instance.reportLate();
        }
        outlet.commit(0);
        if (isDue || hasForwarded) {
            interval = hasForwarded || !ended.isEmpty() ? INTERVAL : Math.min(2 * interval, LONGEST_INTERVAL);
        }
        if (isDue) {
            nextLook = System.nanoTime() + interval;
        }
    }

    private void sleep() {
        // An interrupt of all threads of a program does not mean this one, which would not sleep
        // any more.
        Thread.interrupted();
        if (instances.isEmpty() && ended.isEmpty()) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, Math.max(1, nextLook - System.nanoTime()));
        }
    }
}
