package dev.protolog.internal.write;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The requests that have failed, from the call that says so until their file in a session. One that
 * fails soon after another one is in the next file, and none is in two. As {@code
 * protolog-rt/src/session/arbiter/failures.rs}.
 *
 * <p>Invariant: a bounded number of requests waits; more are counted.
 */
public final class FailedRequests {
    private static final int MOST_WAITING = 4096;
    /** The failed requests that are known as such, so that each fails once. */
    private static final int MOST_KNOWN = 2 * MOST_WAITING;

    private List<FailedRequest> waiting = new ArrayList<>();
    private long more;
    private final Set<Long> known = new HashSet<>();
    private final Deque<Long> knownInOrder = new ArrayDeque<>();

    /** Requests that are taken for a file, and the number of those that there was no room for. */
    public record Taken(List<FailedRequest> all, long more) {}

    /** Adds a request; false if it has failed before. */
    synchronized boolean add(FailedRequest failed) {
        if (!known.add(failed.number())) {
            return false;
        }
        knownInOrder.add(failed.number());
        if (knownInOrder.size() > MOST_KNOWN) {
            known.remove(knownInOrder.remove());
        }
        if (waiting.size() >= MOST_WAITING) {
            more++;
        } else {
            waiting.add(failed);
        }
        return true;
    }

    /** The time at which the first of those that wait failed; 0 for none. */
    synchronized long first() {
        return waiting.isEmpty() ? 0 : waiting.get(0).time();
    }

    /** Takes those that wait. */
    public synchronized Taken take() {
        List<FailedRequest> next = new ArrayList<>();
        Taken taken = new Taken(waiting, more);
        waiting = next;
        more = 0;
        return taken;
    }
}
