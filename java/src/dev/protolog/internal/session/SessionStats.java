package dev.protolog.internal.session;

import dev.protolog.PassedOver;
import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The messages of a session, in all and by group. {@code lost} has no truncated messages, which are
 * there, nor those over which sampling has passed, or that repeat others; {@code bytes} is the size
 * of the trace so far.
 */
public record SessionStats(long messages, long lost, long bytes, List<OfGroup> groups) {
    /**
     * The statistics of a group; its name is empty if it is not known. {@code bytes} is the size of
     * its messages; {@code losses} has those that are not lost, too.
     */
    public record OfGroup(String group, long messages, long lost, long bytes, Map<LossCause, Long> losses) {}

    /** The messages over which sampling has passed, by group and level. */
    List<PassedOver> passedOver() {
        List<PassedOver> all = new ArrayList<>();
        for (OfGroup of : groups) {
            of.losses.forEach((cause, count) -> {
                if (cause.isPassedOver()) {
                    all.add(new PassedOver(of.group, cause.level(), count));
                }
            });
        }
        return List.copyOf(all);
    }

    /** The messages that say the same as the one before. */
    long repeated() {
        return groups.stream().mapToLong(of -> of.losses.getOrDefault(LossCause.REPEATED, 0L)).sum();
    }

    /** Messages and their bytes, by group. One thread at a time uses it. */
    static class Written {
        /**
         * Those of messages that came before are found by a part of the id: to look up each one
         * would take longer than to write it.
         */
        private static final int SLOTS = 256;

        private final SessionDictionary dictionary;
        private Map<String, long[]> groups = new TreeMap<>();
        /** Those of the files before; never changed. */
        private Map<String, long[]> before = Map.of();
        private final long[] ids = new long[SLOTS];
        private final long[][] groupsOfIds = new long[SLOTS][];

        Written(SessionDictionary dictionary) {
            this.dictionary = dictionary;
        }

        /** Says that a message will be added, for who has to know before it is passed on. */
        void announce(long message) {}

        void add(long message, long bytes) {
            long[] of = of(message);
            of[0]++;
            of[1] += bytes;
        }

        /** The counts of a message's group, messages and bytes, for who adds to them. */
        long[] of(long message) {
            int slot = (int) message & SLOTS - 1;
            long[] of = groupsOfIds[slot];
            return of == null || ids[slot] != message ? find(message, slot) : of;
        }

        /** The counts at one time. */
        record State(Map<String, long[]> groups, Map<String, long[]> before) {}

        State save() {
            return new State(copy(groups), before);
        }

        /** Goes back to a state, which is used up. */
        void restore(State state) {
            before = state.before;
            set(state.groups);
        }

        /** Counts on for another file. */
        void beginFile() {
            before = copy(groups);
        }

        /** Counts of the present file only the messages left in it. */
        void keepOnly(Map<String, long[]> left) {
            Map<String, long[]> kept = copy(before);
            left.forEach((name, of) -> kept.merge(name, of.clone(), (one, other) -> new long[] {one[0] + other[0], one[1] + other[1]}));
            set(kept);
        }

        Map<String, long[]> groups() {
            return groups;
        }

        private void set(Map<String, long[]> counts) {
            groups = counts;
            Arrays.fill(groupsOfIds, null);
        }

        private static Map<String, long[]> copy(Map<String, long[]> counts) {
            Map<String, long[]> copy = new TreeMap<>();
            counts.forEach((name, of) -> copy.put(name, of.clone()));
            return copy;
        }

        /** The counts of a message that its slot lacks. Asked of each one once, or more often. */
        long[] find(long message, int slot) {
            String group = dictionary.groupOfMessage(message);
            long[] of = groups.computeIfAbsent(group, name -> new long[2]);
            // Another one may become known.
            if (!group.isEmpty()) {
                ids[slot] = message;
                groupsOfIds[slot] = of;
            }
            return of;
        }

        /** The statistics of a session that has these messages and lacks others. */
        SessionStats stats(List<Losses.Count> losses, long overwritten, long bytes) {
            Map<String, Map<LossCause, Long>> lost = new TreeMap<>();
            List<Losses.Count> all = new ArrayList<>(losses);
            if (overwritten > 0) {
                all.add(new Losses.Count(0, LossCause.OVERWRITTEN, overwritten));
            }
            for (Losses.Count loss : all) {
                String group = dictionary.groupName(loss.group());
                lost.computeIfAbsent(group, name -> new EnumMap<>(LossCause.class)).merge(loss.cause(), loss.count(), Long::sum);
                groups.computeIfAbsent(group, name -> new long[2]);
            }
            List<OfGroup> described = new ArrayList<>();
            groups.forEach((name, of) -> {
                Map<LossCause, Long> causes = lost.getOrDefault(name, Map.of());
                described.add(new OfGroup(name, of[0], sum(causes), of[1], causes));
            });
            long messages = described.stream().mapToLong(OfGroup::messages).sum();
            return new SessionStats(messages, described.stream().mapToLong(OfGroup::lost).sum(), bytes, described);
        }

        private static long sum(Map<LossCause, Long> causes) {
            return causes.entrySet().stream().filter(it -> it.getKey().isLost()).mapToLong(Map.Entry::getValue).sum();
        }
    }
}
