package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;
import java.util.ArrayList;
import java.util.List;

/**
 * The groups with methods that are being asked at this moment, each with the thread that asks: a
 * message that such a method logs to its own group must not ask it again.
 *
 * <p>Invariant: a question is over once {@link Question#end} was called, which needs neither memory
 * nor stack.
 */
final class AskedGroups {
    private final List<Question> all = new ArrayList<>();

    /** A thread that asks a group. */
    static final class Question {
        private volatile Thread thread;
        private volatile IProtoLogGroup group;

        private Question(Thread thread, IProtoLogGroup group) {
            this.thread = thread;
            this.group = group;
        }

        /** Ends the question, which keeps neither group nor thread from then on. */
        void end() {
            group = null;
            thread = null;
        }
    }

    /** Begins a question; null if this thread asks the group already. */
    synchronized Question begin(IProtoLogGroup group) {
        Thread thread = Thread.currentThread();
        for (int i = all.size() - 1; i >= 0; i--) {
            Question each = all.get(i);
            if (each.thread == thread && each.group == group) {
                return null;
            } else if (each.group == null) {
                all.remove(i);
            }
        }
        Question question = new Question(thread, group);
        all.add(question);
        return question;
    }
}
