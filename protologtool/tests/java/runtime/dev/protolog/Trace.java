package dev.protolog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The events so far, in order. */
public final class Trace {
    /** The state of the guard of all groups. */
    public static boolean on;
    public static final List<String> LINES = new ArrayList<>();
    /** By id: level, group, template. */
    public static final Map<Long, String[]> DICTIONARY = new HashMap<>();

    static boolean isEnabled(ProtoLogGroup group) {
        return on && group.isEnabled();
    }

    static void message(LogLevel level, ProtoLogGroup group, String template, List<Object> args) {
        LINES.add("log " + level + " " + group.name() + " " + template + " " + args);
    }
}
