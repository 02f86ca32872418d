package dev.protolog.internal.session;

import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.rules.ByteLimit;
import dev.protolog.internal.rules.SessionSetting;
import java.util.ArrayList;
import java.util.List;

/**
 * Limits of the bytes of sessions that come from outside: by an operator, from a file or a
 * variable. They hold for each session of the program, in place of its own, whenever it started.
 *
 * <p>Invariant: a session that runs has the newest one. It is set under the lock on what is given,
 * which a session that starts takes once it is among those that run.
 */
public final class SessionLimits {
    /** What each source has given, the newest last. */
    private static final List<Given> GIVEN = new ArrayList<>();

    private SessionLimits() {}

    /** {@code limit} is null for none. */
    private record Given(GroupSettings.Source source, ByteLimit limit) {}

    /** Applies settings, which came in this order. */
    public static void apply(List<SessionSetting> settings, GroupSettings.Source source) {
        if (settings.isEmpty() && source != GroupSettings.Source.CONFIG_FILE) {
            return;
        }
        synchronized (GIVEN) {
            if (source == GroupSettings.Source.CONFIG_FILE) {
                // The file is read anew.
                GIVEN.removeIf(it -> it.source == source);
            }
            settings.forEach(setting -> add(setting, source));
            Sessions.running().forEach(SessionLimits::limit);
        }
    }

    /** Gives a session that has started the limit that holds. */
    static void onStart(SessionCore session) {
        synchronized (GIVEN) {
            limit(session);
        }
    }

    private static void add(SessionSetting setting, GroupSettings.Source source) {
        if (setting.isDefault() && source != GroupSettings.Source.CONFIG_FILE) {
            GIVEN.clear();
            return;
        }
        GIVEN.removeIf(it -> it.source == source);
        if (!setting.isDefault()) {
            GIVEN.add(new Given(source, setting.limit()));
        }
    }

    private static void limit(SessionCore session) {
        boolean isOwn = GIVEN.isEmpty();
        session.limitBytes(isOwn ? null : GIVEN.get(GIVEN.size() - 1).limit, isOwn);
    }
}
