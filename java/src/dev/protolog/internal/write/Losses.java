package dev.protolog.internal.write;

import dev.protolog.LogLevel;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Counts of lost messages, by group and cause, and of those that sampling passes over. Messages are
 * lost where memory or stack is missing, so to count takes neither: there is room for some groups
 * from the start, and where there is no memory for more, a loss counts as one of an unknown group.
 *
 * <p>Invariants: a count that was taken is reported, or given back. Nothing is called while a count
 * is changed, so that no error leaves half of it. Repeats of a message that finds no slot of its
 * own are counted for its group.
 */
public final class Losses {
    /** The fields of packets with records of losses, and of messages that were passed over. */
    public static final int LOSS = 1001;
    public static final int PASSED_OVER = 1009;
    /** The field of a record with the id of the message that is repeated. */
    private static final int MESSAGE = 7;
    /** The most records in the packet that a chunk begins with. */
    public static final int MAX_RECORDS = 5;
    private static final int FIRST_SLOTS = 8;
    /** So many slots may be for one message each, whose repeats they count. */
    private static final int MESSAGE_SLOTS = 24;
    /**
     * The numbers of a slot: group and cause as one, the count, the times of the first and the
     * last, the message that is repeated.
     */
    private static final int SLOT = 5;

    /** Ascending by their first number, and then by their last. */
    private long[] slots = new long[SLOT * FIRST_SLOTS];
    private int used;
    /** Counts of unknown groups, by the place of the cause. */
    private final long[] ungrouped = new long[LossCause.ALL.length];
    private volatile boolean isEmpty = true;

    /**
     * A count. A group of 0 is not known, nor are times of 0; else they are those of the first and
     * the last, in nanoseconds of BOOTTIME. A {@code message} is the id of the one that they
     * repeat, 0 for none or several.
     */
    public record Count(int group, LossCause cause, long count, long first, long last, long message) {
        public Count(int group, LossCause cause, long count) {
            this(group, cause, count, 0, 0, 0);
        }

        public void write(ProtoWriter to) {
            Losses.write(to, key(group, cause), count, first, last, message);
        }

        /** A record that {@link #write} wrote, in this field. */
        public static Count read(int field, ProtoReader record) throws ProtoReader.MalformedException {
            int group = 0;
            long cause = field == PASSED_OVER ? 0 : LossCause.BUFFER_FULL.wire();
            long count = 0;
            long first = 0;
            long last = 0;
            long message = 0;
            while (record.next()) {
                switch (record.field()) {
                    case 1 -> group = (int) record.varint();
                    case 2 -> cause = record.varint();
                    case 3 -> count = record.varint();
                    case 4 -> first = record.varint();
                    case 5 -> last = record.varint();
                    case MESSAGE -> message = record.fixed64();
                    default -> record.skip();
                }
            }
            if (field == PASSED_OVER) {
                LogLevel level = LevelSet.ofWire(cause);
                return new Count(group, level == null ? LossCause.PASSED_OVER : LossCause.passedOver(level), count);
            }
            return new Count(group, LossCause.of((int) cause), count, first, last, message);
        }

        /** Adds it to those of its group and cause, whichever message they repeat. */
        public void addTo(Losses losses) {
            losses.add(key(group, cause), cause.place, count, first, last, 0);
        }
    }

    /**
     * Adds a count. Where there is no memory for another group, or no stack, its group is not known
     * later.
     */
    public void add(int group, LossCause cause, long count) {
        add(key(group, cause), cause.place, count, 0, 0, 0);
    }

    /**
     * As above, of one message at this time, which is 0 if nobody asks for it. It repeats one with
     * the id {@code message}, unless that is 0.
     */
    void addAt(int group, LossCause cause, long time, long message) {
        add(key(group, cause), cause.place, 1, time, time, message);
    }

    /** Takes the repeats of a message; null for none. */
    synchronized Count takeRepeats(int group, long message) {
        long key = key(group, LossCause.REPEATED);
        for (int at = 0; at < SLOT * used; at += SLOT) {
            if (slots[at] == key && slots[at + 4] == message) {
                Count taken = new Count(group, LossCause.REPEATED, slots[at + 1], slots[at + 2], slots[at + 3], message);
                removeSlot(at);
                return taken;
            }
        }
        return null;
    }

    /** Gives repeats back that were taken. */
    void giveBack(Count repeats) {
        add(key(repeats.group, repeats.cause), repeats.cause.place, repeats.count, repeats.first, repeats.last, repeats.message);
    }

