package dev.protolog.log4j;

import dev.protolog.BridgedLogger;
import dev.protolog.EventOrigin;
import dev.protolog.LogLevel;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.Core;
import org.apache.logging.log4j.core.Filter;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.config.plugins.Plugin;
import org.apache.logging.log4j.core.config.plugins.PluginAttribute;
import org.apache.logging.log4j.core.config.plugins.PluginElement;
import org.apache.logging.log4j.core.config.plugins.PluginFactory;
import org.apache.logging.log4j.message.Message;

/**
 * An appender that turns events of Log4j 2 into messages: {@code <ProtoLog name="trace"/>} in the
 * configuration. Each logger is a group, and the thread's context follows the text as pairs.
 *
 * <p>A message has the thread and the time of its event, whichever thread of Log4j hands it on.
 * Markers and the nested context are pairs, too.
 */
@Plugin(name = "ProtoLog", category = Core.CATEGORY_NAME, elementType = Appender.ELEMENT_TYPE, printObject = true)
public final class ProtoLogAppender extends AbstractAppender {
    private final ConcurrentHashMap<String, BridgedLogger> loggers = new ConcurrentHashMap<>();

    private ProtoLogAppender(String name, Filter filter) {
        super(name, filter, null, true, Property.EMPTY_ARRAY);
    }

    /** Called by Log4j for an element of its configuration. */
    @PluginFactory
    public static ProtoLogAppender create(@PluginAttribute("name") String name, @PluginElement("Filter") Filter filter) {
        return new ProtoLogAppender(name == null ? "ProtoLog" : name, filter);
    }

    @Override
    public void append(LogEvent event) {
        String name = event.getLoggerName();
        BridgedLogger logger = loggers.computeIfAbsent(name == null ? "" : name, BridgedLogger::of);
        LogLevel level = level(event.getLevel());
        if (!logger.isEnabled(level)) {
            return;
        }
        Message message = event.getMessage();
        // Events answer for messages, also those that Log4j uses again and again. Any kind of
        // message may have a format, so its text decides.
        String format = null;
        Object[] parameters = null;
        String formatted;
        try {
            formatted = message.getFormattedMessage();
            format = message.getFormat();
            parameters = message.getParameters();
        } catch (RuntimeException e) {
            // Of a kind of the application, whose event would be lost.
            formatted = "<" + message.getClass().getName() + ": " + e.getClass().getName() + ">";
        }
        if (format != null && parameters != null && parameters.length > 0) {
            logger.logIfFormatted(level, format, parameters, formatted, event.getThrown(), pairs(event), origin(event));
        } else {
            logger.log(level, formatted, null, event.getThrown(), pairs(event), origin(event));
        }
    }

    /** The values of an event beside its text; null for none. */
    private static Map<String, String> pairs(LogEvent event) {
        boolean hasStack = event.getContextStack() != null && !event.getContextStack().isEmpty();
        if (event.getContextData().isEmpty() && event.getMarker() == null && !hasStack) {
            return null;
        }
        Map<String, String> pairs = new LinkedHashMap<>();
        if (event.getMarker() != null) {
            pairs.put("marker", event.getMarker().getName());
        }
        event.getContextData().forEach((name, value) -> pairs.put(name, String.valueOf(value)));
        if (hasStack) {
            pairs.put("ndc", String.join(" ", event.getContextStack().asList()));
        }
        return pairs;
    }

    /**
     * Thread and time of an event, which asynchronous appenders and loggers hand on later; its
     * place if Log4j was told to find it.
     */
    private static EventOrigin origin(LogEvent event) {
        boolean isOfOther = event.getThreadId() != Thread.currentThread().getId();
        // Of this thread the place is found if a session asks for it.
        String location = isOfOther && event.isIncludeLocation() ? EventOrigin.location(event.getSource()) : null;
        Instant time = Instant.ofEpochSecond(event.getInstant().getEpochSecond(), event.getInstant().getNanoOfSecond());
        return new EventOrigin(event.getThreadId(), event.getThreadName(), time, location);
    }

    private static LogLevel level(Level level) {
        if (level.isMoreSpecificThan(Level.FATAL)) {
            return LogLevel.WTF;
        } else if (level.isMoreSpecificThan(Level.ERROR)) {
            return LogLevel.ERROR;
        } else if (level.isMoreSpecificThan(Level.WARN)) {
            return LogLevel.WARN;
        } else if (level.isMoreSpecificThan(Level.INFO)) {
            return LogLevel.INFO;
        }
        return level.isMoreSpecificThan(Level.DEBUG) ? LogLevel.DEBUG : LogLevel.VERBOSE;
    }
}
