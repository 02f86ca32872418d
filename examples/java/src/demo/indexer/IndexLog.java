package demo.indexer;

import dev.protolog.IProtoLogGroup;

/**
 * The indexer's groups of log messages. The tool reads this source: the constructor's arguments are
 * constants, some of them literals, some named in a nested class.
 */
public enum IndexLog implements IProtoLogGroup {
    CLI(Consts.ENABLED, Consts.TO_TEXT, Consts.TAG_INDEX),
    RULES(Consts.ENABLED, Consts.TO_TEXT, "IndexRules"),
    WALK(true, true, Consts.TAG_WALK),
    SCAN(Consts.ENABLED, true, Consts.TAG_SCAN),
    HASH(true, Consts.TO_TEXT, Consts.TAG_SCAN),
    STATS(Consts.ENABLED, Consts.TO_TEXT, Consts.TAG_INDEX),
    /** Silent unless {@code -Dprotolog.level} names it. */
    POOL(Consts.ENABLED, Consts.NOT_TO_TEXT, Consts.TAG_INDEX),
    /** Compiled out: neither code nor text of its calls remains in a processed build. */
    TRACE(Consts.DISABLED, Consts.TO_TEXT, "IndexTrace");

    private final boolean enabled;
    private final boolean logToText;
    private final String tag;

    IndexLog(boolean enabled, boolean logToText, String tag) {
        this.enabled = enabled;
        this.logToText = logToText;
        this.tag = tag;
    }

    @Override
    public boolean isEnabled() {
        return enabled;
    }

    @Override
    public boolean isLogToLogcat() {
        return logToText;
    }

    @Override
    public String getTag() {
        return tag;
    }

    private static class Consts {
        private static final String TAG_INDEX = "Index";
        private static final String TAG_WALK = "IndexWalk";
        private static final String TAG_SCAN = "IndexScan";

        private static final boolean ENABLED = true;
        private static final boolean DISABLED = false;
        private static final boolean TO_TEXT = true;
        private static final boolean NOT_TO_TEXT = false;
    }
}