    /** Forgets which messages were repeated: another thread is to go on here. */
    synchronized void forgetMessages() {
        for (int at = SLOT * (used - 1); at >= 0; at -= SLOT) {
            if (slots[at + 4] != 0) {
                long[] slot = Arrays.copyOfRange(slots, at, at + SLOT);
                removeSlot(at);
                add(slot[0], LossCause.REPEATED.place, slot[1], slot[2], slot[3], 0);
                // The group's own slot may be new, and have moved those before this.
                at = SLOT * used;
            }
        }
    }

    /** All repeats of messages that are known. */
    public synchronized List<Count> repeats() {
        return all().stream().filter(count -> count.message != 0).toList();
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
        for (int place = 0; place < ungrouped.length; place++) {
            if (ungrouped[place] > 0) {
                all.add(new Count(0, LossCause.ALL[place], ungrouped[place]));
            }
        }
        for (int i = 0; i < SLOT * used; i += SLOT) {
            all.add(count(slots, i));
        }
        return all;
    }

    /**
     * These counts without others, of which a part may have lost its group. None of them is of a
     * message that is known.
     */
    public List<Count> without(Losses others) {
        long[] left = new long[ungrouped.length];
        List<Count> all = all();
        List<Count> known = others.all();
        all.forEach(count -> left[count.cause.place] += count.count);
        known.forEach(count -> left[count.cause.place] -= count.count);
        List<Count> rest = new ArrayList<>();
        for (Count count : all) {
            long same = known.stream().filter(it -> it.group == count.group && it.cause == count.cause).mapToLong(Count::count).sum();
            long more = Math.min(left[count.cause.place], count.count - same);
            if (more > 0) {
                left[count.cause.place] -= more;
                // Of a part nobody knows the times.
                boolean isWhole = more == count.count;
                rest.add(new Count(count.group, count.cause, more, isWhole ? count.first : 0, isWhole ? count.last : 0, 0));
            }
        }
        return rest;
    }

    /** True if there are none now; a moment behind. */
    public boolean isEmpty() {
        return isEmpty;
    }

    /** Takes counts, as many as {@code into} has room for. */
    public void take(Pending into) {
        if (!isEmpty) {
            takeSome(into, true);
        }
    }

    /** As above, without repeats of a message that is known. */
    public void takeButRepeats(Pending into) {
        if (!isEmpty) {
            takeSome(into, false);
        }
    }

    /** Room for all counts that there are. */
    public synchronized Pending newPending() {
        return new Pending(used + ungrouped.length);
    }

    private static long key(int group, LossCause cause) {
        return (group & 0xffff_ffffL) << 8 | cause.wire;
    }

    private static Count count(long[] slots, int at) {
        return new Count((int) (slots[at] >>> 8), LossCause.of((int) slots[at] & 0xff), slots[at + 1], slots[at + 2], slots[at + 3], slots[at + 4]);
    }

    private static void write(ProtoWriter to, long key, long count, long first, long last, long message) {
        long group = key >>> 8;
        LossCause cause = LossCause.of((int) key & 0xff);
        boolean isPassedOver = cause.isPassedOver();
        // The number of the cause, or of the level; 0 where that is not known, which is left out.
        int number = !isPassedOver ? cause.wire : cause.level() == null ? 0 : LevelSet.wire(cause.level());
        int length = (group == 0 ? 0 : 1 + ProtoWriter.sizeOf(group)) + (number == 0 ? 0 : 1 + ProtoWriter.sizeOf(number)) + 1
                + ProtoWriter.sizeOf(count);
        boolean hasTimes = last != 0;
        length += message == 0 ? 0 : 1 + Long.BYTES;
        to.length(isPassedOver ? PASSED_OVER : LOSS, length + (hasTimes ? 2 + ProtoWriter.sizeOf(first) + ProtoWriter.sizeOf(last) : 0));
        if (group != 0) {
            to.varint(1, group);
        }
        if (number != 0) {
            to.varint(2, number);
        }
        to.varint(3, count);
        if (hasTimes) {
            to.varint(4, first).varint(5, last);
        }
        if (message != 0) {
            to.fixed64(MESSAGE, message);
        }
    }

