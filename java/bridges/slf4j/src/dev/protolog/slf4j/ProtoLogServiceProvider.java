package dev.protolog.slf4j;

import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Turns what is logged with SLF4J into messages. SLF4J finds it where its jar is on the class path
 * or the module path.
 */
public final class ProtoLogServiceProvider implements SLF4JServiceProvider {
    /** The newest version of the API that it is for; a later patch version of it does as well. */
    private static final String API = "2.0.99";

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new BasicMDCAdapter();
    private final ConcurrentHashMap<String, Logger> loggers = new ConcurrentHashMap<>();

    /** Called by SLF4J. */
    public ProtoLogServiceProvider() {}

    @Override
    public ILoggerFactory getLoggerFactory() {
        return name -> loggers.computeIfAbsent(name, ProtoLogLogger::new);
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public String getRequestedApiVersion() {
        return API;
    }

    @Override
    public void initialize() {}
}
