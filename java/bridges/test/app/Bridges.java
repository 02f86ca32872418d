package app;

import dev.protolog.LogLevel;
import dev.protolog.Session;
import dev.protolog.jul.ProtoLogHandler;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.ThreadContext;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Logs by each logger that there is a bridge from: {@code Bridges TRACE}. */
public final class Bridges {
    private Bridges() {}

    public static void main(String[] args) throws Exception {
        ProtoLogHandler.install();
        try (Session session = Session.builder().file(Path.of(args[0])).logFrom(LogLevel.DEBUG).group("quiet", null).start()) {
            jul();
            systemLogger();
            slf4j();
            log4j();
            System.out.println(session.stop().messages());
        }
    }

    private static void jul() {
        Logger logger = Logger.getLogger("com.app.Jul");
        logger.setUseParentHandlers(true);
        logger.setLevel(Level.ALL);
        logger.log(Level.INFO, "sent {0} bytes to {1}, {0} again, 100%", new Object[] {1500, "host"});
        logger.warning("it''s plain {0}");
        logger.log(Level.FINE, "it''s {0}", "quoted");
        logger.finest("off");
        logger.log(Level.SEVERE, "failed", new IllegalStateException("broken"));
        Logger.getLogger("quiet").severe("off");
    }

    private static void systemLogger() {
        System.Logger logger = System.getLogger("com.app.System");
        logger.log(System.Logger.Level.INFO, "received {0} bytes: {1}", 7L, true);
        logger.log(System.Logger.Level.ERROR, "failed", new IllegalStateException("broken"));
        logger.log(System.Logger.Level.DEBUG, () -> "supplied");
        System.out.println(logger.isLoggable(System.Logger.Level.TRACE) + " " + logger.isLoggable(System.Logger.Level.WARNING));
    }

    private static void slf4j() {
        org.slf4j.Logger logger = LoggerFactory.getLogger("com.app.Slf4j");
        for (int i = 0; i < 3; i++) {
            logger.info("sent {} bytes to {} in {} ms", i, "host", 0.25);
        }
        MDC.put("user", "ann");
        logger.warn("with {}", "context");
        logger.atError().addKeyValue("code", 5).setCause(new IllegalStateException("broken")).log("with a pair");
        MDC.clear();
        logger.debug("{} and \\{} and {}", new int[] {1, 2}, "b");
        logger.trace("off");
        System.out.println(logger.isTraceEnabled() + " " + logger.isDebugEnabled());
    }

    private static void log4j() {
        org.apache.logging.log4j.Logger logger = LogManager.getLogger("com.app.Log4j");
        logger.info("sent {} bytes to {}", 1500, "host");
        logger.fatal("no arguments, 100%");
        ThreadContext.put("user", "bob");
        logger.error("failed {}", 3, new IllegalStateException("broken"));
        ThreadContext.clearAll();
        logger.trace("off");
    }
}
