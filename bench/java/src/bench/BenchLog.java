package bench;

import dev.protolog.IProtoLogGroup;

/** The groups of the bench: one that a session records from INFO on. */
public enum BenchLog implements IProtoLogGroup {
    NET(true, false, "Net");

    private final boolean enabled;
    private final boolean logToLogcat;
    private final String tag;

    BenchLog(boolean enabled, boolean logToLogcat, String tag) {
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
