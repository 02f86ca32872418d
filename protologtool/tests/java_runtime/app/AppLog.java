package app;

import dev.protolog.IProtoLogGroup;

/** The groups of the program. */
public enum AppLog implements IProtoLogGroup {
    NET(true, true, "Net"),
    DISK(true, true, "Disk");

    private final boolean enabled;
    private final boolean logToLogcat;
    private final String tag;

    AppLog(boolean enabled, boolean logToLogcat, String tag) {
        this.enabled = enabled;
        this.logToLogcat = logToLogcat;
        this.tag = tag;
    }

    @Override
    public boolean isEnabled() {
        return enabled;
    }

    @Override
    public boolean isLogToLogcat() {
        return logToLogcat;
    }

    @Override
    public String getTag() {
        return tag;
    }
}
