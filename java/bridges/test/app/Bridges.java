package app;

import dev.protolog.BridgedLogger;
import dev.protolog.LogLevel;
import dev.protolog.Session;
import dev.protolog.jul.ProtoLogHandler;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.MemoryHandler;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.MarkerManager;
import org.apache.logging.log4j.ThreadContext;
import org.apache.logging.log4j.core.AbstractLogEvent;
import org.apache.logging.log4j.core.impl.Log4jLogEvent;
import org.apache.logging.log4j.core.time.MutableInstant;
import org.apache.logging.log4j.message.Message;
import org.apache.logging.log4j.message.ObjectMessage;
import org.apache.logging.log4j.message.ReusableMessageFactory;
import org.apache.logging.log4j.util.ReadOnlyStringMap;
import org.apache.logging.log4j.util.SortedArrayStringMap;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.Marker;
import org.slf4j.MarkerFactory;

/**
 * Logs by each logger that there is a bridge from: {@code Bridges TRACE}; by Log4j alone with
 * {@code log4j} after that.
 */
public final class Bridges {
    /** A time of this process before all messages, as an argument of those that have it. */
    private static final Instant EARLIER = Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());

    private Bridges() {}

    public static void main(String[] args) throws Exception {
        ProtoLogHandler.install();
        try (Session session = Session.builder().file(Path.of(args[0])).logFrom(LogLevel.DEBUG).group("quiet", null).locations().start()) {
            // Events of a thread that has logged itself have the kernel's id of it, those of others
            // have not.
            BridgedLogger.of("com.app.Direct").log(LogLevel.INFO, "directly", null, null, null);
            if (args.length == 1) {
                jul();
                systemLogger();
                slf4j();
            }
            log4j();
            LogManager.shutdown();
            System.out.println(session.stop().messages());
        }
    }

    private static void jul() throws InterruptedException {
        Logger logger = Logger.getLogger("com.app.Jul");
        logger.setUseParentHandlers(true);
        logger.setLevel(Level.ALL);
        logger.log(Level.INFO, "sent {0} bytes to {1}, {0} again, 100%", new Object[] {1500, "host"});
        logger.warning("it''s plain {0}");
        logger.log(Level.FINE, "it''s {0}", "quoted");
        logger.finest("off");
        logger.log(Level.INFO, "took {0,number,#} ms, {1,number,percent} in {2}", new Object[] {12345, 0.5, new Throwing()});
        logger.log(Level.INFO, "{a} {0} of {1}", 3);
        logger.log(Level.SEVERE, "failed", new IllegalStateException("broken"));
        Logger.getLogger("quiet").severe("off");
        handedOn(logger);
    }

    /**
     * Records of another thread and another time, which a handler holds back and this thread hands
     * on.
     */
    private static void handedOn(Logger logger) throws InterruptedException {
        MemoryHandler memory = new MemoryHandler(new ProtoLogHandler(), 100, Level.OFF);
        memory.setFilter(record -> !record.getMessage().startsWith("filtered"));
        Logger apart = Logger.getLogger("com.app.Jul.apart");
        apart.setUseParentHandlers(false);
        apart.addHandler(memory);
        Thread other = new Thread(() -> {
            LogRecord record = new LogRecord(Level.WARNING, "at {0}, by a class and a method");
            record.setParameters(new Object[] {EARLIER.toEpochMilli()});
            record.setInstant(EARLIER);
            record.setLoggerName(apart.getName());
            record.setSourceClassName("com.app.Given");
            record.setSourceMethodName("run");
            apart.log(record);
            // Once this thread has logged itself, its name and the kernel's id of it are known.
            logger.info("of the other thread");
            apart.info("at any time");
            apart.info("filtered out");
        }, "other");
        other.start();
        other.join();
        memory.push();
        Thread third = new Thread(() -> {
            LogRecord own = new LogRecord(Level.INFO, "at {0}, of the thread itself");
            own.setParameters(new Object[] {EARLIER.toEpochMilli()});
            own.setInstant(EARLIER);
            own.setLoggerName(apart.getName());
            logger.log(own);
        }, "third");
        third.start();
        third.join();
    }

    private static void systemLogger() {
        System.Logger logger = System.getLogger("com.app.System");
        logger.log(System.Logger.Level.INFO, "received {0} bytes: {1}", 7L, true);
        logger.log(System.Logger.Level.ERROR, "failed", new IllegalStateException("broken"));
        logger.log(System.Logger.Level.DEBUG, () -> "supplied");
        logger.log(System.Logger.Level.INFO, "it''s {0,number,#} of {1}", 12345, new Throwing());
        logger.log(System.Logger.Level.INFO, "it's without {arguments}", "x");
        System.out.println(logger.isLoggable(System.Logger.Level.TRACE) + " " + logger.isLoggable(System.Logger.Level.WARNING));
    }

    private static void slf4j() {
        org.slf4j.Logger logger = LoggerFactory.getLogger("com.app.Slf4j");
        for (int i = 0; i < 3; i++) {
            logger.info("sent {} bytes to {} in {} ms", i, "host", 0.25);
        }
        MDC.put("request_id", "/cart");
        logger.warn("with {}", "context");
        logger.atError().addKeyValue("code", 5).setCause(new IllegalStateException("broken")).log("with a pair");
        MDC.clear();
        logger.debug("{} and \\{} and {}", new int[] {1, 2}, "b");
        logger.info("C:\\\\{} and \\\\\\{}, {{}} {} \\{}", "dir", "file", 1, new Object[] {2, new Throwing()});
        Object[] many = new Object[40];
        Arrays.setAll(many, i -> i);
        logger.info("{}".repeat(many.length), many);
        logger.info(MarkerFactory.getMarker("AUDIT"), "marked {}", 1);
        logger.info(new ThrowingMarker(), "marked by {}", "one that throws");
        logger.atInfo().addMarker(null).addKeyValue(null, 1).addKeyValue("deep", new Endless()).log("marked by nothing");
        logger.trace("off");
        System.out.println(logger.isTraceEnabled() + " " + logger.isDebugEnabled());
    }

    private static void log4j() throws InterruptedException {
        org.apache.logging.log4j.Logger logger = LogManager.getLogger("com.app.Log4j");
        logger.info("sent {} bytes to {}", 1500, "host");
        logger.fatal("no arguments, 100%");
        logger.info("{} {} {} {}", 1, 2L, true, 0.5);
        logger.info("many {} {} {} {} {} {} {} {} {} {} {} {}", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        logger.info(MarkerManager.getMarker("AUDIT"), "C:\\\\{} \\{} {}", "dir", 2);
        logger.info("not one of ours: {}", new Throwing());
        logger.info(new ObjectMessage(42));
        logger.printf(org.apache.logging.log4j.Level.INFO, "%s of %d", "printf", 1);
        ThreadContext.put("request_id", "/pay");
        ThreadContext.push("nested");
        logger.error("failed {}", 3, new IllegalStateException("broken"));
        ThreadContext.clearAll();
        ThreadContext.put(null, "for no key");
        logger.info("in a context {}", 1);
        ThreadContext.clearAll();
        logger.trace("off");
        Thread other = new Thread(() -> logger.info("of the other thread {}", 7), "other");
        other.start();
        other.join();
        handedOn((org.apache.logging.log4j.core.Logger) logger);
    }

    /**
     * An event of another thread and another time, as an appender of the program may hand it on.
     */
    private static void handedOn(org.apache.logging.log4j.core.Logger logger) {
        ReusableMessageFactory messages = ReusableMessageFactory.INSTANCE;
        StackTraceElement source = new StackTraceElement("com.app.Given", "run", "Given.java", 12);
        logger.getContext().getConfiguration().getAppender("trace").append(Log4jLogEvent.newBuilder()
                .setLoggerName(logger.getName())
                .setLevel(org.apache.logging.log4j.Level.WARN)
                .setMessage(messages.newMessage("at {}", EARLIER.toEpochMilli()))
                .setThreadId(4711)
                .setThreadName("given")
                .setTimeMillis(EARLIER.toEpochMilli())
                .setIncludeLocation(true)
                .setSource(source)
                .build());
        // Its logger has no name.
        logger.getContext().getConfiguration().getAppender("trace").append(new AbstractLogEvent() {
            private static final long serialVersionUID = 1;

            @Override
            public Message getMessage() {
                return new ThrowingMessage();
            }

            @Override
            public org.apache.logging.log4j.Level getLevel() {
                return org.apache.logging.log4j.Level.ERROR;
            }

            @Override
            public ReadOnlyStringMap getContextData() {
                return new SortedArrayStringMap();
            }

            @Override
            public org.apache.logging.log4j.core.time.Instant getInstant() {
                return new MutableInstant();
            }
        });
    }

    private static final class ThrowingMessage extends ObjectMessage {
        private static final long serialVersionUID = 1;

        ThrowingMessage() {
            super(1);
        }

        @Override
        public String getFormattedMessage() {
            throw new IllegalStateException("broken");
        }
    }

    private static final class Endless {
        @Override
        public String toString() {
            return super.toString() + toString();
        }
    }

    private static final class Throwing {
        @Override
        public String toString() {
            throw new IllegalStateException("broken");
        }
    }

    private static final class ThrowingMarker implements Marker {
        private static final long serialVersionUID = 1;

        @Override
        public String getName() {
            throw new IllegalStateException("broken");
        }

        @Override
        public void add(Marker reference) {}

        @Override
        public boolean remove(Marker reference) {
            return false;
        }

        @Override
        @Deprecated
        public boolean hasChildren() {
            return false;
        }

        @Override
        public boolean hasReferences() {
            return false;
        }

        @Override
        public Iterator<Marker> iterator() {
            return Collections.emptyIterator();
        }

        @Override
        public boolean contains(Marker other) {
            return false;
        }

        @Override
        public boolean contains(String name) {
            return false;
        }
    }
}
