package dev.protolog;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A group as the runtime knows it. Invariant: identity and names never change; {@link #routes} is replaced as a whole. */
final class GroupState {
    final IProtoLogGroup group;
    final String fullName;
    final String tag;
    final int id;
    /** The messages of unprocessed calls, by level and template. */
    final Map<String, RuntimeMessage>[] messages;
    volatile Routes routes = Routes.NONE;
    /** The levels of {@link #routes}, for the guard of calls; it may be a moment behind. */
    int enabled;

    @SuppressWarnings({"unchecked", "rawtypes"})
    GroupState(IProtoLogGroup group) {
        this.group = group;
        fullName = MessageId.fullName(group);
        String given = group.getTag();
        tag = given == null ? group.name() : given;
        id = MessageId.ofGroup(fullName);
        messages = new Map[LogLevel.values().length];
        for (int i = 0; i < messages.length; i++) {
            messages[i] = new ConcurrentHashMap<String, RuntimeMessage>();
        }
    }

    void setRoutes(Routes routes) {
        this.routes = routes;
        enabled = routes.all();
    }
}
