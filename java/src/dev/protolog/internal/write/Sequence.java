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
    /**
     * The messages that rules have held back, by limits and by sampling: all, and those that no
     * packet reports yet. Null before the first.
     */
    private volatile Losses heldBack;
    private volatile Losses unreported;

    public Sequence(int id) {
        this.id = id;
    }

    /**
     * Counts a message that a rule has held back at this time, 0 if nobody asks for it. No lock
     * that other threads take for their messages: the session looks here when it is asked for its
     * losses. False where there is no memory for that.
     */
    public boolean holdBack(int group, LossCause cause, long time, boolean isReported) {
        try {
            if (heldBack == null) {
                unreported = new Losses();
                heldBack = new Losses();
            }
        } catch (OutOfMemoryError | StackOverflowError e) {
            return false;
        }
        heldBack.addAt(group, cause, time);
        if (isReported) {
            unreported.addAt(group, cause, time);
        }
        return true;
    }

    /** Adds all messages that rules have held back. */
    public void addHeldBackTo(Losses all) {
        if (heldBack != null) {
            heldBack.all().forEach(count -> count.addTo(all));
        }
    }

    /** Those that no packet reports yet; null where there were never any. */
    public Losses unreported() {
        return heldBack == null ? null : unreported;
    }
}
