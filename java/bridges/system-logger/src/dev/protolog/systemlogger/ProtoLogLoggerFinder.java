package dev.protolog.systemlogger;

import dev.protolog.BridgedLogger;
import dev.protolog.LogLevel;
import java.util.MissingResourceException;
import java.util.ResourceBundle;

/**
 * Turns what is logged with {@link System.Logger} into messages. The JDK finds it where its jar is
 * on the class path or the module path.
 *
 * <p>Invariant: a logger is enabled for a level if a session records its group at that level, or if
 * it is printed.
 */
public final class ProtoLogLoggerFinder extends System.LoggerFinder {
    /** Called by the JDK. */
    public ProtoLogLoggerFinder() {}

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new ProtoLogLogger(name, BridgedLogger.of(name));
    }

    private record ProtoLogLogger(String name, BridgedLogger logger) implements System.Logger {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return level != Level.OFF && logger.isEnabled(level(level));
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
            if (isLoggable(level)) {
                logger.logNumbered(level(level), translated(bundle, text), null, thrown, null, null);
            }
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... args) {
            if (isLoggable(level)) {
                logger.logNumbered(level(level), translated(bundle, format), args, null, null, null);
            }
        }

        private static String translated(ResourceBundle bundle, String text) {
            try {
                return bundle == null || text == null ? text : bundle.getString(text);
            } catch (MissingResourceException | ClassCastException e) {
                return text;
            }
        }

        private static LogLevel level(Level level) {
            return switch (level) {
                case ALL, TRACE -> LogLevel.VERBOSE;
                case DEBUG -> LogLevel.DEBUG;
                case INFO -> LogLevel.INFO;
                case WARNING -> LogLevel.WARN;
                case ERROR, OFF -> LogLevel.ERROR;
            };
        }
    }
}
