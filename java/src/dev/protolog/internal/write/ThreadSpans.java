package dev.protolog.internal.write;

import dev.protolog.LogLevel;
import dev.protolog.Span;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.Template;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The spans that a thread is in. Slices of a track are nested, and a span may be closed at any
 * time, twice, by another thread, or never. So the end of a span ends all within it first, which
 * are over then. As {@code protolog-rt/src/span/entered.rs}.
 *
 * <p>Invariants: a thread writes at most one end for each begin that it wrote, the innermost first.
 * Only the thread changes the list; another one leaves a mark. What is here refers to no session.
 */
final class ThreadSpans {
    /** Spans that are deeper have no slices. */
    private static final int MAX_DEPTH = 64;
    private static final int TEMPLATES = 16;
    private static final AtomicBoolean HAS_SAID = new AtomicBoolean();

    private final Call call;
    private final Slice slice = new Slice();
    /** Those that the thread is in, the outermost first. */
    private final OpenSpan[] open = new OpenSpan[MAX_DEPTH];
    private int depth;
    /** The templates of some spans, by their ids: to ask the dictionaries takes a lock. */
    private final long[] ids = new long[TEMPLATES];
    private final Template[] templates = new Template[TEMPLATES];

    ThreadSpans(Call call) {
        this.call = call;
    }

    /** A span that has begun. */
    private static final class OpenSpan implements Span {
        private final ThreadSpans of;
        private final int index;
        private final GroupState group;
        private final LogLevel level;
        /** What rules made of its begin, which holds for its end. */
        private final RuledCall rule;
        /** True once it is to end with the next begin or end of its thread. */
        private volatile boolean isLeft;

        OpenSpan(ThreadSpans of, int index, RuledCall rule) {
            this.of = of;
            this.index = index;
            this.rule = rule;
            group = of.call.group;
            level = of.call.level;
        }

        @Override
        public void close() {
            try {
                if (ThreadCalls.ofThread() == of.call) {
                    of.end(this);
                    return;
                }
                isLeft = true;
                sayLeft();
            } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
                Groups.repair(e);
                isLeft = true;
            }
        }
    }

    /** Begins the span of a call that has its arguments. */
    Span begin(RuledCall rule) {
        if (depth > 0 && open[depth - 1].isLeft) {
            // Their ends take the place of the call.
            GroupState group = call.group;
            LogLevel level = call.level;
            int count = call.count;
            long kinds = call.kinds;
            endLeft();
            call.group = group;
            call.level = level;
            call.count = count;
            call.kinds = kinds;
        }
        if (depth == MAX_DEPTH) {
            return NoSpan.INSTANCE;
        }
        OpenSpan span = new OpenSpan(this, depth, rule);
        slice.begin(call, template(), depth);
        open[depth++] = span;
        call.write(slice, rule);
        return span;
    }

    /** The template of the call, which names its span; null if it is not known. */
    private Template template() {
        if (call.template != null) {
            return call.template;
        }
        int slot = (int) call.id & TEMPLATES - 1;
        if (templates[slot] == null || ids[slot] != call.id) {
            ids[slot] = call.id;
            templates[slot] = Dictionaries.template(call.id);
        }
        return templates[slot];
    }

    /** Ends a span, those within it first, unless it is over. */
    private void end(OpenSpan span) {
        if (call.isBusy()) {
            // A text sink of the application closes it, within another call.
            span.isLeft = true;
            return;
        }
        endLeft();
        while (span.index < depth && open[span.index] == span) {
            endInnermost();
        }
    }

    /** Ends the innermost spans as long as others have left them to this thread. */
    private void endLeft() {
        while (depth > 0 && open[depth - 1].isLeft) {
            endInnermost();
        }
    }

    private void endInnermost() {
        OpenSpan last = open[depth - 1];
        call.prepareEnd(last.group, last.level);
        slice.end(call, depth - 1);
        // Before it is written: after an error it is over.
        open[--depth] = null;
        call.write(slice, last.rule);
    }

    /** Says once that spans are closed by other threads. */
    private static void sayLeft() {
        if (!HAS_SAID.getAndSet(true)) {
            LogPrinter.problem("the thread `" + Thread.currentThread().getName() + "` has closed a span of another thread, which ends later",
                    "close a span on the thread that began it");
        }
    }
}
