package dev.protolog;

import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.text.MessageText;
import dev.protolog.internal.write.RequestMark;
import dev.protolog.internal.write.ThreadRequests;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/**
 * A request that a program works on: what is logged on its behalf belongs together, on whatever
 * threads, virtual ones too.
 *
 * <pre>{@code
 * try (RequestScope request = ProtoLog.request("GET /cart/" + id)) {
 *     request.keepIfFailed(() -> answer(exchange));
 * }
 * }</pre>
 *
 * <p>A thread that has {@linkplain #enter entered} it marks its messages, so that {@code
 * protologtool read-log --request ID} shows them alone. Where it {@linkplain #fail fails}, a
 * session whose triggers wait for that ({@link Triggers#onFailedRequest}) writes its messages to a
 * file, and not those of others. Other threads have to enter it, too: no thread inherits it, and
 * {@link #wrap(Runnable)} and {@link #wrapTasks(Executor)} do so for tasks.
 *
 * <p>A message belongs to the innermost request that its thread is in. Where that has changed since
 * the thread's last message, the next one has a mark before it in the trace. A thread that logs
 * nothing writes no marks.
 */
public final class Request {
    /** The most bytes of a reason. */
    private static final int MAX_REASON = 200;

    private final RequestMark mark;
    /** What a thread has of it that has no memory to enter it. */
    private final RequestScope unmarked = new Unmarked(this);

    /**
     * A request with this id, by which people know it: a number, a path, the trace id of a header.
     * It has at most 64 bytes; a longer one is cut. Several requests may have one id.
     */
    public Request(Object id) {
        mark = new RequestMark(MessageText.textOf(id));
    }

    /** Something with a result, which may throw. */
    @FunctionalInterface
    public interface Work<V, E extends Exception> {
        V run() throws E;
    }

    /** Something without a result, which may throw. */
    @FunctionalInterface
    public interface Action<E extends Exception> {
        void run() throws E;
    }

    private static final class Unmarked implements RequestScope {
        private final Request request;

        Unmarked(Request request) {
            this.request = request;
        }

        @Override
        public Request request() {
            return request;
        }

        @Override
        public void close() {}
    }

    /** The innermost request that the current thread is in; null for none. */
    public static Request current() {
        try {
            return ThreadRequests.current();
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            Groups.repair(e);
            return null;
        }
    }

    /** The id. */
    public String id() {
        return mark.id;
    }

    /** Has the messages of the current thread belong to the request, until the scope is closed. */
    public RequestScope enter() {
        return enter(false);
    }

    /**
     * Says that the request has failed: sessions whose triggers wait for that write its messages to
     * a file ({@link Triggers#onFailedRequest}), with this reason, of at most 200 bytes; it may be
     * an exception. A request fails once; after that this does nothing.
     */
    public void fail(Object reason) {
        try {
            Sessions.failRequest(mark, RequestMark.cut(MessageText.textOf(reason), MAX_REASON));
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError | LinkageError e) {
            // The program goes on without a file.
        }
    }

    /** Runs something, and has the request fail where it throws: the exception is the reason. */
    public <V, E extends Exception> V keepIfFailed(Work<V, E> work) throws E {
        try {
            return work.run();
        } catch (Throwable e) {
            fail(e);
            throw e;
        }
    }

    /** As above, of something without a result. */
    public <E extends Exception> void keepIfFailed(Action<E> action) throws E {
        try {
            action.run();
        } catch (Throwable e) {
            fail(e);
            throw e;
        }
    }

    /**
     * A task of the request, for another thread: it enters the request, and fails it if it throws.
     * Scopes that it leaves open end with it.
     */
    public Runnable wrap(Runnable task) {
        return () -> {
            try (RequestScope scope = enter(true)) {
                scope.keepIfFailed(task::run);
            }
        };
    }

    /** As above, of a task with a result. */
    public <V> Callable<V> wrap(Callable<V> task) {
        return () -> {
            try (RequestScope scope = enter(true)) {
                return scope.keepIfFailed(task::call);
            }
        };
    }

    /**
     * An executor whose tasks belong to the request that the thread which hands them in is in. That
     * holds for tasks of tasks, too: hand those that are nobody's, such as one that repeats itself
     * for good, to the executor itself.
     */
    public static Executor wrapTasks(Executor executor) {
        return task -> executor.execute(ofCurrent(task));
    }

    /** As above. What it has beside tasks, such as its end, is that of the executor. */
    public static ExecutorService wrapTasks(ExecutorService executor) {
        return new RequestExecutor(executor);
    }

    /** The task as one of the request that the current thread is in. */
    static Runnable ofCurrent(Runnable task) {
        Request current = current();
        return current == null || task == null ? task : current.wrap(task);
    }

    private RequestScope enter(boolean isTask) {
        try {
            return ThreadRequests.enter(this, mark, isTask);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // Its messages belong to the request that the thread was in before.
            Groups.repair(e);
            return unmarked;
        }
    }

    @Override
    public String toString() {
        return "Request(" + id() + ")";
    }
}
