package bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import org.slf4j.LoggerFactory;

/** Logback behind SLF4J, with a buffered file. */
final class LogbackPeer implements Peer {
    private final String file;
    private final LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    private final Logger logger = context.getLogger("net");

    LogbackPeer(String directory) {
        file = directory + "/logback.log";
        context.reset();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%d{yyyy-MM-dd HH:mm:ss.SSS} %p %c %t: %m%n");
        encoder.start();
        FileAppender<ILoggingEvent> appender = new FileAppender<>();
        appender.setContext(context);
        appender.setFile(file);
        appender.setImmediateFlush(false);
        appender.setEncoder(encoder);
        appender.start();
        logger.addAppender(appender);
        logger.setAdditive(false);
        logger.setLevel(Level.INFO);
    }

    @Override
    public void twoInts(int a, int b) {
        logger.info("sent {} bytes in {} packets", a, b);
    }

    @Override
    public void intAndString(int a, String b) {
        logger.info("sent {} bytes to {}", a, b);
    }

    @Override
    public void twoIntsAndDouble(int a, int b, double c) {
        logger.info("sent {} bytes in {} packets, {} ms", a, b, c);
    }

    @Override
    public void sixArguments(int a, String b, int c, double d, boolean e, String f) {
        logger.info("sent {} bytes to {} in {} packets, {} ms, again: {}, by {}", a, b, c, d, e, f);
    }

    @Override
    public void off(int a, int b) {
        if (logger.isDebugEnabled()) {
            logger.debug("received {} bytes in {} packets", a, b);
        }
    }

    @Override
    public void close() {
        context.stop();
    }

    @Override
    public String output() {
        return file;
    }
}
