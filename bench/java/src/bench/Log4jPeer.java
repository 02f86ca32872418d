package bench;

import static org.apache.logging.log4j.util.Unbox.box;

import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Log4j 2 with asynchronous loggers and a garbage-free layout: {@code bench/java/log4j2.xml}.
 * Numbers are passed in its reused boxes, but for the boolean, which is none.
 */
final class Log4jPeer implements Peer {
    private final String file;
    private final Logger logger;

    Log4jPeer(String directory) {
        file = directory + "/log4j.log";
        configure(file);
        logger = LogManager.getLogger("net");
    }

    /** Has Log4j log into this file, asynchronously; before its first logger. */
    static void configure(String file) {
        System.setProperty("bench.file", file);
        System.setProperty("log4j2.contextSelector", "org.apache.logging.log4j.core.async.AsyncLoggerContextSelector");
        System.setProperty("log4j2.enableThreadlocals", "true");
        System.setProperty("log4j2.enableDirectEncoders", "true");
        System.setProperty("log4j2.isWebapp", "false");
        System.setProperty("log4j2.asyncLoggerRingBufferSize", "262144");
    }

    @Override
    public void twoInts(int a, int b) {
        logger.info("sent {} bytes in {} packets", box(a), box(b));
    }

    @Override
    public void intAndString(int a, String b) {
        logger.info("sent {} bytes to {}", box(a), b);
    }

    @Override
    public void twoIntsAndDouble(int a, int b, double c) {
        logger.info("sent {} bytes in {} packets, {} ms", box(a), box(b), box(c));
    }

    @Override
    public void sixArguments(int a, String b, int c, double d, boolean e, String f) {
        logger.info("sent {} bytes to {} in {} packets, {} ms, again: {}, by {}", box(a), b, box(c), box(d), box(e), f);
    }

    @Override
    public void off(int a, int b) {
        if (logger.isDebugEnabled()) {
            logger.debug("received {} bytes in {} packets", box(a), box(b));
        }
    }

    @Override
    public void close() {
        LogManager.shutdown();
    }

    @Override
    public String output() {
        return file;
    }
}
