package dev.protolog.internal.perfetto;

import dev.protolog.ProtoLogProducer;
import dev.protolog.internal.process.RuntimeThread;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that connects to the service again and again, and reads its commands, which
 * {@link Forwarder} obeys.
 *
 * <pre>
 * connect() -> thread "protolog-conn": connects, with back-off; reads commands
 *                                                                   |
 * writers -> buffer of a session -> thread "protolog-fwd": chunk by chunk -> the service
 * </pre>
 *
 * <p>Invariants: nothing here runs on a thread of the program, but for the start of the first
 * thread. What the service sends is untrusted: it ends the connection at worst.
 */
public final class Producer implements Runnable {
    /** The system property that joins the service, {@code true}, or forbids to, {@code false}. */
    private static final String PROPERTY = "protolog.perfetto";
    /** The first pause after an attempt that failed, in nanoseconds; it doubles each time. */
    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LAST_PAUSE = TimeUnit.SECONDS.toNanos(5);
    /** The longest that the end of sessions and threads is waited for, in milliseconds. */
    private static final long LONGEST_END = 5000;

    /** The one of this process; null for none. */
    private static volatile Producer running;
    /** The state of that one, or of the last one. */
    private static volatile ProducerState latest = new ProducerState();

    private final ProducerState state = new ProducerState();
    private final Thread thread = RuntimeThread.daemon(this, "protolog-conn");
    private volatile boolean isStopped;
    /** Those of the present connection; null for none. */
    private Link link;
    private Forwarder forwarder;

    private Producer() {}

    /** True if the JVM was started with the property that joins the service. */
    public static boolean isWanted() {
        return "true".equals(System.getProperty(PROPERTY));
    }

    /**
     * Joins the service, now or once it is there. Further calls have no effect. Messages of these
     * levels, as many as fit {@code startupBytes}, are kept for the first session; 0 for none.
     */
    public static synchronized void connect(int startupBytes, int startupLevels) {
        if (running != null || "false".equals(System.getProperty(PROPERTY))) {
            return;
        }
        Producer producer = new Producer();
        running = producer;
        latest = producer.state;
        if (startupBytes > 0) {
            producer.state.keep(startupBytes, startupLevels);
        }
        try {
            RuntimeThread.start(producer.thread);
        } catch (IOException e) {
            running = null;
            producer.state.setDisconnected(e.getMessage());
            producer.state.endStartup();
        }
    }

    /** Leaves the service, after its sessions have all that was logged. */
    public static synchronized void disconnect() {
        Producer producer = running;
        running = null;
        if (producer != null) {
            producer.stop();
            producer.state.setLeft();
            producer.state.endStartup();
        }
    }

    public static ProtoLogProducer.Status status() {
        return latest.get();
    }

    @Override
    public void run() {
        long pause = FIRST_PAUSE;
        while (!isStopped) {
            long began = System.nanoTime();
            state.setDisconnected(serve());
            // A service that has recorded something works: it may have been started anew.
            if (state.takeRecorded() || System.nanoTime() - began > LAST_PAUSE) {
                pause = FIRST_PAUSE;
            }
            for (long by = System.nanoTime() + pause; !isStopped && by - System.nanoTime() > 0;) {
                Thread.interrupted();
                LockSupport.parkNanos(this, by - System.nanoTime());
            }
            pause = Math.min(2 * pause, LAST_PAUSE);
        }
    }

    /** Connects once, and serves until the connection ends. Returns the reason of its end. */
    private String serve() {
        String place = "";
        try {
            ServiceAddress address = ServiceAddress.find();
            place = address.name() + ": ";
            try (Link connected = Link.connect(address)) {
                return serve(connected);
            }
        } catch (IOException e) {
            return place + e.getMessage();
        } catch (RuntimeException | Error e) {
            // Out of memory or of descriptors, which may pass.
            return place + e;
        }
    }

    private String serve(Link connected) throws IOException {
        Forwarder started = new Forwarder(connected, state);
        synchronized (this) {
            if (isStopped) {
                return "the program has left";
            }
            link = connected;
            forwarder = started;
        }
        String end;
        try {
            started.start();
            state.setConnected();
            end = receive(connected, started);
        } finally {
            synchronized (this) {
                link = null;
                forwarder = null;
            }
        }
        // Later ones come of the end.
        String reason = started.reason();
        // It may wait until the service takes something.
        connected.close();
        started.end();
        return reason == null ? end : reason;
    }

    /** Reads commands until the connection ends. Returns the reason. */
    private static String receive(Link connected, Forwarder forwarder) {
        try {
            while (forwarder.add(connected.receiveCommand())) {
                // The next one.
            }
            return "the service sends more commands than can be done";
        } catch (IOException e) {
            return e.getMessage();
        } catch (RuntimeException | Error e) {
            return "an error of the runtime: " + e;
        }
    }

    private void stop() {
        Link now;
        synchronized (this) {
            isStopped = true;
            now = link;
            if (forwarder != null) {
                forwarder.leave();
            }
        }
        LockSupport.unpark(thread);
        boolean isInterrupted = await();
        if (thread.isAlive() && now != null) {
            // The service takes nothing any more.
            now.close();
            isInterrupted |= await();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the end of the thread. True if this one was interrupted meanwhile. */
    private boolean await() {
        boolean isInterrupted = false;
        long by = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_END);
        for (long left = LONGEST_END; thread.isAlive() && left > 0; left = TimeUnit.NANOSECONDS.toMillis(by - System.nanoTime())) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        return isInterrupted;
    }
}
