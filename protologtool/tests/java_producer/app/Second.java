package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.ProtoLogProducer;

/** Joins the tracing service by a runtime of its own, and logs once a session records it. */
public final class Second implements Runnable {
    private enum Log implements IProtoLogGroup {
        SECOND;

        @Override
        public String getTag() {
            return name();
        }
    }

    @Override
    public void run() {
        ProtoLogProducer.connect();
        try {
            while (!ProtoLog.isEnabled(Log.SECOND, LogLevel.DEBUG)) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            return;
        }
        for (int at = 0; at < 100; at++) {
            ProtoLog.d(Log.SECOND, "%d of the second runtime", at);
        }
    }
}