    private synchronized void add(long key, int place, long count, long first, long last, long repeated) {
        isEmpty = false;
        int end = SLOT * used;
        long message = repeated == 0 ? 0 : withSlot(key, repeated);
        int at = 0;
        while (at < end && (slots[at] < key || slots[at] == key && slots[at + 4] < message)) {
            at += SLOT;
        }
        if (at < end && slots[at] == key && slots[at + 4] == message) {
            slots[at + 1] += count;
            if (first != 0) {
                slots[at + 2] = slots[at + 2] == 0 || first < slots[at + 2] ? first : slots[at + 2];
                slots[at + 3] = last > slots[at + 3] ? last : slots[at + 3];
            }
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
            ungrouped[place] += count;
            return;
        }
        for (int i = end - 1; i >= at; i--) {
            slots[i + SLOT] = slots[i];
        }
        slots[at] = key;
        slots[at + 1] = count;
        slots[at + 2] = first;
        slots[at + 3] = last;
        slots[at + 4] = message;
        used++;
    }

    /** The message, if it has a slot or may have one; else 0. */
    private long withSlot(long key, long message) {
        int messages = 0;
        for (int at = 0; at < SLOT * used; at += SLOT) {
            if (slots[at] == key && slots[at + 4] == message) {
                return message;
            }
            messages += slots[at + 4] == 0 ? 0 : 1;
        }
        return messages < MESSAGE_SLOTS ? message : 0;
    }

    private void removeSlot(int at) {
        for (int i = at + SLOT; i < SLOT * used; i++) {
            slots[i - SLOT] = slots[i];
        }
        used--;
        noteEmpty();
    }

    private void noteEmpty() {
        boolean isNone = used == 0;
        for (long count : ungrouped) {
            isNone &= count == 0;
        }
        isEmpty = isNone;
    }

    private synchronized void takeSome(Pending into, boolean withRepeats) {
        long[] to = into.slots;
        int at = into.end;
        for (int place = 0; place < ungrouped.length && at < to.length; place++) {
            if (ungrouped[place] > 0) {
                to[at] = LossCause.ALL[place].wire;
                to[at + 1] = ungrouped[place];
                to[at + 2] = 0;
                to[at + 3] = 0;
                to[at + 4] = 0;
                ungrouped[place] = 0;
                at += SLOT;
            }
        }
        int left = 0;
        for (int from = 0; from < SLOT * used; from += SLOT) {
            boolean isTaken = at < to.length && (withRepeats || slots[from + 4] == 0);
            for (int i = 0; i < SLOT; i++) {
                if (isTaken) {
                    to[at++] = slots[from + i];
                } else {
                    slots[left++] = slots[from + i];
                }
            }
        }
        into.end = at;
        used = left / SLOT;
        noteEmpty();
    }

    /** Counts that were taken, to be reported. One thread at a time uses it. */
    public static final class Pending {
        private final long[] slots;
        /** Where the next key comes; 0 where all were reported. */
        int end;

        public Pending(int records) {
            slots = new long[SLOT * records];
        }

        /** Counts that somebody else has, too. */
        public static Pending of(List<Count> counts) {
            Pending pending = new Pending(counts.size());
            for (Count count : counts) {
                long[] slot = {key(count.group, count.cause), count.count, count.first, count.last, count.message};
                System.arraycopy(slot, 0, pending.slots, pending.end, SLOT);
                pending.end += SLOT;
            }
            return pending;
        }

        List<Count> all() {
            List<Count> all = new ArrayList<>();
            for (int i = 0; i < end; i += SLOT) {
                all.add(count(slots, i));
            }
            return all;
        }

        public boolean isEmpty() {
            return end == 0;
        }

        /** True if packets are missing before the one that reports these. */
        public boolean hasDropped() {
            for (int i = 0; i < end; i += SLOT) {
                long cause = slots[i] & 0xff;
                if (cause == LossCause.BUFFER_FULL.wire || cause == LossCause.OVERWRITTEN.wire) {
                    return true;
                }
            }
            return false;
        }

        public void write(ProtoWriter to) {
            for (int i = 0; i < end; i += SLOT) {
                Losses.write(to, slots[i], slots[i + 1], slots[i + 2], slots[i + 3], slots[i + 4]);
            }
        }

        /** As {@link Count#addTo}. */
        public void addTo(Losses losses) {
            for (int i = 0; i < end; i += SLOT) {
                losses.add(slots[i], LossCause.PLACES[(int) slots[i] & 0xff], slots[i + 1], slots[i + 2], slots[i + 3], 0);
            }
        }

        /** Gives the counts back. Counts that an error leaves can be given back later. */
        public void giveBack(Losses losses) {
            while (end > 0) {
                int at = end - SLOT;
                losses.add(slots[at], LossCause.PLACES[(int) slots[at] & 0xff], slots[at + 1], slots[at + 2], slots[at + 3], slots[at + 4]);
                end = at;
            }
        }
    }
}
