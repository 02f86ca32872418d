package demo;

import dev.protolog.ProtoLogGroup;

/** The groups of all cases: two that are on, one that is compiled out. */
public enum AppLog implements ProtoLogGroup {
    NET(true, true, "Net"),
    DISK(true, false, Consts.DISK_TAG),
    /** Compiled out. */
    OFF(false, true, "Off");

    private final boolean enabled;
    private final boolean logToText;
    private final String tag;

    AppLog(boolean enabled, boolean logToText, String tag) {
        this.enabled = enabled;
        this.logToText = logToText;
        this.tag = tag;
    }

    @Override public boolean isEnabled() { return enabled; }
    @Override public boolean isLogToText() { return logToText; }
    @Override public String getTag() { return tag; }

    private static final class Consts {
        static final String DISK_TAG = "Di" + "sk";
    }
}
