package bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Triggers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The server of {@code bench/server}, on the JDK's HTTP server: {@code ServerMain LOG DIRECTORY}
 * prints its address; once standard input ends, CPU nanoseconds and requests since it was warm.
 */
public final class ServerMain {
    private static final int ITEMS = 8;
    private static final int FAILS = 1000;
    /** Orders that all fail: a flood of errors. */
    private static final long OUTAGE = 20_000;
    private static final long OUTAGE_END = 23_000;
    /** Requests until the compiler has seen all, which are not measured. */
    private static final long WARM = 15_000;
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static volatile long cpuWhenWarm;

    private ServerMain() {}

    /** A way to log what the server does. */
    private interface Log {
        void begin(long order, String path);

        void item(long order, int item, long price);

        void total(long order, long total);

        void failed(long order, String host);

        void access(String path, int status, int bytes, long micros);
    }

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[1]);
        Session session = null;
        Log log = new Nothing();
        if (args[0].equals("always-on")) {
            Triggers triggers = Triggers.to(directory.resolve("event.pftrace")).onLevel(LogLevel.ERROR);
            session = Session.builder().enableAll().bufferBytes(64 << 20).triggers(triggers)
                    .sample("Net and info", "1/100").limit("Net and error", "10/s burst 100").start();
            log = new Proto();
        } else if (args[0].equals("file")) {
            session = Session.builder().enableAll().file(directory.resolve("server.pftrace")).start();
            log = new Proto();
        } else if (args[0].equals("log4j")) {
            System.setProperty("bench.level", "debug");
            Log4jPeer.configure(directory.resolve("server.log").toString());
            log = new Log4j();
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Log used = log;
        server.createContext("/orders/", exchange -> answer(used, exchange));
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.start();
        System.out.println("127.0.0.1:" + server.getAddress().getPort());
        while (System.in.read() >= 0) {
            // Whatever comes.
        }
        System.out.println(cpu() - cpuWhenWarm + " " + (REQUESTS.get() - WARM));
        server.stop(0);
        if (session != null) {
            session.stop();
        }
        if (args[0].equals("log4j")) {
            LogManager.shutdown();
        }
        System.exit(0);
    }

    private static void answer(Log log, HttpExchange exchange) throws IOException {
        if (REQUESTS.incrementAndGet() == WARM) {
            cpuWhenWarm = cpu();
        }
        long begun = System.nanoTime();
        String path = exchange.getRequestURI().getPath();
        long order = Long.parseLong(path.substring(path.lastIndexOf('/') + 1));
        log.begin(order, path);
        StringBuilder body = new StringBuilder(1024);
        long total = 0;
        for (int item = 0; item < ITEMS; item++) {
            long price = price(order, item);
            log.item(order, item, price);
            body.append("{\"order\":").append(order).append(",\"item\":").append(item).append(",\"price\":").append(price).append("}\n");
            total += price;
        }
        log.total(order, total);
        boolean fails = order % FAILS == FAILS - 1 || order >= OUTAGE && order < OUTAGE_END;
        if (fails) {
            log.failed(order, "stock-1.example.org");
        }
        byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
        log.access(path, fails ? 503 : 200, bytes.length, (System.nanoTime() - begun) / 1000);
        exchange.sendResponseHeaders(fails ? 503 : 200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** Some work: a price that takes about a microsecond to find. */
    private static long price(long order, int item) {
        long hash = order ^ 0xcbf29ce484222325L;
        for (int round = 0; round < 1000; round++) {
            hash = (hash ^ item ^ round) * 0x100000001b3L;
        }
        return Long.remainderUnsigned(hash, 10_000);
    }

    private static long cpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static final class Nothing implements Log {
        @Override
        public void begin(long order, String path) {}

        @Override
        public void item(long order, int item, long price) {}

        @Override
        public void total(long order, long total) {}

        @Override
        public void failed(long order, String host) {}

        @Override
        public void access(String path, int status, int bytes, long micros) {}
    }

    private static final class Proto implements Log {
        @Override
        public void begin(long order, String path) {
            ProtoLog.d(BenchLog.NET, "order %d: GET %s", order, path);
        }

        @Override
        public void item(long order, int item, long price) {
            ProtoLog.d(BenchLog.NET, "order %d: item %d costs %d", order, item, price);
        }

        @Override
        public void total(long order, long total) {
            ProtoLog.d(BenchLog.NET, "order %d: %d in all", order, total);
        }

        @Override
        public void failed(long order, String host) {
            ProtoLog.e(BenchLog.NET, "order %d: no answer from %s", order, host);
        }

        @Override
        public void access(String path, int status, int bytes, long micros) {
            ProtoLog.i(BenchLog.NET, "%s %d, %d bytes in %d us", path, status, bytes, micros);
        }
    }

    private static final class Log4j implements Log {
        private final Logger logger = LogManager.getLogger("Server");

        @Override
        public void begin(long order, String path) {
            logger.debug("order {}: GET {}", order, path);
        }

        @Override
        public void item(long order, int item, long price) {
            logger.debug("order {}: item {} costs {}", order, item, price);
        }

        @Override
        public void total(long order, long total) {
            logger.debug("order {}: {} in all", order, total);
        }

        @Override
        public void failed(long order, String host) {
            logger.error("order {}: no answer from {}", order, host);
        }

        @Override
        public void access(String path, int status, int bytes, long micros) {
            logger.info("{} {}, {} bytes in {} us", path, status, bytes, micros);
        }
    }
}
