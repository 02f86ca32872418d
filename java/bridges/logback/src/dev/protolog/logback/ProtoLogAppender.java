package dev.protolog.logback;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import dev.protolog.BridgedLogger;
import dev.protolog.EventOrigin;
import dev.protolog.LogLevel;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An appender that turns events of Logback into messages:
 * {@code <appender name="TRACE" class="dev.protolog.logback.ProtoLogAppender"/>} in the
 * configuration. Each logger is a group; markers, pairs of the call and the MDC follow the text as
 * pairs.
 *
 * <p>Levels and filters of Logback decide first, then the levels of sessions. A message has the
 * thread and the time of its event, also where an {@code AsyncAppender} hands it on; its place is
 * found by the stack, or is the caller data of such an event ({@code includeCallerData}).
 *
 * <p>Compiled with Logback 1.2, of which newer versions have all that is used here; what these have
 * besides is in {@link NewerEvent}.
 */
public final class ProtoLogAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
    private final ConcurrentHashMap<String, BridgedLogger> loggers = new ConcurrentHashMap<>();

    /** Called by Logback for an element of its configuration. */
    public ProtoLogAppender() {}

    @Override
    protected void append(ILoggingEvent event) {
        String name = event.getLoggerName();
        BridgedLogger logger = loggers.computeIfAbsent(name == null ? "" : name, BridgedLogger::of);
        LogLevel level = level(event.getLevel());
        if (!logger.isEnabled(level)) {
            return;
        }
        String format = event.getMessage();
        Object[] arguments = event.getArgumentArray();
        Throwable thrown = event.getThrowableProxy() instanceof ThrowableProxy proxy ? proxy.getThrowable() : null;
        boolean hasArguments = format != null && arguments != null && arguments.length > 0;
        if (hasArguments) {
            logger.logIfFormatted(level, format, arguments, event.getFormattedMessage(), thrown, pairs(event), origin(event));
        } else {
            logger.log(level, event.getFormattedMessage(), null, thrown, pairs(event), origin(event));
        }
    }

    /** The values of an event beside its text; null for none. */
    private static Map<String, Object> pairs(ILoggingEvent event) {
        Map<String, Object> pairs = new LinkedHashMap<>();
        String markers = NewerEvent.markers(event);
        if (markers != null) {
            pairs.put("marker", markers);
        }
        NewerEvent.addPairs(event, pairs);
        Map<String, String> context = event.getMDCPropertyMap();
        if (context != null) {
            context.forEach(pairs::putIfAbsent);
        }
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown != null && !(thrown instanceof ThrowableProxy)) {
            // Of an event that came from another process.
            pairs.put("exception", ThrowableProxyUtil.asString(thrown));
        }
        return pairs.isEmpty() ? null : pairs;
    }

    private static EventOrigin origin(ILoggingEvent event) {
        String thread = event.getThreadName();
        boolean isOfOther = thread != null && !thread.equals(Thread.currentThread().getName());
        String location = null;
        if (isOfOther && event.hasCallerData() && event.getCallerData().length > 0) {
            location = EventOrigin.location(event.getCallerData()[0]);
        }
        return new EventOrigin(0, thread, NewerEvent.time(event), location);
    }

    private static LogLevel level(Level level) {
        int value = level.toInt();
        if (value >= Level.ERROR_INT) {
            return LogLevel.ERROR;
        } else if (value >= Level.WARN_INT) {
            return LogLevel.WARN;
        } else if (value >= Level.INFO_INT) {
            return LogLevel.INFO;
        }
        return value >= Level.DEBUG_INT ? LogLevel.DEBUG : LogLevel.VERBOSE;
    }
}
