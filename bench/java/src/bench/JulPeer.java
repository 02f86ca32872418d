package bench;

import java.io.IOException;
import java.util.logging.FileHandler;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The logger of the JDK, with its handler for files. */
final class JulPeer implements Peer {
    private static final Logger LOGGER = Logger.getLogger("net");

    private final String file;
    private final FileHandler handler;

    JulPeer(String directory) throws IOException {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%1$tF %1$tT.%1$tL %4$s %3$s: %5$s%n");
        file = directory + "/jul.log";
        handler = new FileHandler(file);
        handler.setFormatter(new SimpleFormatter());
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(handler);
        LOGGER.setLevel(Level.INFO);
    }

    @Override
    public void twoInts(int a, int b) {
        LOGGER.log(Level.INFO, "sent {0} bytes in {1} packets", new Object[] {a, b});
    }

    @Override
    public void intAndString(int a, String b) {
        LOGGER.log(Level.INFO, "sent {0} bytes to {1}", new Object[] {a, b});
    }

    @Override
    public void twoIntsAndDouble(int a, int b, double c) {
        LOGGER.log(Level.INFO, "sent {0} bytes in {1} packets, {2} ms", new Object[] {a, b, c});
    }

    @Override
    public void sixArguments(int a, String b, int c, double d, boolean e, String f) {
        LOGGER.log(Level.INFO, "sent {0} bytes to {1} in {2} packets, {3} ms, again: {4}, by {5}", new Object[] {a, b, c, d, e, f});
    }

    @Override
    public void off(int a, int b) {
        if (LOGGER.isLoggable(Level.FINE)) {
            LOGGER.log(Level.FINE, "received {0} bytes in {1} packets", new Object[] {a, b});
        }
    }

    @Override
    public void close() {
        handler.close();
    }

    @Override
    public String output() {
        return file;
    }
}
