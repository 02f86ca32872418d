package dev.protolog.internal.perfetto;

import dev.protolog.ProtoLogProducer.Status;
import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.session.ForwardedSession;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * The state of the connection, which the program may ask for, and the messages that are kept for
 * the first session.
 *
 * <p>Invariant: the status is replaced as a whole.
 */
final class ProducerState {
    private volatile Status status = new Status(false, 0, null, null, 0);
    /** The session that keeps messages until another one takes its place; null for none. */
    private ForwardedSession startup;
    /** Why there is none; null if none was asked for, or there is one. */
    private String startupProblem;
    /** Why the last connection ended; null if there was none before. */
    private String ended;
    /** A session has recorded this process since the last connection was made. */
    private boolean hasRecorded;

    Status get() {
        return status;
    }

    synchronized void setConnected() {
        status = new Status(true, 0, ended, startupProblem, status.lost());
    }

    /** The connection is over, or could not be made. */
    synchronized void setDisconnected(String reason) {
        ended = status.isConnected() ? reason : ended;
        status = new Status(false, 0, reason, status.notice(), status.lost());
    }

    /** The program has left, whether or not the service let its threads end. */
    synchronized void setLeft() {
        setDisconnected("the program has left");
    }

    synchronized void setSessions(int sessions) {
        hasRecorded |= sessions > 0;
        status = new Status(status.isConnected(), sessions, status.lastError(), status.notice(), status.lost());
    }

    /** True if a session has recorded this process since the last call. */
    synchronized boolean takeRecorded() {
        boolean before = hasRecorded;
        hasRecorded = false;
        return before;
    }

    synchronized void setNotice(String notice) {
        status = new Status(status.isConnected(), status.sessions(), status.lastError(), notice, status.lost());
    }

    /** Counts messages that no service took. */
    synchronized void addLost(long messages) {
        status = new Status(status.isConnected(), status.sessions(), status.lastError(), status.notice(), status.lost() + messages);
    }

    /** Keeps messages of these levels, as many as fit {@code bytes}, until there is a session. */
    synchronized void keep(int bytes, int levels) {
        try {
            startup = ForwardedSession.keep(new Filter(levels, Map.of(), List.of()), bytes);
        } catch (IOException | RuntimeException | Error e) {
            // Out of memory, for example. The program joins all the same.
            String reason = e instanceof IOException ? e.getMessage() : e.toString();
            startupProblem = "messages from before the first session are not kept: " + reason;
            setNotice(startupProblem);
        }
    }

    /** The session with the kept messages; null for none. */
    synchronized ForwardedSession startup() {
        return startup;
    }

    /** Another session has its messages, or nobody wants them any more. */
    synchronized void endStartup() {
        if (startup != null) {
            startup.finish();
            startup = null;
        }
    }
}
