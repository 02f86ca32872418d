package dev.protolog.internal.write;

/**
 * A packet sequence of a session: the state that a writer hands on to the next one with its id,
 * when its thread has ended.
 *
 * <p>Invariant: only the writer that has it uses it; times and chunk ids continue.
 */
public final class Sequence {
    public final int id;
    int nextChunk;
    /** Messages ever written. */
    public long messages;
    /** The messages that the session has counted. */
    public long counted;
    /** The time of the last packet, in nanoseconds of BOOTTIME. */
    long time;
    /** Losses that no packet of the sequence reports yet; of a session that streams. */
    public final Losses losses = new Losses();

    public Sequence(int id) {
        this.id = id;
    }
}
