package dev.protolog.internal.write;

import static dev.protolog.internal.write.PageLayout.CHUNK_HEADER;
import static dev.protolog.internal.write.PageLayout.COMPLETE;
import static dev.protolog.internal.write.PageLayout.FREE;
import static dev.protolog.internal.write.PageLayout.PAGE;
import static dev.protolog.internal.write.PageLayout.READING;
import static dev.protolog.internal.write.PageLayout.WRITING;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The shared memory buffer of a session: pages of chunks, of which each belongs to one writer until
 * it is complete.
 *
 * <p>A message touches its chunk only and takes no lock. Chunks are taken, completed and freed
 * under the buffer's monitor, once in a hundred messages, so that pure Java needs no protocol
 * between threads; the words in memory are for other processes, and for the recovery of a
 * recording.
 *
 * <p>A thread keeps its chunk between messages, as long as threads keep no more than half of the
 * buffer. Beyond that, a thread that logs rarely completes its chunk with each message, and beyond
 * three quarters each thread does: idle threads leave room for others, however many they are. Rust
 * takes chunks from idle threads instead, for which it has the kernel's barrier that Java lacks.
 *
 * <p>Invariants: a chunk in state Writing has one writer. A ring overwrites the oldest page; its
 * chunks are marked as being read before their headers are cleared, and these before anything else
 * changes. A stream frees chunks only once they were drained. A writer takes each chunk on a page
 * that comes later in turn than that of its chunk before. Nothing is freed in a buffer that keeps
 * the first messages. All pages are looked at once, until something is completed or freed.
 */
