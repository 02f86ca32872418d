package dev.protolog.internal.write;

import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.process.BootClock;

/**
 * The owner of trace writers, which is a session, as calls and writers know it: a filter, a buffer,
 * a clock, waiting for a chunk, counters of losses. A session that pins messages is two: one for
 * those, with a ring of their own, and one for all others.
 *
 * <p>Invariant: one class extends it. So the JVM's compiler calls its methods directly, which it
 * does not for an interface.
 */
public abstract class WriterOwner {
    private final Filter filter;
    private final int levels;
    private final BootClock clock;
    private final int pid = (int) ProcessHandle.current().pid();
    private final SharedWriters shared = new SharedWriters(this);
    private final LargeTurn large = new LargeTurn();
    final Causes causes;
    /** The limit of the session's bytes; null for that of pinned messages. */
    private final ByteBucket bytes;

    /** {@code causes} are those of the session's triggers; null for none. */
    protected WriterOwner(Filter filter, Causes causes) {
        this.filter = filter;
        this.causes = causes;
        bytes = new ByteBucket();
        clock = BootClock.ofProcess();
        clock.follow();
        levels = filter.allLevels();
    }

    /** That of the messages that {@code session} pins. */
    protected WriterOwner(WriterOwner session) {
        filter = session.filter;
        causes = session.causes;
        bytes = null;
        clock = session.clock;
        levels = session.levels;
    }

    /** The messages that the session records. */
    public final Filter filter() {
        return filter;
    }

    /** The causes of the session's triggers; null for none. */
    public final Causes causes() {
        return causes;
    }

    /** The levels that the session records of any group. */
    final int levels() {
        return levels;
    }

    /** The limit of the bytes that writers write; null where no limit concerns these. */
    public final ByteBucket bytes() {
        return bytes;
    }

    public final BootClock clock() {
        return clock;
    }

    public final int pid() {
        return pid;
    }

    /** The writers of virtual threads. */
    final SharedWriters shared() {
        return shared;
    }

    /** The turn of messages that are larger than a chunk, if they wait. */
    protected final LargeTurn large() {
        return large;
    }

    public abstract SharedBuffer buffer();

    /** The owner of the messages that the session pins; null for none. */
    public abstract WriterOwner pinned();

    /** The owner of the session's other messages, of that of pinned ones; else itself. */
    public abstract WriterOwner usual();

    /** The levels that the session pins of the group with this full name. */
    public abstract int pinnedLevels(String group);

    public abstract SessionDictionary dictionary();

    public abstract int maxStringBytes();

    /** True if the messages stay in the buffer until a trace is asked for. */
    public abstract boolean keepsMessages();

    /** The longest that a message waits for room, in nanoseconds; 0 for not at all. */
    public abstract long waitNanos();

    public abstract boolean isStopped();

    /** True once the program ends: messages are counted only. */
    public abstract boolean isEnding();

    /**
     * True if messages that come now are none of the session's. While the program ends they are:
     * those of a stopped session are counted.
     */
    public abstract boolean isOver();

    /**
     * A writer for the current thread, or one to share; null where there are too many, or the
     * session is over.
     */
    public abstract TraceWriter newWriter(boolean isShared);

    /** Ends a writer that nobody uses. */
    public abstract void remove(TraceWriter writer);

    /**
     * Takes a chunk for a writer. Where there is none, those of threads that have ended are looked
     * for, or one is waited for.
     */
    public abstract int acquire(TraceWriter writer, int previous, int layout, int payload);

    /** Counts the messages of a chunk that is completed. */
    public abstract void countMessages(Sequence sequence);

    /** Counts a lost message of a sequence; null where it has none. */
    public abstract void lose(Sequence sequence, int group, LossCause cause);

    /**
     * Counts a message that a rule holds back now, as {@link #lose} does: one that a limit
     * suppresses, or over which sampling passes.
     */
    final void holdBack(Sequence sequence, int group, LossCause cause) {
        holdBack(sequence, group, cause, cause == LossCause.LIMITED ? clock.now() : 0, 0);
    }

    /**
     * As above, at this time, 0 if nobody asks for it. It repeats one with the id {@code message},
     * unless that is 0.
     */
    public abstract void holdBack(Sequence sequence, int group, LossCause cause, long time, long message);

    /** Counts a message that no chunk has, of a writer; null where there is none. */
    final void countUnwritten(TraceWriter writer, int group) {
        if (writer != null && writer.bytes.isRefused()) {
            holdBack(writer.sequence, group, LossCause.LIMITED);
        } else {
            lose(writer == null ? null : writer.sequence, group, LossCause.BUFFER_FULL);
        }
    }

    /** Ends the session: its memory can't be used any more. */
    public abstract void fail(Throwable error);
}
