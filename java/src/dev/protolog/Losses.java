package dev.protolog;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts of lost messages, by group and cause. Invariant: a count that was taken is reported, or given back. */
final class Losses {
    /** The most records in one packet. */
    private static final int MAX_RECORDS = 5;
    private static final LossCause[] CAUSES = LossCause.values();

    /** By group and cause, as one number. */
    private final Map<Long, Long> counts = new TreeMap<>();
    /** Counts for which there was no memory, by cause. */
    private final long[] ungrouped = new long[CAUSES.length];
    private volatile boolean isEmpty = true;
    private final Pending none = new Pending(List.of());

    /** A count. A group of 0 is not known. */
    record Count(int group, LossCause cause, long count) {
        void write(ProtoWriter to) {
            ProtoWriter record = new ProtoWriter();
            if (group != 0) {
                record.varint(1, Integer.toUnsignedLong(group));
            }
            to.message(1001, record.varint(2, cause.wire()).varint(3, count));
        }

        /** A record that {@link #write} wrote. */
        static Count read(ProtoReader record) throws ProtoReader.MalformedException {
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

        void addTo(Losses losses) {
            losses.add(group, cause, count);
        }
    }

    /** Adds a count. Where there is no memory for it, or no stack, its group is not known later. */
    synchronized void add(int group, LossCause cause, long count) {
        isEmpty = false;
        try {
            counts.merge(Integer.toUnsignedLong(group) << 8 | cause.wire(), count, Long::sum);
        } catch (OutOfMemoryError | StackOverflowError e) {
            ungrouped[cause.ordinal()] += count;
        }
    }

    synchronized Losses copy() {
        Losses copy = new Losses();
        all().forEach(count -> count.addTo(copy));
        return copy;
    }

    synchronized List<Count> all() {
        for (LossCause cause : CAUSES) {
            long count = ungrouped[cause.ordinal()];
            if (count > 0) {
                counts.merge((long) cause.wire(), count, Long::sum);
                ungrouped[cause.ordinal()] = 0;
            }
        }
        List<Count> all = new ArrayList<>();
        counts.forEach((key, count) -> all.add(new Count((int) (key >>> 8), LossCause.of((int) (key & 0xff)), count)));
        return all;
    }

    /** Takes the counts that one packet can report. */
    Pending take() {
        return isEmpty ? none : takeSome();
    }

    private synchronized Pending takeSome() {
        List<Count> all = all();
        List<Count> taken = all.subList(0, Math.min(MAX_RECORDS, all.size()));
        Pending pending = new Pending(taken);
        int removed = 0;
        try {
            for (; removed < taken.size(); removed++) {
                Count count = taken.get(removed);
                counts.remove(Integer.toUnsignedLong(count.group) << 8 | count.cause.wire());
            }
        } catch (OutOfMemoryError | StackOverflowError e) {
            // Nobody is told of those that were removed.
            for (int i = 0; i < removed; i++) {
                ungrouped[taken.get(i).cause.ordinal()] += taken.get(i).count;
            }
            throw e;
        }
        isEmpty = counts.isEmpty();
        return pending;
    }

    /** Counts that were taken, to be reported. */
    final class Pending {
        final List<Count> taken;

        private Pending(List<Count> taken) {
            this.taken = taken;
        }

        /** True if packets are missing before the one that reports these. */
        boolean hasDropped() {
            for (int i = 0; i < taken.size(); i++) {
                LossCause cause = taken.get(i).cause;
                if (cause == LossCause.BUFFER_FULL || cause == LossCause.OVERWRITTEN) {
                    return true;
                }
            }
            return false;
        }

        void write(ProtoWriter to) {
            for (int i = 0; i < taken.size(); i++) {
                taken.get(i).write(to);
            }
        }

        void addTo(Losses losses) {
            taken.forEach(count -> count.addTo(losses));
        }

        void giveBack() {
            addTo(Losses.this);
        }
    }
}
