package dev.protolog.internal.write;

import dev.protolog.internal.groups.GroupPattern;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.rules.NamedMessages;

/** The messages at which a trigger fires. */
public interface CauseCondition {
    /** None: somebody names the cause. */
    CauseCondition NAMED = call -> false;
    /** None: an exception that nobody catches. */
    CauseCondition UNCAUGHT = call -> false;
    /** None: a request that fails. */
    CauseCondition FAILED_REQUEST = call -> false;

    boolean takes(Call call);

    /** Those of these levels, a bit for each. */
    static CauseCondition ofLevels(int levels) {
        return call -> (levels & 1 << call.level.ordinal()) != 0;
    }

    /** Those of these levels of the groups that a pattern names. */
    static CauseCondition ofGroup(String pattern, int levels) {
        return call -> (levels & 1 << call.level.ordinal()) != 0 && GroupPattern.matches(pattern, call.group.fullName);
    }

    /** Those that a text names. */
    static CauseCondition ofMessages(NamedMessages messages) {
        return call -> {
            GroupState group = call.group;
            return messages.has(call.id, group.fullName, call.level, call.template == null ? null : call.template.toString());
        };
    }
}
