package dev.protolog.internal.write;

import dev.protolog.Request;
import dev.protolog.RequestScope;
import dev.protolog.internal.groups.Groups;
import java.util.Arrays;

/**
 * The requests that a thread is in: its messages belong to the innermost one. Scopes end in any
 * order, twice, by another thread, or never: a pool's thread that runs code which closes none is in
 * the newest one all the same.
 *
 * <p>Invariant: only the thread changes the list; another one leaves a mark. What is here refers to
 * no session.
 */
public final class ThreadRequests {
    /** Of more than these the outermost are forgotten. */
    private static final int MAX_DEPTH = 64;
    private static final int FIRST_DEPTH = 4;

    private final Call call;
    /** Those that the thread is in, the outermost first. */
    private EnteredRequest[] open = new EnteredRequest[FIRST_DEPTH];
    private int depth;

    ThreadRequests(Call call) {
        this.call = call;
    }

    /** A scope of a thread. */
    private static final class EnteredRequest implements RequestScope {
        private final ThreadRequests of;
        private final Request request;
        private final RequestMark mark;
        /** True if those within it end with it. */
        private final boolean isTask;
        /** True once it is to end when its thread enters or leaves a request next. */
        private volatile boolean isLeft;

        EnteredRequest(ThreadRequests of, Request request, RequestMark mark, boolean isTask) {
            this.of = of;
            this.request = request;
            this.mark = mark;
            this.isTask = isTask;
        }

        @Override
        public Request request() {
            return request;
        }

        @Override
        public void close() {
            try {
                if (ThreadCalls.ofThread() == of.call) {
                    of.leave(this);
                    return;
                }
            } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
                isLeft = true;
                Groups.repair(e);
            }
            isLeft = true;
        }
    }

    /**
     * Has the current thread enter a request, until the scope is closed; with {@code isTask} all
     * that it enters meanwhile ends then, too.
     */
    public static RequestScope enter(Request request, RequestMark mark, boolean isTask) {
        Call call = ThreadCalls.ofThread();
        if (call.requests == null) {
            call.requests = new ThreadRequests(call);
        }
        return call.requests.enterOne(request, mark, isTask);
    }

    /** The innermost request that the current thread is in; null for none. */
    public static Request current() {
        ThreadRequests requests = ThreadCalls.ofThread().requests;
        if (requests == null) {
            return null;
        }
        requests.endLeft();
        return requests.depth == 0 ? null : requests.open[requests.depth - 1].request;
    }

    private RequestScope enterOne(Request request, RequestMark mark, boolean isTask) {
        endLeft();
        EnteredRequest entered = new EnteredRequest(this, request, mark, isTask);
        if (depth == MAX_DEPTH) {
            remove(0);
        } else if (depth == open.length) {
            open = Arrays.copyOf(open, 2 * depth);
        }
        // Nothing is called from here on.
        open[depth++] = entered;
        call.request = mark;
        return entered;
    }

    private void leave(EnteredRequest scope) {
        int at = depth - 1;
        while (at >= 0 && open[at] != scope) {
            at--;
        }
        if (at < 0) {
            return;
        }
        while (scope.isTask && depth > at + 1) {
            open[--depth] = null;
        }
        remove(at);
        endLeft();
    }

    private void remove(int at) {
        System.arraycopy(open, at + 1, open, at, depth - at - 1);
        open[--depth] = null;
    }

    /** Ends the innermost scopes as long as others have left them to this thread. */
    private void endLeft() {
        while (depth > 0 && open[depth - 1].isLeft) {
            open[--depth] = null;
        }
        call.request = depth == 0 ? null : open[depth - 1].mark;
    }
}
