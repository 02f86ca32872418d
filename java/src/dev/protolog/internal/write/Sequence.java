package dev.protolog.internal.write;

import java.util.ArrayList;
import java.util.List;

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
     * The messages that rules have held back, by limits, by sampling, or since they repeat others:
     * all, and those that no packet reports yet. Null before the first.
     */
    private volatile Losses heldBack;
    private volatile Losses unreported;

    public Sequence(int id) {
        this.id = id;
    }

    /**
     * Counts a message that a rule has held back at this time, 0 if nobody asks for it; it repeats
     * one with the id {@code message}, unless that is 0. No lock that other threads take for their
     * messages: the session looks here when it is asked for its losses. False where there is no
     * memory for that.
     */
    public boolean holdBack(int group, LossCause cause, long time, long message, boolean isReported) {
        try {
            if (heldBack == null) {
                unreported = new Losses();
                heldBack = new Losses();
            }
        } catch (OutOfMemoryError | StackOverflowError e) {
            return false;
        }
        heldBack.addAt(group, cause, time, 0);
        if (isReported) {
            try {
                unreported.addAt(group, cause, time, message);
            } catch (StackOverflowError e) {
                // It is counted: the end reports it, with those of its group.
            }
        }
        return true;
    }

    /** Has another thread go on with the sequence. What is counted stays counted. */
    public void beginThread() {
        if (heldBack != null) {
            unreported.forgetMessages();
        }
    }

    /** Takes all that the last packet of the sequence reports: losses, and repeats. */
    public List<Losses.Count> takeLast() {
        List<Losses.Count> all = new ArrayList<>();
        for (Losses from = losses; from != null; from = from == losses ? unreported() : null) {
            Losses.Pending pending = from.newPending();
            from.take(pending);
            all.addAll(pending.all());
        }
        return all;
    }

    /** Adds all messages that rules have held back. */
    public void addHeldBackTo(Losses all) {
        if (heldBack != null) {
            heldBack.all().forEach(count -> count.addTo(all));
        }
    }

    /**
     * Those that no packet reports yet; null where there were never any. Of a session that keeps
     * its messages they are repeats alone: packets report these, and nothing else.
     */
    public Losses unreported() {
        return heldBack == null ? null : unreported;
    }
}
