package dev.protolog;

import java.lang.System.Logger;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A sink that gives messages to {@link System.Logger}, which passes them on to the program's
 * logging library. A group's tag is the name of its logger; VERBOSE is its TRACE, and WTF its
 * ERROR. Loggers see the thread that shows text, not the one that logs.
 */
public final class SystemLogger implements TextSink {
    private final Map<String, Logger> loggers = new ConcurrentHashMap<>();

    /** A sink; all of them have the same loggers. */
    public SystemLogger() {}

    @Override
    public void show(TextLine line) {
        logger(line.tag()).log(level(line.level()), line.text());
    }

    /** The logger of a tag. It is found while no lock is held: a finder is the program's code. */
    private Logger logger(String tag) {
        Logger known = loggers.get(tag);
        if (known != null) {
            return known;
        }
        Logger found = System.getLogger(tag);
        Logger other = loggers.putIfAbsent(tag, found);
        return other == null ? found : other;
    }

    private static Logger.Level level(LogLevel level) {
        return switch (level) {
            case VERBOSE -> Logger.Level.TRACE;
            case DEBUG -> Logger.Level.DEBUG;
            case INFO -> Logger.Level.INFO;
            case WARN -> Logger.Level.WARNING;
            case ERROR, WTF -> Logger.Level.ERROR;
        };
    }
}
