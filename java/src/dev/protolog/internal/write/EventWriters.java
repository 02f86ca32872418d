package dev.protolog.internal.write;

/**
 * The writers of a thread that hands on events of others: up to {@value #MAX} threads have one each
 * in a session, further ones share them. So the events of a few threads take turns without a packet
 * that names the thread, and a late event has its own time: times of a writer only grow.
 *
 * <p>Invariant: only the thread that hands on uses them; they end with it.
 */
final class EventWriters {
    private static final int MAX = 16;

    /** The ids of threads; 0 for none yet. */
    private final int[] threads = new int[MAX];
    private final WriterSet[] writers = new WriterSet[MAX];

    /** The writers for events of a thread. */
    WriterSet of(int thread) {
        int at = 0;
        while (at < MAX && threads[at] != thread && threads[at] != 0) {
            at++;
        }
        if (at == MAX) {
            return writers[thread & MAX - 1];
        }
        if (writers[at] == null) {
            writers[at] = new WriterSet();
        }
        threads[at] = thread;
        return writers[at];
    }
}
