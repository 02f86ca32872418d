package net;

import dev.protolog.ProtoLog;

/** Sends. */
public final class Net {
    private Net() {}

    public static void send(int bytes, String host) {
        ProtoLog.d(AppLog.NET, "sent %d bytes to %s", bytes, host);
    }
}
