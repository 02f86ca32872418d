package dev.protolog.internal.write;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Counts of lost messages, by group and cause. Messages are lost where memory or stack is missing,
 * so to count takes neither: there is room for some groups from the start, and where there is no
 * memory for more, a loss counts as one of an unknown group.
 *
 * <p>Invariants: a count that was taken is reported, or given back. Nothing is called while a count
 * is changed, so that no error leaves half of it.
 */
public final class Losses {
    /** The most records in the packet that a chunk begins with. */
    public static final int MAX_RECORDS = 5;
    private static final int FIRST_SLOTS = 8;

    /** Group and cause as one number, ascending, each before its count. */
    private long[] slots = new long[2 * FIRST_SLOTS];
    private int used;
    /** Counts of unknown groups, by cause. */
    private final long[] ungrouped = new long[LossCause.MAX_WIRE + 1];
    private volatile boolean isEmpty = true;

    /** A count. A group of 0 is not known. */
    public record Count(int group, LossCause cause, long count) {
        public void write(ProtoWriter to) {
            Losses.write(to, key(group, cause), count);
        }

        /** A record that {@link #write} wrote. */
        public static Count read(ProtoReader record) throws ProtoReader.MalformedException {
            int group = 0;
            int cause = LossCause.BUFFER_FULL.wire();
            long count = 0;
            while (record.next()) {
                switch (record.field()) {
                    case 1 -> group = (int) record.varint();
                    case 2 -> cause = (int) record.varint();
                    case 3 -> count = record.varint();
                    default -> record.skip();
                }
            }
            return new Count(group, LossCause.of(cause), count);
        }

        public void addTo(Losses losses) {
            losses.add(group, cause, count);
        }
    }

    /**
     * Adds a count. Where there is no memory for another group, or no stack, its group is not known
     * later.
     */
    public void add(int group, LossCause cause, long count) {
        add(key(group, cause), cause.wire, count);
    }

    public synchronized Losses copy() {
        Losses copy = new Losses();
        copy.slots = slots.clone();
        copy.used = used;
        System.arraycopy(ungrouped, 0, copy.ungrouped, 0, ungrouped.length);
        copy.isEmpty = isEmpty;
        return copy;
    }

    /** All counts, those of unknown groups first. */
    public synchronized List<Count> all() {
        List<Count> all = new ArrayList<>();
        for (int wire = 0; wire < ungrouped.length; wire++) {
            if (ungrouped[wire] > 0) {
                all.add(new Count(0, LossCause.of(wire), ungrouped[wire]));
            }
        }
        for (int i = 0; i < 2 * used; i += 2) {
            all.add(new Count((int) (slots[i] >>> 8), LossCause.of((int) slots[i] & 0xff), slots[i + 1]));
        }
        return all;
    }

    /** These counts without others, of which a part may have lost its group. */
    public List<Count> without(Losses others) {
        long[] left = new long[ungrouped.length];
        List<Count> all = all();
        List<Count> known = others.all();
        all.forEach(count -> left[count.cause.wire] += count.count);
        known.forEach(count -> left[count.cause.wire] -= count.count);
        List<Count> rest = new ArrayList<>();
        for (Count count : all) {
            long same = known.stream().filter(it -> it.group == count.group && it.cause == count.cause).mapToLong(Count::count).sum();
            long more = Math.min(left[count.cause.wire], count.count - same);
            if (more > 0) {
                left[count.cause.wire] -= more;
                rest.add(new Count(count.group, count.cause, more));
            }
        }
        return rest;
    }

    /** Takes counts, as many as {@code into} has room for. */
    public void take(Pending into) {
        if (!isEmpty) {
            takeSome(into);
        }
    }

    /** Room for all counts that there are. */
    public synchronized Pending newPending() {
        return new Pending(used + ungrouped.length);
    }

    private static long key(int group, LossCause cause) {
        return (group & 0xffff_ffffL) << 8 | cause.wire;
    }

    private static void write(ProtoWriter to, long key, long count) {
        long group = key >>> 8;
        long cause = key & 0xff;
        int length = (group == 0 ? 0 : 1 + ProtoWriter.sizeOf(group)) + 1 + ProtoWriter.sizeOf(cause) + 1 + ProtoWriter.sizeOf(count);
        to.length(1001, length);
        if (group != 0) {
            to.varint(1, group);
        }
        to.varint(2, cause).varint(3, count);
    }

    private synchronized void add(long key, int cause, long count) {
        isEmpty = false;
        int end = 2 * used;
        int at = 0;
        while (at < end && slots[at] < key) {
            at += 2;
        }
        if (at < end && slots[at] == key) {
            slots[at + 1] += count;
            return;
        }
        if (key >>> 8 != 0 && end == slots.length) {
            try {
                slots = Arrays.copyOf(slots, 2 * slots.length);
            } catch (OutOfMemoryError | StackOverflowError e) {
                // There is room among those of unknown groups.
            }
        }
        if (key >>> 8 == 0 || end == slots.length) {
            ungrouped[cause] += count;
            return;
        }
        for (int i = end - 1; i >= at; i--) {
            slots[i + 2] = slots[i];
        }
        slots[at] = key;
        slots[at + 1] = count;
        used++;
    }

    private synchronized void takeSome(Pending into) {
        long[] to = into.slots;
        int at = into.end;
        for (int cause = 0; cause < ungrouped.length && at < to.length; cause++) {
            if (ungrouped[cause] > 0) {
                to[at] = cause;
                to[at + 1] = ungrouped[cause];
                ungrouped[cause] = 0;
                at += 2;
            }
        }
        int from = 0;
        while (from < 2 * used && at < to.length) {
            to[at++] = slots[from++];
        }
        for (int i = from; i < 2 * used; i++) {
            slots[i - from] = slots[i];
        }
        into.end = at;
        used -= from / 2;
        boolean isNone = used == 0;
        for (long count : ungrouped) {
            isNone &= count == 0;
        }
        isEmpty = isNone;
    }

    /** Counts that were taken, to be reported. One thread at a time uses it. */
    public static final class Pending {
        private final long[] slots;
        /** Where the next key comes; 0 where all were reported. */
        int end;

        public Pending(int records) {
            slots = new long[2 * records];
        }

        /** True if packets are missing before the one that reports these. */
        public boolean hasDropped() {
            for (int i = 0; i < end; i += 2) {
                long cause = slots[i] & 0xff;
                if (cause == LossCause.BUFFER_FULL.wire || cause == LossCause.OVERWRITTEN.wire) {
                    return true;
                }
            }
            return false;
        }

        public void write(ProtoWriter to) {
            for (int i = 0; i < end; i += 2) {
                Losses.write(to, slots[i], slots[i + 1]);
            }
        }

        public void addTo(Losses losses) {
            for (int i = 0; i < end; i += 2) {
                losses.add(slots[i], (int) slots[i] & 0xff, slots[i + 1]);
            }
        }

        /** Gives the counts back. Counts that an error leaves can be given back later. */
        public void giveBack(Losses losses) {
            while (end > 0) {
                losses.add(slots[end - 2], (int) slots[end - 2] & 0xff, slots[end - 1]);
                end -= 2;
            }
        }
    }
}
