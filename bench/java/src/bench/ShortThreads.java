package bench;

import static bench.BenchLog.NET;

import com.sun.management.OperatingSystemMXBean;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/**
 * Threads that log one message each, or none, and end:
 * {@code ShortThreads FILE platform|virtual COUNT ALIVE on|off} prints the CPU time of the process
 * for a thread, in microseconds, and how many messages are lost. Where as many are alive as there
 * are, all wait until the last one has begun.
 *
 * <p>The default buffer; the best of some rounds, after the first one, in which the JVM compiles.
 */
public final class ShortThreads {
    private static final int ROUNDS = 4;

    private ShortThreads() {}

    public static void main(String[] args) throws Exception {
        boolean isVirtual = args[1].equals("virtual");
        int count = Integer.parseInt(args[2]);
        int alive = Integer.parseInt(args[3]);
        boolean isOn = args[4].equals("on");
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Session session = Session.builder().file(args[0]).logFrom(LogLevel.INFO).start();
        double best = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = system.getProcessCpuTime();
            round(isVirtual, count, alive, isOn);
            double each = (system.getProcessCpuTime() - before) / 1e3 / count;
            best = round == 0 ? best : Math.min(best, each);
        }
        Summary summary = session.stop();
        System.out.printf("%.2f %d%n", best, summary.lost());
    }

    private static void round(boolean isVirtual, int count, int alive, boolean isOn) throws Exception {
        MethodHandle start = isVirtual ? starter() : null;
        CountDownLatch begun = new CountDownLatch(alive < count ? 0 : count);
        CountDownLatch ended = new CountDownLatch(count);
        Semaphore free = new Semaphore(alive);
        for (int i = 0; i < count; i++) {
            int number = i;
            free.acquire();
            Runnable thread = () -> {
                waitFor(begun);
                if (isOn) {
                    ProtoLog.i(NET, "thread %d", number);
                }
                free.release();
                ended.countDown();
            };
            if (start == null) {
                new Thread(thread).start();
            } else {
                start(start, thread);
            }
        }
        ended.await();
    }

    private static void waitFor(CountDownLatch begun) {
        if (begun.getCount() == 0) {
            return;
        }
        begun.countDown();
        try {
            begun.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** By name, since this is compiled for a Java without virtual threads. */
    private static MethodHandle starter() throws ReflectiveOperationException {
        return MethodHandles.publicLookup().findStatic(Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
    }

    private static void start(MethodHandle start, Runnable thread) {
        try {
            Thread unused = (Thread) start.invokeExact(thread);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
