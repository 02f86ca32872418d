package dev.protolog.internal.perfetto;

import dev.protolog.ProtoLogProducer;

/** The state of the connection, which the program may ask for. Invariant: replaced as a whole. */
final class ProducerState {
    private volatile ProtoLogProducer.Status status = new ProtoLogProducer.Status(false, 0, null, null);

    ProtoLogProducer.Status get() {
        return status;
    }

    void setConnected() {
        status = new ProtoLogProducer.Status(true, 0, null, null);
    }

    /** The connection is over, or could not be made. */
    synchronized void setDisconnected(String reason) {
        status = new ProtoLogProducer.Status(false, 0, reason, status.notice());
    }

    synchronized void setSessions(int sessions) {
        status = new ProtoLogProducer.Status(status.isConnected(), sessions, status.lastError(), status.notice());
    }

    synchronized void setNotice(String notice) {
        status = new ProtoLogProducer.Status(status.isConnected(), status.sessions(), status.lastError(), notice);
    }
}
