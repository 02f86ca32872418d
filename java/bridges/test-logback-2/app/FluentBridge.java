package app;

import ch.qos.logback.classic.LoggerContext;
import dev.protolog.LogLevel;
import dev.protolog.Session;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Iterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.Marker;
import org.slf4j.MarkerFactory;
import org.slf4j.event.Level;

/**
 * The additions of SLF4J 2 to calls, by a Logback for it: pairs, several markers, arguments that
 * are made when they are asked for.
 */
public final class FluentBridge {
    private static int evaluated;

    private FluentBridge() {}

    public static void main(String[] args) throws Exception {
        try (Session session = Session.builder().file(Path.of(args[0])).logFrom(LogLevel.DEBUG).locations().start()) {
            Logger logger = LoggerFactory.getLogger("com.app.Fluent");
            Marker audit = MarkerFactory.getMarker("AUDIT");
            logger.atInfo().addKeyValue("bytes", 1500).addKeyValue("host", "example.org").log("sent");
            logger.atInfo().addKeyValue("bytes", 1500L).log("sent {} bytes to {}", 1500, "host");
            logger.atWarn().addMarker(audit).addMarker(MarkerFactory.getMarker("SLOW")).addArgument(2.5f).log("took {} ms");
            logger.atInfo().addArgument(() -> evaluated()).addArgument((Object) null).log("lazy {} {}");
            logger.atTrace().addArgument(() -> evaluated()).log("off {}");
            logger.atInfo().log(() -> "made when it is asked for");
            logger.atError().setCause(new IllegalStateException("broken", new RuntimeException("root"))).addKeyValue("user", (Object) null).log("failed");
            logger.atLevel(Level.DEBUG).addKeyValue("a b=c", "x \"y\"").addKeyValue("object", new int[] {1, 2}).log("any pairs");
            logger.makeLoggingEventBuilder(Level.INFO).setMessage("by parts {}").addArgument(true).log();
            MDC.put("request_id", "/pay");
            MDC.put("bytes", "of the thread");
            // The call's own pair counts.
            logger.atInfo().addKeyValue("bytes", 7).log("in a context");
            MDC.clear();
            logger.info("not fluent {}", 'c');
            logger.atInfo().addMarker(new ThrowingMarker()).log("marked by one that throws");
            Thread other = new Thread(() -> logger.atInfo().addKeyValue("of", "other").log("of the other thread"), "other");
            other.start();
            other.join();
            ((LoggerContext) LoggerFactory.getILoggerFactory()).stop();
            System.out.println(session.stop().messages() + " " + evaluated);
        }
    }

    private static int evaluated() {
        return ++evaluated;
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
