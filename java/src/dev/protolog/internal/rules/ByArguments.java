package dev.protolog.internal.rules;

import java.util.ArrayList;
import java.util.List;

/**
 * What rules make of single messages of a call, some of them by values of its arguments: its rules
 * are gone through again for each message, those without a condition as well, and a later one wins.
 *
 * <p>Invariant: what a call may be is at least what each of its messages is.
 */
final class ByArguments {
    private final List<Step> steps = new ArrayList<>();
    private boolean hasConditions;

    private record Step(Selector selector, SiteSetting setting) {}

    /** Adds a rule that takes the call; only its switches count. */
    void add(Selector selector, SiteSetting setting) {
        steps.add(new Step(selector, setting.switchesOnly()));
        hasConditions |= selector.isByArguments();
    }

    /** True if arguments decide something. */
    boolean hasConditions() {
        return hasConditions;
    }

    /** The switches that a message may have: on or printed if one may be, off only if each is. */
    SiteSetting mayBe() {
        SiteSetting state = SiteSetting.NONE;
        for (Step step : steps) {
            SiteSetting after = state.then(step.setting);
            state = step.selector.isByArguments() ? state.or(after) : after;
        }
        return state;
    }

    /** The switches of the message with these arguments. */
    SiteSetting of(IntegerArguments arguments) {
        SiteSetting state = SiteSetting.NONE;
        for (Step step : steps) {
            state = step.selector.takesArguments(arguments) ? state.then(step.setting) : state;
        }
        return state;
    }
}
