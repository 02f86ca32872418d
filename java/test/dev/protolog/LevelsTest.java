package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.groups.Levels;
import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.List;

/**
 * The property {@code protolog.level}. Rows are the property and the levels that are on in each
 * group.
 */
public final class LevelsTest {
    /** Groups of every sort; used by the other tests too. */
    public enum Group implements IProtoLogGroup {
        NET(true, true),
        QUIET(true, false),
        GONE(false, true);

        private final boolean enabled;
        private final boolean logToText;

        Group(boolean enabled, boolean logToText) {
            this.enabled = enabled;
            this.logToText = logToText;
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
            return "Tag" + name();
        }
    }

    private LevelsTest() {}

    static void run() {
        row("VERBOSE", "NET VERBOSE DEBUG INFO WARN ERROR WTF QUIET GONE");
        row("info", "NET INFO WARN ERROR WTF QUIET GONE");
        row("off", "NET QUIET GONE");
        row("off, QUIET=error", "NET QUIET ERROR WTF GONE");
        row("WTF,NET=off,GONE=VERBOSE", "NET QUIET GONE");
        row(" NET = warn , wtf", "NET WARN ERROR WTF QUIET GONE");
        String problem = Captured.lines(() -> row("loud", "NET VERBOSE DEBUG INFO WARN ERROR WTF QUIET GONE"));
        check("a problem is reported", problem.startsWith("protolog: not a level in -Dprotolog.level: `loud`\n  help: use"), true);
    }

    private static void row(String property, String expected) {
        Levels levels = Levels.parse(property);
        List<String> on = new ArrayList<>();
        for (Group group : Group.values()) {
            on.add(group.name());
            for (LogLevel level : LogLevel.values()) {
                if (group.isEnabled() && (levels.printed(group.name(), group.isLogToLogcat()) & LevelSet.bit(level)) != 0) {
                    on.add(level.name());
                }
            }
        }
        check("-Dprotolog.level=" + property, String.join(" ", on), expected);
    }
}
