package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.Init;
import dev.protolog.PassedOver;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A program whose messages are sampled: {@code Sampled DIRECTORY asked} does what it reads on
 * standard input; {@code Sampled DIRECTORY record|stream THREADS} logs until it is killed, while
 * its rates change, and counts the calls of each thread in the file {@code calls};
 * {@code Sampled DIRECTORY ends THREADS} ends with threads that go on to log.
 */
public final class Sampled {
    private static final String[] RATES = {"1/20", "1/50", "1/300", "2/31"};

    private Sampled() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        if (args[1].equals("asked")) {
            asked(directory.resolve("app.pftrace"));
            return;
        }
        Session.Builder builder = Session.builder().enableAll().reportLosses(false).sample("NET", RATES[0]);
        if (args[1].equals("record")) {
            builder.recordTo(directory.resolve("app.rec"));
        } else {
            builder.file(directory.resolve("app.pftrace"));
        }
        Session session = builder.start();
        log(directory.resolve("calls"), Integer.parseInt(args[2]), session, !args[1].equals("ends"));
    }

    private static void asked(Path trace) throws Exception {
        new Init().groups(AppLog.values()).start();
        Session session = Session.builder().file(trace).enableAll().start();
        System.out.println("ready ");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("log")) {
                log(Integer.parseInt(words[1]));
            } else {
                Summary summary = session.stop();
                long passedOver = summary.passedOver().stream().mapToLong(PassedOver::count).sum();
                System.err.println(summary.messages() + " " + passedOver + " " + summary.lost());
            }
            System.err.println("---");
        }
    }

    private static void log(int times) {
        for (int i = 0; i < times; i++) {
            ProtoLog.d(NET, "request %d of %s", i, "host " + i % 2);
            ProtoLog.i(NET, "answer of %d bytes in %f ms", i, i / 2.0);
            if (i % 100 == 0) {
                ProtoLog.w(NET, "late answer %d", i);
                ProtoLog.d(DISK, "wrote block %d", i);
            }
        }
    }

    private static void log(Path calls, int threads, Session session, boolean isKilled) throws Exception {
        ByteBuffer counts;
        try (FileChannel file = FileChannel.open(calls, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            counts = file.map(FileChannel.MapMode.READ_WRITE, 0, 8L * threads).order(ByteOrder.LITTLE_ENDIAN);
        }
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            Thread logger = new Thread(() -> {
                for (long i = 1;; i++) {
                    ProtoLog.d(NET, "request %d of thread %d", i, number);
                    counts.putLong(8 * number, i);
                }
            });
            logger.setDaemon(true);
            logger.start();
        }
        System.out.println("ready ");
        for (int i = 0; isKilled || i < 100; i++) {
            Session.builder().keepNewest().sample("NET", RATES[i % RATES.length]).start().stop();
            if (i % 10 == 0) {
                session.flush();
            }
        }
    }
}
