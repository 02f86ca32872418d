package dev.protolog.internal.control;

import dev.protolog.internal.files.TrustedUsers;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.process.RuntimeThread;
import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;

/**
 * The thread that listens to operators. It sleeps until somebody connects, sends a request, or
 * changes the settings file. The limits are those of {@code protolog-rt/src/control/server.rs}.
 *
 * <p>Invariants: a daemon, which nobody waits for; nothing that an operator sends or fails to send
 * ends or slows down the program; an error in a request ends its connection and nothing else.
 */
public final class ControlServer implements Runnable {
    private static final int MAX_CONNECTIONS = 64;
    /** Connections that are accepted before the others have their turn. */
    private static final int ACCEPT_BATCH = 32;
    /** Requests of all connections in a window of time, in nanoseconds. */
    private static final int MAX_REQUESTS = 200;
    private static final long WINDOW = 100_000_000;
    /** The pause after an error of the system that may pass, in milliseconds. */
    private static final long PAUSE = 100;
    /** The most links on the way to a file, as the system has it. */
    private static final int MAX_LINKS = 40;
    private static final SocketOption<UnixDomainPrincipal> PEER = ExtendedSocketOptions.SO_PEERCRED;

    /** The one that listens; null for none. */
    private static ControlServer running;
    /** The longest that a thread is waited for, in milliseconds. */
    private static final long LONGEST_END = 5000;

    private final SocketPlace place;
    /** Removes socket and switches when the JVM ends. */
    private final Thread hook;
    /** The threads of this server. */
    private final List<Thread> threads = new ArrayList<>();
    /** The changes of the configuration file; null for none. */
    private WatchService changes;
    private volatile boolean isStopped;
    private final ServerSocketChannel listener;
    private final Selector selector;
    private final ControlAnswers answers = new ControlAnswers();
    /** The users that are admitted: this one and root. */
    private final List<UserPrincipal> admitted;
    private List<ControlConnection> connections = new ArrayList<>();
    private long windowBegan = System.nanoTime();
    private int requests;

    private ControlServer(SocketPlace place, ServerSocketChannel listener, UserPrincipal own) throws IOException {
        this.place = place;
        this.listener = listener;
        hook = RuntimeThread.of(place::remove, "protolog exit");
        admitted = TrustedUsers.with(own);
        selector = Selector.open();
        try {
            listener.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException | RuntimeException | Error e) {
            selector.close();
            throw e;
        }
    }

    /**
     * Listens on a socket in {@code directory}, or in the default one if that is null, unless the
     * program does so already; {@code config} is a settings file to be read again when it changes,
     * or null. Returns the reason why the socket is not where it should be, or null.
     */
    public static synchronized ControlException start(Path directory, Path config) throws ControlException, IOException {
        if (running != null) {
            return null;
        }
        SocketPlace place = SocketPlace.find(directory);
        ControlServer server = listen(place);
        try {
            Runtime.getRuntime().addShutdownHook(server.hook);
        } catch (IllegalStateException e) {
            server.selector.close();
            server.listener.close();
            place.remove();
            place.close();
            throw new ControlException("the program is ending", "listen before it does");
        }
        try {
            Groups.share(place.switches());
        } catch (IOException | RuntimeException e) {
            // Without memory to share, groups are switched by request.
        }
        running = server;
        try {
            server.start(server, "protolog-control");
        } catch (IOException | RuntimeException | Error e) {
            // The process may have no more threads.
            server.threads.clear();
            stop();
            server.selector.close();
            server.listener.close();
            throw e;
        }
        if (config != null) {
            server.watch(config);
        }
        ControlException displaced = place.displaced();
        if (displaced == null) {
            return null;
        }
        String[] lines = displaced.getMessage().split("\nhelp: ", 2);
        return new ControlException(lines[0] + "; listening on `" + place.path() + "` instead", lines[1]);
    }

    /** Listens at a place. After an error nothing is left there. */
    private static ControlServer listen(SocketPlace place) throws ControlException, IOException {
        ServerSocketChannel listener = place.listen();
        try {
            return new ControlServer(place, listener, place.owner());
        } catch (IOException | RuntimeException | Error e) {
            listener.close();
            place.remove();
            place.close();
            throw e;
        }
    }

