package dev.protolog;

import dev.protolog.internal.rules.ByteLimit;
import dev.protolog.internal.rules.Rule;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of a session that say how much of what calls log it takes: rules of single calls,
 * and the limit of its bytes.
 *
 * <p>Invariant: what is wrong is refused at once.
 */
abstract class RuleSettings {
    final List<Rule> rules = new ArrayList<>();
    /** Null for none. */
    ByteLimit byteLimit;

    abstract Session.Builder self();

    /**
     * Switches the calls that {@code selector} takes, or those of their messages with such an
     * argument ({@code arg1 == 42}), by the words of a rule: {@code on}, {@code off},
     * {@code text}, {@code notext}, {@code notrace}, {@code default}; as {@link #limit}.
     */
    public Session.Builder site(String selector, String words) {
        rules.add(Rule.ofSwitches(selector, words));
        return self();
    }

    /**
     * Limits each call that {@code selector} takes to {@code limit}, as in {@code "100/s"}, or
     * {@code "2/m burst 10"} with more at once. Messages beyond it are not written, and the
     * trace says how many there were, of which group, and when.
     *
     * <p>It is a rule of the program, from the start on, like that of an operator: it holds for
     * all sessions and what is printed, until another one of the same selector comes. If it
     * takes no call that is known when the session ends, a line on standard error says so.
     *
     * @throws IllegalArgumentException if one of them is wrong
     */
    public Session.Builder limit(String selector, String limit) {
        rules.add(Rule.ofLimit(selector, limit, false));
        return self();
    }

    /** As {@link #limit}, for all calls together that {@code selector} takes in a group. */
    public Session.Builder groupLimit(String selector, String limit) {
        rules.add(Rule.ofLimit(selector, limit, true));
        return self();
    }

    /**
     * Limits the bytes that this session writes by time, of all messages together:
     * {@code "1MiB/s"}, or {@code "1MiB/s burst 8MiB"} with more at once. What does not pass is
     * counted by group, with the times of the first and the last, and the trace says where.
     * Pinned messages ({@link Session.Builder#pin}) always pass. Threads take bytes for a chunk of
     * up to 4 KiB at a time, so the limit is exceeded by at most a chunk for each thread. A message
     * that is larger than a burst passes when nothing has for a while.
     *
     * @throws IllegalArgumentException if the text is no limit
     */
    public Session.Builder limitBytes(String limit) {
        byteLimit = ByteLimit.of(limit);
        return self();
    }

    /**
     * Samples the calls that {@code selector} takes: each message is kept by chance, with the
     * probability {@code rate}, as in {@code "1/100"} or {@code "1%"}. The trace says how many
     * others there were, by group and level ({@link Summary#passedOver}), and each message that
     * was kept says at which rate, so that {@code protologtool read-log --estimate} tells how
     * many it stands for. Messages of WARN and worse are all kept, unless the selector names
     * their level, as {@code warn} does. With {@code "1/100 by arg1"} all messages are kept
     * that have one of 100 values of their first argument, and none of the others: requests as
     * wholes, the same in each program and language. With {@code "1/512KiB"} one byte is kept
     * of 524,288 that are logged, and with it its message: long ones more often. It is a
     * rule of the program, as of {@link #limit}.
     *
     * @throws IllegalArgumentException if one of them is wrong
     */
    public Session.Builder sample(String selector, String rate) {
        rules.add(Rule.ofRate(selector, rate));
        return self();
    }

    /**
     * Merges identical consecutive messages of each call that {@code selector} takes: of those that
     * a thread logs with the same arguments within a second, the first is written, and the others
     * are counted. The trace has their number, and when the first and the last were logged, so
     * nothing is lost but the time of each ({@link Summary#repeated}): {@code read-log} shows the
     * number beside the message. A call in a loop is in the log once a second.
     *
     * <p>Arguments are compared as they are, up to 224 bytes, and stack traces of exceptions; a
     * message with more is always written. Calls that are sampled are not merged, nor are messages
     * of virtual threads, and events that a bridge passes on from another thread. A limit is asked
     * after this. What is printed has each message. It is a rule of the program, as of
     * {@link #limit}.
     *
     * @throws IllegalArgumentException if the selector is wrong
     */
    public Session.Builder repeat(String selector) {
        rules.add(Rule.ofSwitches(selector, "repeat"));
        return self();
    }
}
