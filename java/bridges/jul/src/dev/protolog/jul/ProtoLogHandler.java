package dev.protolog.jul;

import dev.protolog.BridgedLogger;
import dev.protolog.EventOrigin;
import dev.protolog.LogLevel;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.ErrorManager;
import java.util.logging.Filter;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * A handler that turns the records of java.util.logging into messages:
 * {@code handlers = dev.protolog.jul.ProtoLogHandler} in the configuration, or {@link #install}.
 * Each logger is a group.
 *
 * <p>Invariant: the levels of loggers and of this handler decide first, then those of sessions.
 */
public final class ProtoLogHandler extends Handler {
    private static final Formatter FORMATTER = new SimpleFormatter();

    private final ConcurrentHashMap<String, BridgedLogger> loggers = new ConcurrentHashMap<>();

    /**
     * A handler that passes on records of all levels, unless the configuration has
     * {@code dev.protolog.jul.ProtoLogHandler.level}, and that its {@code .filter} lets through, as
     * those of the JDK do.
     */
    public ProtoLogHandler() {
        setLevel(Level.ALL);
        String own = ProtoLogHandler.class.getName();
        String level = LogManager.getLogManager().getProperty(own + ".level");
        String filter = LogManager.getLogManager().getProperty(own + ".filter");
        try {
            if (level != null) {
                setLevel(Level.parse(level.strip()));
            }
            if (filter != null) {
                ClassLoader loader = ClassLoader.getSystemClassLoader();
                setFilter((Filter) loader.loadClass(filter.strip()).getDeclaredConstructor().newInstance());
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            reportError("can't use the configuration of " + own, e, ErrorManager.GENERIC_FAILURE);
        }
    }

    /** Adds a handler to the root logger, and returns it. */
    public static ProtoLogHandler install() {
        ProtoLogHandler handler = new ProtoLogHandler();
        Logger.getLogger("").addHandler(handler);
        return handler;
    }

    @Override
    public void publish(LogRecord record) {
        if (!isLoggable(record)) {
            return;
        }
        LogLevel level = level(record.getLevel());
        String name = record.getLoggerName() == null ? "" : record.getLoggerName();
        BridgedLogger logger = loggers.get(name);
        if (logger == null) {
            logger = BridgedLogger.of(name);
            // Their number is limited where groups are made.
            if (loggers.size() < 1024) {
                loggers.put(name, logger);
            }
        }
        if (!logger.isEnabled(level)) {
            return;
        }
        String message = record.getMessage();
        boolean isPlain = record.getResourceBundle() == null && message != null;
        if (isPlain) {
            logger.logNumbered(level, message, record.getParameters(), record.getThrown(), null, origin(record));
        } else {
            logger.logNumbered(level, FORMATTER.formatMessage(record), null, record.getThrown(), null, origin(record));
        }
    }

    /**
     * Thread and time of a record, which a {@code MemoryHandler} or a handler of the program may
     * hand on later; then its place is what it says itself.
     */
    private static EventOrigin origin(LogRecord record) {
        String location = null;
        if (record.getLongThreadID() != Thread.currentThread().getId() && record.getSourceClassName() != null) {
            location = record.getSourceClassName() + (record.getSourceMethodName() == null ? "" : "." + record.getSourceMethodName());
        }
        return new EventOrigin(record.getLongThreadID(), null, record.getInstant(), location);
    }

    /** Does nothing: messages need no flush to be in the trace. */
    @Override
    public void flush() {}

    /** Does nothing: sessions are closed by the program. */
    @Override
    public void close() {}

    private static LogLevel level(Level level) {
        int value = level.intValue();
        if (value >= Level.SEVERE.intValue()) {
            return LogLevel.ERROR;
        } else if (value >= Level.WARNING.intValue()) {
            return LogLevel.WARN;
        } else if (value >= Level.INFO.intValue()) {
            return LogLevel.INFO;
        }
        return value >= Level.FINE.intValue() ? LogLevel.DEBUG : LogLevel.VERBOSE;
    }
}
