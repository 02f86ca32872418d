package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Path;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Tasks of Java's common pool, one after the other: {@code Pooled TRACE COUNT}. Since Java 19 its
 * threads forget their thread locals whenever they have nothing to do. It prints how many messages
 * are in the trace, and how many are lost.
 */
public final class Pooled {
    private Pooled() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        Session session = Session.builder().file(Path.of(args[0])).enableAll().bufferBytes(256 << 10).start();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            int number = i;
            AtomicBoolean isDone = new AtomicBoolean();
            ForkJoinPool.commonPool().execute(() -> {
                ProtoLog.i(AppLog.NET, "task %d", number);
                isDone.set(true);
            });
            // Not by the pool's own methods, which do the task themselves.
            while (!isDone.get()) {
                LockSupport.parkNanos(1000);
            }
        }
        Summary summary = session.stop();
        System.out.println(summary.messages() + " " + summary.lost());
    }
}