    /** Ends the server that listens, if there is one, with all that keeps this class's loader. */
    public static synchronized void stop() {
        ControlServer server = running;
        if (server == null) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(server.hook);
        } catch (IllegalStateException e) {
            // The program is ending, and the hook does its work.
            return;
        }
        running = null;
        server.end();
        Groups.unshare();
        server.place.remove();
        server.place.close();
    }

    private void start(Runnable body, String name) throws IOException {
        Thread thread = RuntimeThread.daemon(body, name);
        threads.add(thread);
        RuntimeThread.start(thread);
    }

    private void end() {
        isStopped = true;
        selector.wakeup();
        try {
            if (changes != null) {
                changes.close();
            }
        } catch (IOException e) {
            // It is of no use any more.
        }
        boolean isInterrupted = Thread.interrupted();
        for (Thread thread : threads) {
            isInterrupted |= await(thread);
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the end of a thread. True if this one was interrupted meanwhile. */
    private static boolean await(Thread thread) {
        boolean isInterrupted = false;
        long start = System.nanoTime();
        long left = LONGEST_END;
        while (thread.isAlive() && left > 0) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
            left = LONGEST_END - (System.nanoTime() - start) / 1_000_000;
        }
        return isInterrupted;
    }

    @Override
    public void run() {
        serveAll();
        connections.forEach(ControlConnection::close);
        try {
            selector.close();
            listener.close();
        } catch (IOException e) {
            // They are of no use any more.
        }
        answers.close();
    }

    private void serveAll() {
        while (!isStopped) {
            try {
                selector.select(timeout());
                admit();
                serve();
            } catch (Throwable e) {
                // Out of memory or of descriptors, which may pass. A connection fewer may help.
                dropOne();
                pause();
            }
        }
    }

    /** Accepts connections of the users that are admitted: this one and root. */
    private void admit() throws IOException {
        for (int i = 0; i < ACCEPT_BATCH; i++) {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return;
            }
            if (!isAdmitted(channel)) {
                channel.close();
                continue;
            }
            if (connections.size() >= MAX_CONNECTIONS) {
                dropOne();
            }
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            connections.add(new ControlConnection(channel));
        }
    }

    private boolean isAdmitted(SocketChannel channel) {
        try {
            return admitted.contains(channel.getOption(PEER).user());
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Answers requests, one of each connection in turn, and sends the answers. */
    private void serve() {
        selector.selectedKeys().clear();
        List<ControlConnection> all = new ArrayList<>(connections);
        all.removeIf(connection -> isOver(connection, connection.read()));
        boolean hasRequests = true;
        while (hasRequests) {
            hasRequests = false;
            for (ControlConnection connection : all) {
                if (!admitsRequest()) {
                    break;
                }
                ControlConnection.Line line = connection.takeLine();
                if (line != null) {
                    hasRequests = true;
                    requests++;
                    answers.answer(line, connection);
                }
            }
        }
        all.removeIf(connection -> isOver(connection, connection.send()));
        // Answering may have taken time.
        long now = System.nanoTime();
        all.removeIf(connection -> isOver(connection, now - connection.deadline() < 0));
        connections = all;
        for (ControlConnection connection : all) {
            SelectionKey key = connection.channel.keyFor(selector);
            boolean reads = connection.acceptsInput() && !isPaused();
            key.interestOps((reads ? SelectionKey.OP_READ : 0) | (connection.isAnswering() ? SelectionKey.OP_WRITE : 0));
        }
    }

    private static boolean isOver(ControlConnection connection, boolean goesOn) {
        if (!goesOn) {
            connection.close();
        }
        return !goesOn;
    }

    private boolean admitsRequest() {
        long now = System.nanoTime();
        if (now - windowBegan >= WINDOW) {
            windowBegan = now;
            requests = 0;
        }
        return requests < MAX_REQUESTS;
    }

    private boolean isPaused() {
        return requests >= MAX_REQUESTS && System.nanoTime() - windowBegan < WINDOW;
    }

    /** The time to wait for the next event, in milliseconds; 0 for any time. */
    private long timeout() {
        long now = System.nanoTime();
        long least = Long.MAX_VALUE;
        boolean isPaused = isPaused();
        for (ControlConnection connection : connections) {
            least = Math.min(least, connection.deadline() - now);
            if (!isPaused && connection.hasRequest()) {
                return 1;
            }
        }
        if (isPaused) {
            least = Math.min(least, windowBegan + WINDOW - now);
        }
        // Rounded up, so that the deadline has passed then.
        return least == Long.MAX_VALUE ? 0 : Math.max(1, least / 1_000_000 + 1);
    }

    /**
     * Closes a connection: one that never sent a request, or else the one that has been idle for
     * longest.
     */
    private void dropOne() {
        Comparator<ControlConnection> order = Comparator.comparing((ControlConnection it) -> it.hasAsked)
                .thenComparing((one, other) -> Long.signum(one.progressed - other.progressed));
        connections.stream().min(order).ifPresent(connection -> {
            connection.close();
            connections.remove(connection);
        });
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            // Nobody who means it interrupts this thread.
        }
    }

    private void watch(Path config) throws ControlException {
        try {
            changes = config.getFileSystem().newWatchService();
            watch(config.getParent(), changes);
            WatchService events = changes;
            followLinks(config, events);
            start(() -> reload(config, events, answers), "protolog-settings");
        } catch (IOException e) {
            throw new ControlException("can't watch the configuration file: " + SocketPlace.reason(e), "make its directory");
        }
    }

    private static void watch(Path directory, WatchService events) throws IOException {
        directory.register(events, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY,
                StandardWatchEventKinds.ENTRY_DELETE);
    }

    /**
     * Watches the directories that links lead to by now, besides that of the file. One that can't
     * be watched is left out.
     */
    private static void followLinks(Path config, WatchService events) {
        try {
            Path place = config;
            for (int links = 0; links < MAX_LINKS && Files.isSymbolicLink(place); links++) {
                place = place.resolveSibling(Files.readSymbolicLink(place));
                watch(place.getParent(), events);
            }
            // Directories may be links as well.
            watch(config.toRealPath().getParent(), events);
        } catch (IOException e) {
            // There is no such file yet.
        }
    }

    private static void reload(Path config, WatchService events, ControlAnswers answers) {
        for (boolean isValid = true; isValid;) {
            try {
                WatchKey key = events.take();
                // The events only say that something changed in the directory.
                key.pollEvents();
                // False of a directory that is gone, which may be one of several.
                isValid = key.reset() || Files.isDirectory(config.getParent());
                followLinks(config, events);
                answers.setProblems(SettingsFile.apply(config, GroupSettings.Source.CONFIG_FILE));
            } catch (ClosedWatchServiceException e) {
                return;
            } catch (Throwable e) {
                pause();
            }
        }
    }
}
