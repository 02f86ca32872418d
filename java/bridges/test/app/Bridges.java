package app;

import dev.protolog.LogLevel;
import dev.protolog.Session;
import dev.protolog.jul.ProtoLogHandler;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.MarkerManager;
import org.apache.logging.log4j.ThreadContext;
import org.apache.logging.log4j.message.ObjectMessage;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.MarkerFactory;

/** Logs by each logger that there is a bridge from: {@code Bridges TRACE}; by Log4j alone with {@code log4j} after that. */
public final class Bridges {
    private Bridges() {}

    public static void main(String[] args) throws Exception {
        ProtoLogHandler.install();
        try (Session session = Session.builder().file(Path.of(args[0])).logFrom(LogLevel.DEBUG).group("quiet", null).start()) {
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

    private static void jul() {
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
        MDC.put("user", "ann");
        logger.warn("with {}", "context");
        logger.atError().addKeyValue("code", 5).setCause(new IllegalStateException("broken")).log("with a pair");
        MDC.clear();
        logger.debug("{} and \\{} and {}", new int[] {1, 2}, "b");
        logger.info("C:\\\\{} and \\\\\\{}, {{}} {} \\{}", "dir", "file", 1, new Object[] {2, new Throwing()});
        Object[] many = new Object[40];
        Arrays.setAll(many, i -> i);
        logger.info("{}".repeat(many.length), many);
        logger.info(MarkerFactory.getMarker("AUDIT"), "marked {}", 1);
        logger.trace("off");
        System.out.println(logger.isTraceEnabled() + " " + logger.isDebugEnabled());
    }

    private static void log4j() {
        org.apache.logging.log4j.Logger logger = LogManager.getLogger("com.app.Log4j");
        logger.info("sent {} bytes to {}", 1500, "host");
        logger.fatal("no arguments, 100%");
        logger.info("{} {} {} {}", 1, 2L, true, 0.5);
        logger.info("many {} {} {} {} {} {} {} {} {} {} {} {}", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        logger.info(MarkerManager.getMarker("AUDIT"), "C:\\\\{} \\{} {}", "dir", 2);
        logger.info("not one of ours: {}", new Throwing());
        logger.info(new ObjectMessage(42));
        logger.printf(org.apache.logging.log4j.Level.INFO, "%s of %d", "printf", 1);
        ThreadContext.put("user", "bob");
        ThreadContext.push("nested");
        logger.error("failed {}", 3, new IllegalStateException("broken"));
        ThreadContext.clearAll();
        logger.trace("off");
    }

    private static final class Throwing {
        @Override
        public String toString() {
            throw new IllegalStateException("broken");
        }
    }
}
