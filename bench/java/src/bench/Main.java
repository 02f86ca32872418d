package bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * One process, one logger: {@code Main PEER DIRECTORY CALL} prints a line of figures for the calls
 * of that kind, {@code Main PEER DIRECTORY kill} logs {@value #UNTIL_KILLED} messages and is killed
 * by itself, without a chance to write anything.
 *
 * <p>Calls come in bursts with pauses between them, in which the logger writes, so that none is
 * measured with a full buffer. Figures of time are the median of batches, and the time that 99 of
 * 100 stay below; allocation is that of the calling thread, CPU time that of all threads but the
 * JVM's compilers, from the first message on until everything is in the file.
 */
public final class Main {
    private static final int BATCH = 500;
    private static final int BATCHES_OF_BURST = 20;
    private static final int WARM_UP = 60;
    private static final int BURSTS = 100;
    private static final int UNTIL_KILLED = 100_000;
    private static final long PAUSE_MILLIS = 15;
    /** Names in turn, of which so many are different. */
    private static final int MANY_HOSTS = 10_000;
    private static final String[] HOSTS = {"example.org", "localhost", "10.0.0.1", "a.very.long.name.of.a.host.example.com"};

    private Main() {}

    public static void main(String[] args) throws Exception {
        Peer peer = open(args[0], args[1]);
        if (args[2].equals("kill")) {
            for (int i = 0; i < UNTIL_KILLED; i++) {
                peer.twoInts(i, i & 7);
                if (i % (BATCH * BATCHES_OF_BURST) == 0) {
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
            new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
            throw new IllegalStateException("still there");
        }
        Runnable batch = switch (args[2]) {
            case "two-ints" -> () -> twoInts(peer);
            case "int-string" -> () -> intAndString(peer);
            case "two-ints-double" -> () -> twoIntsAndDouble(peer);
            case "six" -> () -> sixArguments(peer);
            case "off" -> () -> off(peer);
            case "hosts-4", "hosts-64", "hosts-10000" -> new ManyHosts(peer, Integer.parseInt(args[2].substring("hosts-".length())));
            default -> throw new IllegalArgumentException(args[2]);
        };
        measure(peer, batch, args[2].equals("off") ? 0 : PAUSE_MILLIS);
    }

    private static Peer open(String name, String directory) throws Exception {
        return switch (name) {
            case "protolog" -> new ProtoLogPeer(directory);
            case "jul" -> new JulPeer(directory);
            case "log4j" -> new Log4jPeer(directory);
            case "logback" -> new LogbackPeer(directory);
            case "jfr" -> new JfrPeer(directory);
            case "floor" -> new FloorPeer();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static void measure(Peer peer, Runnable batch, long pause) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double[] times = new double[BURSTS * BATCHES_OF_BURST];
        long before = 0;
        long cpu = 0;
        for (int burst = -WARM_UP; burst < BURSTS; burst++) {
            if (burst == 0) {
                cpu = system.getProcessCpuTime() - compilers();
                before = threads.getCurrentThreadAllocatedBytes();
            }
            for (int i = 0; i < BATCHES_OF_BURST; i++) {
                long start = System.nanoTime();
                batch.run();
                long time = System.nanoTime() - start;
                times[Math.max(0, burst) * BATCHES_OF_BURST + i] = (double) time / BATCH;
            }
            if (pause > 0) {
                Thread.sleep(pause);
            }
        }
        double calls = (double) times.length * BATCH;
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        peer.close();
        double used = (system.getProcessCpuTime() - compilers() - cpu) / calls;
        Path output = Path.of(peer.output());
        double written = Files.isRegularFile(output) ? Files.size(output) / (calls + WARM_UP * BATCHES_OF_BURST * BATCH) : 0;
        Arrays.sort(times);
        System.out.printf("%.2f %.2f %.3f %.1f %.1f%n", times[times.length / 2], times[times.length * 99 / 100], allocated / calls, used, written);
    }

    /**
     * The CPU time of the JVM's compilers, in nanoseconds: in a program that runs for long they are
     * idle.
     */
    private static long compilers() throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                try {
                    if (Files.readString(thread.resolve("comm")).matches("C[12] .*\\s*")) {
                        sum += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ", 2)[0]);
                    }
                } catch (NoSuchFileException e) {
                    // The thread has ended.
                }
            }
        }
        return sum;
    }

    private static void twoInts(Peer peer) {
        for (int i = 0; i < BATCH; i++) {
            peer.twoInts(1000 + i, i & 7);
        }
    }

    private static void intAndString(Peer peer) {
        for (int i = 0; i < BATCH; i++) {
            peer.intAndString(1000 + i, HOSTS[i & 3]);
        }
    }

    /** Logs names of hosts in turn, each batch from where the last one ended. */
    private static final class ManyHosts implements Runnable {
        private final Peer peer;
        private final String[] hosts = new String[MANY_HOSTS];
        private int next;

        ManyHosts(Peer peer, int kinds) {
            this.peer = peer;
            // As many objects whether names repeat or not.
            Arrays.setAll(hosts, i -> String.format(Locale.ROOT, "host-%05d.example.org", i % kinds));
        }

        @Override
        public void run() {
            int at = next;
            for (int i = 0; i < BATCH; i++) {
                peer.intAndString(1000 + i, hosts[at]);
                at = at + 1 == MANY_HOSTS ? 0 : at + 1;
            }
            next = at;
        }
    }

    private static void twoIntsAndDouble(Peer peer) {
        for (int i = 0; i < BATCH; i++) {
            peer.twoIntsAndDouble(1000 + i, i & 7, i * 0.25);
        }
    }

    private static void sixArguments(Peer peer) {
        for (int i = 0; i < BATCH; i++) {
            peer.sixArguments(1000 + i, HOSTS[i & 3], i & 7, i * 0.25, (i & 8) == 0, HOSTS[i >> 2 & 3]);
        }
    }

    private static void off(Peer peer) {
        for (int i = 0; i < BATCH; i++) {
            peer.off(1000 + i, i & 7);
        }
    }
}
