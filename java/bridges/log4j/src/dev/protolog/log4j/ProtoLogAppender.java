package dev.protolog.log4j;

import dev.protolog.BridgedLogger;
import dev.protolog.LogLevel;
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
import org.apache.logging.log4j.message.ParameterizedMessage;
import org.apache.logging.log4j.message.ReusableParameterizedMessage;

/**
 * An appender that turns events of Log4j 2 into messages: {@code <ProtoLog name="trace"/>} in the configuration. Each logger is a group, and
 * the thread's context follows the text as pairs.
 *
 * <p>A message has the thread and the time of the call if loggers are synchronous; with asynchronous loggers those of Log4j's thread.
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
        BridgedLogger logger = loggers.computeIfAbsent(event.getLoggerName(), BridgedLogger::of);
        LogLevel level = level(event.getLevel());
        if (!logger.isEnabled(level)) {
            return;
        }
        Message message = event.getMessage();
        Map<String, String> context = event.getContextData().isEmpty() ? null : event.getContextData().toMap();
        boolean hasBraces = message instanceof ParameterizedMessage || message instanceof ReusableParameterizedMessage;
        if (hasBraces) {
            logger.log(level, message.getFormat(), message.getParameters(), event.getThrown(), context);
        } else {
            logger.log(level, message.getFormattedMessage(), null, event.getThrown(), context);
        }
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
