package dev.protolog.internal.write;

/**
 * The messages that a thread's calls logged last, so that one which says the same is only counted.
 * A run ends after a second: a call in a loop is in the log once a second, with the number of its
 * repeats. As {@code protolog-rt/src/writer/repeats.rs}; {@code repeats.tsv} in
 * {@code protolog-core/testdata} has vectors for both.
 *
 * <p>Invariants: only its thread uses it. A run begins with a message that is written to each
 * session which records the call until the run ends; one that is not written is {@link #forget
 * forgotten}.
 */
final class Repeats {
    /** Runs of a thread; calls share them. */
    private static final int RUNS = 16;

    private final MessageRun[] runs = new MessageRun[RUNS];
    /** The message whose run the last one ended, if that had repeats, else 0. */
    long ended;
    /** The number of its repeats, its group and request. */
    long endedCount;
    int endedGroup;
    RequestMark endedRequest;

    /**
     * True if the message of a call repeats the one that it logged before; else it is noted, and
     * {@link #ended} says whether that had repeats. The routes and the switch word are those of
     * now.
     */
    boolean see(Call call, long routes, int word, long now) {
        int at = (int) (call.id >>> Long.SIZE - 4);
        if (runs[at] == null) {
            runs[at] = new MessageRun();
        }
        MessageRun run = runs[at];
        if (run.isSame(call, routes, word, now)) {
            run.count++;
            return true;
        }
        endedCount = run.count;
        ended = run.count > 0 ? run.message : 0;
        endedGroup = run.group;
        endedRequest = run.request;
        run.begin(call, routes, word, now);
        return false;
    }

    /** Forgets the message of this id, which was not written. */
    void forget(long message) {
        MessageRun run = runs[(int) (message >>> Long.SIZE - 4)];
        if (run != null && run.message == message) {
            run.message = 0;
        }
    }
}
