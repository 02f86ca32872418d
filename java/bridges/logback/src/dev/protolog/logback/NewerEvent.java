package dev.protolog.logback;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Marker;

/**
 * The additions of Logback 1.3 to events, made for SLF4J 2: several markers, pairs of the call, a
 * time in nanoseconds. They are looked up by name, so that the same jar works with 1.2.
 *
 * <p>Invariant: nothing is thrown; a part that an event does not have is as in 1.2.
 */
final class NewerEvent {
    private static final MethodHandle MARKERS = find(ILoggingEvent.class, "getMarkerList", List.class);
    private static final MethodHandle PAIRS = find(ILoggingEvent.class, "getKeyValuePairs", List.class);
    private static final MethodHandle TIME = find(ILoggingEvent.class, "getInstant", Instant.class);

    private NewerEvent() {}

    /** The names of the event's markers; null for none. */
    static String markers(ILoggingEvent event) {
        if (MARKERS == null) {
            Marker one = event.getMarker();
            return one == null ? null : name(one);
        }
        List<?> all = list(MARKERS, event);
        return all.isEmpty() ? null : all.stream().map(marker -> name((Marker) marker)).collect(Collectors.joining(","));
    }

    /** The name of a marker; a class of the application may have none, or throw. */
    private static String name(Marker marker) {
        try {
            return marker == null ? "null" : marker.getName();
        } catch (RuntimeException e) {
            return "<" + marker.getClass().getName() + ".getName: " + e.getClass().getName() + ">";
        }
    }

    /** Adds the pairs of the call. */
    static void addPairs(ILoggingEvent event, Map<String, Object> to) {
        for (Object pair : list(PAIRS, event)) {
            try {
                to.put(String.valueOf(pair.getClass().getField("key").get(pair)), pair.getClass().getField("value").get(pair));
            } catch (ReflectiveOperationException e) {
                return;
            }
        }
    }

    static Instant time(ILoggingEvent event) {
        try {
            Instant exact = TIME == null ? null : (Instant) TIME.invoke(event);
            return exact != null ? exact : Instant.ofEpochMilli(event.getTimeStamp());
        } catch (Throwable e) {
            return Instant.ofEpochMilli(event.getTimeStamp());
        }
    }

    private static List<?> list(MethodHandle of, ILoggingEvent event) {
        try {
            List<?> all = of == null ? null : (List<?>) of.invoke(event);
            return all == null ? List.of() : all;
        } catch (Throwable e) {
            return List.of();
        }
    }

    private static MethodHandle find(Class<?> of, String name, Class<?> result) {
        try {
            return MethodHandles.publicLookup().findVirtual(of, name, MethodType.methodType(result));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
