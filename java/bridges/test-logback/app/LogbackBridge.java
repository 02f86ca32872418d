package app;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyVO;
import dev.protolog.BridgedLogger;
import dev.protolog.LogLevel;
import dev.protolog.Session;
import dev.protolog.logback.ProtoLogAppender;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.MarkerFactory;

/**
 * Logs by Logback, which its configuration has hand events on at once or by another thread:
 * {@code LogbackBridge TRACE}.
 */
public final class LogbackBridge {
    /** A time of this process before all messages, as an argument of those that have it. */
    private static final long EARLIER = ManagementFactory.getRuntimeMXBean().getStartTime();

    private LogbackBridge() {}

    public static void main(String[] args) throws Exception {
        try (Session session = Session.builder().file(Path.of(args[0])).logFrom(LogLevel.DEBUG).locations().start()) {
            // Events of a thread that has logged itself have the kernel's id of it, those of others
            // have not.
            BridgedLogger.of("com.app.Direct").log(LogLevel.INFO, "directly", null, null, null);
            Logger logger = LoggerFactory.getLogger("com.app.Logback");
            logger.info("sent {} bytes to {}", 1500, "host");
            logger.error("no arguments, 100%");
            logger.info("{} {} {} {}", 1, 2L, true, 0.5);
            logger.info(MarkerFactory.getMarker("AUDIT"), "C:\\\\{} \\{} {}", "dir", 2);
            logger.info("an array {}", (Object) new int[] {1, 2});
            MDC.put("request_id", "/pay");
            logger.error("failed {}", 3, new IllegalStateException("broken", new RuntimeException("root")));
            MDC.clear();
            logger.trace("off");
            LoggerFactory.getLogger("com.app.quiet").info("off by its own level");
            logger.info(MarkerFactory.getMarker("DROPPED"), "filtered {}", 1);
            Thread other = new Thread(() -> logger.warn("of the other thread {}", 7), "other");
            other.start();
            other.join();
            handedOn(logger);
            ((LoggerContext) LoggerFactory.getILoggerFactory()).stop();
            System.out.println(session.stop().messages());
        }
    }

    /**
     * An event of another thread and another time, as an appender of the program or another process
     * may hand it on.
     */
    private static void handedOn(Logger logger) {
        ProtoLogAppender appender = new ProtoLogAppender();
        appender.start();
        LoggingEvent event = new LoggingEvent("app", (ch.qos.logback.classic.Logger) logger, ch.qos.logback.classic.Level.WARN, "at {}", null,
                new Object[] {EARLIER});
        event.setThreadName("given");
        event.setTimeStamp(EARLIER);
        event.setMDCPropertyMap(Map.of("of", "the event"));
        event.setCallerData(new StackTraceElement[] {new StackTraceElement("com.app.Given", "run", "Given.java", 12)});
        appender.doAppend(event);
        ThrowableProxyVO remote = ThrowableProxyVO.build(new ch.qos.logback.classic.spi.ThrowableProxy(new IllegalStateException("remote")));
        appender.doAppend(new LoggingEvent("app", (ch.qos.logback.classic.Logger) logger, ch.qos.logback.classic.Level.ERROR, "from elsewhere", null, null) {
            @Override
            public ch.qos.logback.classic.spi.IThrowableProxy getThrowableProxy() {
                return remote;
            }
        });
    }
}
