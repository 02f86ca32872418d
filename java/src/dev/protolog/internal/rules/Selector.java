package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The one language for "which calls", of settings, commands and triggers:
 * {@code net and "retry" and debug}, {@code Main.java:12-14}, {@code #58f2c41b9a07d36e}. As
 * {@code protolog-core/src/control/selector.rs} has it; {@code selectors.tsv} and
 * {@code selected.tsv} in {@code protolog-core/testdata} have vectors for both.
 *
 * <p>Invariant: a selector has at least one condition.
 */
public final class Selector {
    private static final int MAX_CONDITIONS = 8;
    private static final int MAX_LENGTH = 2048;

    private final String text;
    private final List<Condition> conditions;

    private Selector(String text, List<Condition> conditions) {
        this.text = text;
        this.conditions = conditions;
    }

    public static Selector parse(String text) throws SelectorException {
        if (text.getBytes(StandardCharsets.UTF_8).length > MAX_LENGTH) {
            throw new SelectorException(SelectorException.Kind.TOO_LONG, 1, "");
        }
        SelectorParser parser = new SelectorParser(text);
        List<Condition> conditions = new ArrayList<>();
        do {
            Condition condition = parser.condition(!conditions.isEmpty());
            if (conditions.size() == MAX_CONDITIONS) {
                throw parser.error(SelectorException.Kind.TOO_MANY);
            }
            conditions.add(condition);
        } while (parser.and());
        return new Selector(SelectorParser.trim(text), conditions);
    }

    /** The text, as it was written, without spaces around it. */
    public String text() {
        return text;
    }

    /**
     * True if it has conditions on arguments, so that it may take one message of a call and not
     * another.
     */
    public boolean isByArguments() {
        return conditions.stream().anyMatch(it -> it instanceof ArgumentCondition);
    }

    /** True if its conditions on arguments hold for those of a message, if it has any. */
    boolean takesArguments(IntegerArguments arguments) {
        for (Condition condition : conditions) {
            if (condition instanceof ArgumentCondition asked && !asked.holds(arguments)) {
                return false;
            }
        }
        return true;
    }

    /** True if it would take a call, but for its conditions on arguments. */
    boolean takesWithoutArguments(KnownCall call) {
        return conditions.stream().allMatch(it -> it instanceof ArgumentCondition || it.holds(call));
    }

    /**
     * True if it takes a call: at least some of its messages, where it has conditions on arguments.
     */
    public boolean takes(KnownCall call) {
        return conditions.stream().allMatch(it -> it.holds(call));
    }

    /**
     * True if it may take a call of which more is known later: what is unknown now meets every
     * condition.
     */
    boolean mayTake(KnownCall call) {
        return conditions.stream().allMatch(it -> it.holds(call) || it.isUnknown(call));
    }

    /**
     * True if it names this level: it asks for levels, and takes this one not only as more severe
     * than all that it asks for. So {@code warn} and {@code debug-warn} name WARN, {@code debug}
     * does not.
     */
    boolean namesLevel(LogLevel level) {
        return conditions.stream().anyMatch(it -> it instanceof Condition.Levels levels && levels.names(level));
    }

    /**
     * True if a rule with this selector samples calls of a level, which may be null: WARN and worse
     * only if it names that level.
     */
    boolean samples(LogLevel level) {
        return level != null && (level.compareTo(LogLevel.WARN) < 0 || namesLevel(level));
    }

    /** True if calls that it names may move: it asks for an id and for a place. */
    boolean mayMove() {
        return conditions.stream().anyMatch(it -> it instanceof Condition.Id) && conditions.stream().anyMatch(it -> it instanceof Condition.File);
    }

    /**
     * True if it would take a call if that were still at its lines: it has the id that the selector
     * asks for, and only the place is another.
     */
    boolean takesMoved(KnownCall call) {
        boolean hasId = conditions.stream().anyMatch(it -> it instanceof Condition.Id && it.holds(call));
        return hasId && !takes(call) && conditions.stream().allMatch(it -> it instanceof Condition.File || it.holds(call));
    }

    /** The conditions in full. */
    @Override
    public String toString() {
        return conditions.stream().map(Object::toString).collect(Collectors.joining(" and "));
    }
}
