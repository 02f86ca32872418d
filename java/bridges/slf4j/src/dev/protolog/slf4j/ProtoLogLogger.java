package dev.protolog.slf4j;

import dev.protolog.BridgedLogger;
import dev.protolog.EventOrigin;
import dev.protolog.LogLevel;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.MDC;
import org.slf4j.Marker;
import org.slf4j.event.KeyValuePair;
import org.slf4j.event.Level;
import org.slf4j.event.LoggingEvent;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.spi.LoggingEventAware;

/**
 * A logger of SLF4J as a group. The pairs of a message are those of the call, then those of the
 * thread's MDC; markers follow them.
 *
 * <p>Invariant: as {@link BridgedLogger}'s, no method throws.
 */
final class ProtoLogLogger extends AbstractLogger implements LoggingEventAware {
    private static final long serialVersionUID = 1;

    private final transient BridgedLogger logger;

    ProtoLogLogger(String name) {
        this.name = name;
        logger = BridgedLogger.of(name);
    }

    @Override
    public boolean isTraceEnabled() {
        return logger.isEnabled(LogLevel.VERBOSE);
    }

    @Override
    public boolean isTraceEnabled(Marker marker) {
        return isTraceEnabled();
    }

    @Override
    public boolean isDebugEnabled() {
        return logger.isEnabled(LogLevel.DEBUG);
    }

    @Override
    public boolean isDebugEnabled(Marker marker) {
        return isDebugEnabled();
    }

    @Override
    public boolean isInfoEnabled() {
        return logger.isEnabled(LogLevel.INFO);
    }

    @Override
    public boolean isInfoEnabled(Marker marker) {
        return isInfoEnabled();
    }

    @Override
    public boolean isWarnEnabled() {
        return logger.isEnabled(LogLevel.WARN);
    }

    @Override
    public boolean isWarnEnabled(Marker marker) {
        return isWarnEnabled();
    }

    @Override
    public boolean isErrorEnabled() {
        return logger.isEnabled(LogLevel.ERROR);
    }

    @Override
    public boolean isErrorEnabled(Marker marker) {
        return isErrorEnabled();
    }

    @Override
    public void log(LoggingEvent event) {
        LogLevel level = level(event.getLevel());
        if (logger.isEnabled(level)) {
            logger.log(level, event.getMessage(), event.getArgumentArray(), event.getThrowable(),
                    pairs(event.getMarkers(), event.getKeyValuePairs()), origin(event));
        }
    }

    /**
     * Thread and time of an event that says them: SLF4J hands on later what is logged while it
     * initializes itself.
     */
    private static EventOrigin origin(LoggingEvent event) {
        boolean isLater = event.getTimeStamp() > 0 && event.getThreadName() != null;
        return isLater ? new EventOrigin(0, event.getThreadName(), Instant.ofEpochMilli(event.getTimeStamp()), null) : null;
    }

    @Override
    protected String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(Level level, Marker marker, String message, Object[] args, Throwable thrown) {
        logger.log(level(level), message, args, thrown, pairs(marker == null ? null : List.of(marker), null), null);
    }

    private static Map<String, ?> pairs(List<Marker> markers, List<KeyValuePair> own) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        boolean hasMarkers = markers != null && !markers.isEmpty();
        if (!hasMarkers && (own == null || own.isEmpty())) {
            return context;
        }
        Map<String, Object> all = new LinkedHashMap<>();
        if (hasMarkers) {
            all.put("marker", markers.stream().map(ProtoLogLogger::name).collect(Collectors.joining(",")));
        }
        (own == null ? List.<KeyValuePair>of() : own).forEach(pair -> all.put(String.valueOf(pair.key), pair.value));
        if (context != null) {
            context.forEach(all::putIfAbsent);
        }
        return all;
    }

    /** The name of a marker; a class of the application may have none, or throw. */
    private static String name(Marker marker) {
        try {
            return marker == null ? "null" : marker.getName();
        } catch (RuntimeException e) {
            return "<" + marker.getClass().getName() + ".getName: " + e.getClass().getName() + ">";
        }
    }

    private static LogLevel level(Level level) {
        return switch (level) {
            case TRACE -> LogLevel.VERBOSE;
            case DEBUG -> LogLevel.DEBUG;
            case INFO -> LogLevel.INFO;
            case WARN -> LogLevel.WARN;
            case ERROR -> LogLevel.ERROR;
        };
    }
}