public final class SharedBuffer {
    /** No chunk could be had. */
    public static final int NONE = -1;

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final VarHandle SHORT = MethodHandles.byteBufferViewVarHandle(short[].class, ORDER);
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ORDER);

    /**
     * The part of a ring after whose turns free chunks of a page are left alone: they would be
     * overwritten too early.
     */
    private static final int OPEN_PART = 4;

    /** The pages that are looked at while threads that need a chunk wait: 4 MiB. */
    private static final int LOOK = 1024;

    private final ByteBuffer memory;
    private final int pages;
    private final boolean isRing;
    /** True if the buffer stays full once it was found to be so. */
    private final boolean keepsFirst;
    /** The turn in which a page was last taken; turns count up. */
    private final long[] turns;
    /** The page last divided by each layout; -1 for none. */
    private final int[] open = {-1, -1, -1, -1, -1, -1};
    private long turn;
    private boolean isClosed;
    private long written;
    private long bytesWritten;
    private long overwritten;
    private long read;
    private long bytesRead;
    /** Pages that are divided; those of a ring stay so. */
    private int divided;
    private int highWater;
    /** The bytes of chunks that writers have. */
    private int held;
    /** The quarters of the buffer that these are; read by each message, and a moment behind. */
    private volatile int heldQuarters;
    /** No chunk with room for so many bytes is free, unless some were completed or freed since. */
    private volatile int noneFrom = Integer.MAX_VALUE;

    /** {@code memory} is zero, begins at a multiple of eight and is whole pages. */
    public SharedBuffer(ByteBuffer memory, FillPolicy policy) {
        this.memory = memory.order(ORDER);
        isRing = policy == FillPolicy.RING_BUFFER;
        keepsFirst = policy == FillPolicy.DISCARD;
        pages = memory.capacity() / PAGE;
        turns = new long[pages];
        turn = pages;
    }

    /**
     * A chunk that was taken and that its writer has not opened yet, or that was read and is not
     * free yet, after any error in between; {@link #NONE} for none.
     */
    public static final class Claim {
        public int chunk = NONE;
    }

    public ByteBuffer memory() {
        return memory;
    }

    public int size() {
        return pages * PAGE;
    }

    /**
     * Takes a chunk for a writer that has had {@code previous} ({@link #NONE} for none).
     * {@code layout} is how its page should be divided; where nearly every page is in use, any
     * chunk with {@code payload} bytes will do. It is noted in {@code claim}.
     */
    public synchronized int acquire(Claim claim, int previous, int layout, int payload) {
        if (isClosed || isFull(layout, payload)) {
            return NONE;
        }
        long after = previous == NONE ? 0 : turns[page(previous)];
        int candidate = open[layout];
        if (candidate >= 0 && turns[candidate] >= after && (!isRing || turn - turns[candidate] <= pages / OPEN_PART)) {
            int chunk = take(candidate, layout, claim);
            if (chunk != NONE) {
                return chunk;
            }
        }
        for (int visited = 0; visited < pages; visited++) {
            int page = (int) (turn % pages);
            turns[page] = ++turn;
            boolean isUndivided = (int) INT.getAcquire(memory, page * PAGE) == 0;
            if (clear(page, layout)) {
                store(page * PAGE, PageLayout.divided(layout));
                // Nothing is called in between: the count is right after any error.
                divided += isUndivided ? 1 : 0;
                if (divided > highWater) {
                    highWater = divided;
                }
                open[layout] = page;
                return take(page, layout, claim);
            }
            int chunk = isRing ? take(page, layout, claim) : NONE;
            if (chunk != NONE) {
                open[layout] = page;
                return chunk;
            }
        }
        int chunk = takeAny(payload, claim);
        isClosed |= chunk == NONE && keepsFirst;
        if (chunk == NONE) {
            noneFrom = payload;
        }
        return chunk;
    }

    /** True if {@link #acquire} is known to find no chunk. Takes no lock. */
    public boolean isFull(int layout, int payload) {
        int from = noneFrom;
        return payload >= from && PageLayout.chunkSize(layout) - CHUNK_HEADER >= from;
    }

    /**
     * As {@link #acquire}, after a wait for one to be freed where there is none, but not beyond
     * {@code deadline}, a value of {@link System#nanoTime}; {@code reader} is woken, which frees
     * some. An interrupt does not end the wait, and is there afterwards.
     */
    public synchronized int await(Claim claim, int previous, int layout, int payload, long deadline, Thread reader) {
        boolean isInterrupted = false;
        int chunk = acquire(claim, previous, layout, payload);
        long left = deadline - System.nanoTime();
        while (chunk == NONE && !isClosed && left > 0) {
            LockSupport.unpark(reader);
            try {
                wait(left / 1_000_000, (int) (left % 1_000_000));
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
            chunk = acquire(claim, previous, layout, payload);
            left = deadline - System.nanoTime();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        return chunk;
    }

    /**
     * True if a thread should not keep a chunk; {@code isRare}: it had logged nothing for a while.
     */
    public boolean isCrowded(boolean isRare) {
        int quarters = heldQuarters;
        return quarters >= 3 || quarters == 2 && isRare;
    }

    /** Writes the header of a chunk that was just taken; its count stays 0. */
    void begin(int chunk, int writer, int id) {
        memory.putInt(at(chunk), id);
        memory.putShort(at(chunk) + PageLayout.WRITER_ID_AT, (short) writer);
    }

    /** Shows {@code packets}, count and flags, to readers, and all that was written before. */
    void publish(int countAt, int packets) {
        VarHandle.releaseFence();
        SHORT.set(memory, countAt, (short) packets);
    }

    /**
     * Throws an {@link InternalError} if the memory does not have the count just published: its
     * file was truncated. The JVM throws one itself, but later, wherever the thread is by then,
     * unless the thread goes through the kernel before.
     */
    void check(int countAt, int packets) {
        if ((short) SHORT.getAcquire(memory, countAt) != (short) packets) {
            TruncatedFile.fail();
        }
    }

    /** Gives a chunk to the reader. */
    synchronized void complete(int chunk) {
        int size = end(chunk) - at(chunk);
        int left = held - size;
        int quarters = quarters(left);
        // A ring overwrites it, and the reader of a stream is to be woken for it.
        noneFrom = Integer.MAX_VALUE;
        set(chunk, COMPLETE);
        // Nothing is called from here on: an error says that the chunk is not complete.
        written++;
        bytesWritten += size;
        held = left;
        if (quarters != heldQuarters) {
            heldQuarters = quarters;
        }
    }

    /** Takes back a chunk that its writer has not opened. */
    public synchronized void giveBack(Claim claim) {
        int chunk = claim.chunk;
        int left = held - (end(chunk) - at(chunk));
        int quarters = quarters(left);
        noneFrom = Integer.MAX_VALUE;
        clearHeader(at(chunk));
        set(chunk, FREE);
        // Nothing is called before it is forgotten.
        claim.chunk = NONE;
        held = left;
        if (quarters != heldQuarters) {
            heldQuarters = quarters;
        }
        if (!isRing) {
            joinFree(page(chunk));
        }
        notifyAll();
    }

    /** Frees a chunk that was read; {@code claim} forgets it. Of a stream only. */
    public synchronized void free(Claim claim) {
        int chunk = claim.chunk;
        int size = end(chunk) - at(chunk);
        noneFrom = Integer.MAX_VALUE;
        set(chunk, READING);
        clearHeader(at(chunk));
        set(chunk, FREE);
        // Nothing is called before it is forgotten: after any error, no chunk is freed twice,
        // and none is read twice.
        claim.chunk = NONE;
        read++;
        bytesRead += size;
        joinFree(page(chunk));
        notifyAll();
    }

    /** Makes a page one that can be divided anew, if all its chunks are free. */
    private void joinFree(int page) {
        int word = (int) INT.getAcquire(memory, page * PAGE);
        if (word == PageLayout.divided(PageLayout.layout(word))) {
            store(page * PAGE, 0);
            // Nothing is called in between: the count is right after any error.
            divided--;
        }
    }

    /** True if a stream should be drained soon. */
    public synchronized boolean isScarce() {
        return divided >= pages / 2;
    }

    /**
     * Finds the complete chunks, and with {@code unfinishedToo} those that have packets. Of each
     * writer there are all up to the newest one that is among them, but those that a ring has
     * overwritten. Writers that need a chunk wait while a part of the buffer is looked at.
     */
    public List<CommittedChunk> findAll(boolean unfinishedToo) {
        if (pages <= LOOK) {
            return find(0, pages, unfinishedToo);
        }
        // A writer may take a chunk behind the place that is looked at, and the next one before it.
        // So the first way says how far each one had come.
        Map<Integer, Integer> newest = new HashMap<>();
        for (int from = 0; from < pages; from += LOOK) {
            for (CommittedChunk chunk : find(from, Math.min(pages, from + LOOK), unfinishedToo)) {
                newest.merge(chunk.writer(), chunk.id(), (one, other) -> one - other > 0 ? one : other);
            }
        }
        List<CommittedChunk> found = new ArrayList<>();
        for (int from = 0; from < pages; from += LOOK) {
            for (CommittedChunk chunk : find(from, Math.min(pages, from + LOOK), unfinishedToo)) {
                Integer last = newest.get(chunk.writer());
                if (last != null && chunk.id() - last <= 0) {
                    found.add(chunk);
                }
            }
        }
        return found;
    }

    /** Those on pages from {@code from} to {@code end}. */
    private synchronized List<CommittedChunk> find(int from, int end, boolean unfinishedToo) {
        List<CommittedChunk> found = new ArrayList<>();
        for (int page = from; page < end; page++) {
            int word = (int) INT.getAcquire(memory, page * PAGE);
            int layout = PageLayout.layout(word);
            for (int index = 0; index < PageLayout.chunks(layout); index++) {
                int state = PageLayout.state(word, index);
                int chunk = chunk(page, layout, index);
                if (state == COMPLETE || state == WRITING && unfinishedToo) {
                    CommittedChunk committed = look(chunk, state == COMPLETE);
                    if (committed != null) {
                        found.add(committed);
                    }
                }
            }
        }
        return found;
    }

    /**
     * A copy of the bytes of a chunk that was found before; null if a ring has overwritten it
     * since.
     */
    public synchronized byte[] copyIfThere(CommittedChunk chunk) {
        int page = page(chunk.chunk());
        int word = (int) INT.getAcquire(memory, page * PAGE);
        boolean isDivided = PageLayout.layout(word) == (chunk.chunk() >>> 4 & 7);
        CommittedChunk now = isDivided ? look(chunk.chunk(), true) : null;
        return now != null && now.writer() == chunk.writer() && now.id() == chunk.id() ? copy(chunk) : null;
    }

    /**
     * A copy of the bytes of a chunk. Committed ones of a stream stay as they are until the chunk
     * is freed.
     */
    public byte[] copy(CommittedChunk chunk) {
        byte[] bytes = new byte[chunk.size()];
        memory.get(at(chunk.chunk()) + CHUNK_HEADER, bytes);
        return bytes;
    }

    /** The number of chunks that were freed so far. */
    public synchronized long freed() {
        return read;
    }

    /** Gives out no chunk any more. */
    public synchronized void close() {
        isClosed = true;
        notifyAll();
    }

    public synchronized BufferStats stats() {
        return new BufferStats(size(), written, bytesWritten, overwritten, read, bytesRead, (long) highWater * PAGE);
    }

    /** Where a chunk begins. */
    static int at(int chunk) {
        return PageLayout.chunkAt(page(chunk), chunk >>> 4 & 7, chunk & 15);
    }

    /** Where it ends. */
    static int end(int chunk) {
        return at(chunk) + PageLayout.chunkSize(chunk >>> 4 & 7);
    }

    private CommittedChunk look(int chunk, boolean isComplete) {
        int at = at(chunk);
        int packets = (short) SHORT.getAcquire(memory, at + PageLayout.PACKETS_AT) & 0xffff;
        if ((packets & PageLayout.MAX_PACKETS) == 0) {
            return null;
        }
        int writer = memory.getShort(at + PageLayout.WRITER_ID_AT) & 0xffff;
        return new CommittedChunk(chunk, writer, memory.getInt(at), packets, isComplete);
    }

    /**
     * Overwrites the complete chunks of a page in its turn. True if the page is to be divided:
     * nobody writes there.
     */
    private boolean clear(int page, int wanted) {
        int word = (int) INT.getAcquire(memory, page * PAGE);
        int layout = PageLayout.layout(word);
        if (!isRing || word == 0) {
            // Bytes of earlier chunks are not to be taken for headers.
            for (int index = 0; word == 0 && index < PageLayout.chunks(wanted); index++) {
                clearHeader(PageLayout.chunkAt(page, wanted, index));
            }
            return word == 0;
        }
        boolean isIdle = PageLayout.find(word, WRITING) < 0;
        int claimed = word;
        int lost = 0;
        for (int index = 0; index < PageLayout.chunks(layout); index++) {
            boolean isComplete = PageLayout.state(word, index) == COMPLETE;
            lost += isComplete ? 1 : 0;
            if (isIdle || isComplete) {
                claimed = PageLayout.with(claimed, index, READING);
            }
        }
        store(page * PAGE, claimed);
        overwritten += lost;
        VarHandle.fullFence();
        int free = claimed;
        for (int index = 0; index < PageLayout.chunks(layout); index++) {
            if (PageLayout.state(claimed, index) == READING) {
                clearHeader(PageLayout.chunkAt(page, layout, index));
                free = PageLayout.with(free, index, FREE);
            }
        }
        for (int index = 0; isIdle && index < PageLayout.chunks(wanted); index++) {
            clearHeader(PageLayout.chunkAt(page, wanted, index));
        }
        VarHandle.fullFence();
        if (!isIdle) {
            store(page * PAGE, free);
        }
        return isIdle;
    }

    private void clearHeader(int at) {
        store(at, 0);
        store(at + 4, 0);
    }

    /** Takes a free chunk of a page that is divided by {@code layout}. */
    private int take(int page, int layout, Claim claim) {
        int word = (int) INT.getAcquire(memory, page * PAGE);
        int index = PageLayout.layout(word) == layout ? PageLayout.find(word, FREE) : -1;
        if (index < 0) {
            return NONE;
        }
        int chunk = chunk(page, layout, index);
        int more = held + PageLayout.chunkSize(layout);
        int quarters = quarters(more);
        store(page * PAGE, PageLayout.with(word, index, WRITING));
        // Nothing is called from here on: after any error on the way to the writer, the chunk
        // is not forgotten.
        claim.chunk = chunk;
        held = more;
        if (quarters != heldQuarters) {
            heldQuarters = quarters;
        }
        return chunk;
    }

    private int quarters(int bytes) {
        return (int) (4L * bytes / size());
    }

    private int takeAny(int payload, Claim claim) {
        for (int page = 0; page < pages; page++) {
            int layout = PageLayout.layout((int) INT.getAcquire(memory, page * PAGE));
            if (layout != 0 && PageLayout.chunkSize(layout) - CHUNK_HEADER >= payload) {
                int chunk = take(page, layout, claim);
                if (chunk != NONE) {
                    return chunk;
                }
            }
        }
        return NONE;
    }

    private void set(int chunk, int state) {
        int at = page(chunk) * PAGE;
        store(at, PageLayout.with((int) INT.getAcquire(memory, at), chunk & 15, state));
    }

    /**
     * Stores a word after all that was stored before. By a fence and a plain store, since the JVM
     * does not survive any other one in memory of a truncated file, where it interprets it.
     */
    private void store(int at, int word) {
        VarHandle.releaseFence();
        INT.set(memory, at, word);
    }

    private static int chunk(int page, int layout, int index) {
        return page << 8 | layout << 4 | index;
    }

    private static int page(int chunk) {
        return chunk >>> 8;
    }
}
