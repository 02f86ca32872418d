package dev.protolog;

/**
 * The scope of a {@link Request} on a thread: until it is closed, what the thread logs belongs to
 * the request. {@link Request#enter} and {@link ProtoLog#request} begin it.
 *
 * <p>Scopes may end in any order; messages belong to the innermost one that has not ended. To close
 * one again does nothing. One that another thread closes ends when its own thread enters or leaves
 * a request next. One that nobody closes stays beneath those that come later; of more than 64 the
 * outermost are forgotten.
 *
 * <p>It is the request, too, so that it can fail.
 */
public interface RequestScope extends AutoCloseable {
    /** The request. */
    Request request();

    /** The id of the request. */
    default String id() {
        return request().id();
    }

    /** Says that the request has failed, as {@link Request#fail}. */
    default void fail(Object reason) {
        request().fail(reason);
    }

    /** Runs something, and has the request fail where it throws: the exception is the reason. */
    default <V, E extends Exception> V keepIfFailed(Request.Work<V, E> work) throws E {
        return request().keepIfFailed(work);
    }

    /** As above, of something without a result. */
    default <E extends Exception> void keepIfFailed(Request.Action<E> action) throws E {
        request().keepIfFailed(action);
    }

    /** Ends the scope. Never throws. */
    @Override
    void close();
}
