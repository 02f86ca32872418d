package dev.protolog.internal.session;

import dev.protolog.LogLevel;
import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The dictionary of a session whose packets are passed on: the groups and the levels that it
 * records, in full as often as it is asked for. One thread at a time uses it.
 *
 * <p>Of a large one, which would leave a small ring of the service no room for messages, it gives
 * the groups, and of the messages those that the session has.
 *
 * <p>Invariants: a message whose group is not known is in it. After an error out of memory it is
 * what it was, or has an entry twice.
 */
final class ForwardedDictionary {
    private static final int VIEWER_CONFIG = 105;
    private static final int MESSAGE = 1;
    private static final int GROUP = 2;
    /** The size at which a packet is ended. */
    private static final int PACKET = 16 * 1024;
    /**
     * A larger one gives only messages that are in use. An eighth of the memory that a producer
     * shares with a service, whose buffer's size it is not told.
     */
    private static final long LARGE = 256 * 1024;

    private final Filter filter;
    /** What is given. */
    private List<Element> elements = new ArrayList<>();
    /** The messages that the session has. */
    private final Set<Long> used = new HashSet<>();
    /** The messages of a large dictionary that the session does not have; null of a small one. */
    private Map<Long, List<Element>> unused;
    /** The levels that are recorded of each group. */
    private final Map<Integer, Integer> levels = new HashMap<>();
    /** The elements that were given once. */
    private int given;

    /** A group, or a message with its id and its level, if that is known. */
    private record Element(int field, byte[] bytes, long id, int group, LogLevel level) {}

    ForwardedDictionary(Filter filter) {
        this.filter = filter;
    }

    /** Takes the entries of a session's own packet, if it has any. */
    void add(byte[] packet) {
        try {
            ProtoReader fields = new ProtoReader(packet);
            while (fields.next()) {
                if (fields.field() == VIEWER_CONFIG) {
                    addEntries(fields.message());
                } else {
                    fields.skip();
                }
            }
        } catch (ProtoReader.MalformedException e) {
            // Of a dictionary that the tool has made; who reads that has said so.
        }
    }

    /** The session has this message. */
    void use(long message) {
        List<Element> entries = unused == null ? null : unused.get(message);
        if (entries != null) {
            // Before it is taken from there, since this may find no memory.
            elements.addAll(entries);
            unused.remove(message);
        }
        used.add(message);
    }

    /** All entries, as packets; of a large dictionary those in use. */
    List<byte[]> all() {
        List<byte[]> packets = packets(0);
        if (unused != null || packets.stream().mapToLong(packet -> packet.length).sum() <= LARGE) {
            return packets;
        }
        List<Element> inUse = new ArrayList<>();
        Map<Long, List<Element>> others = new HashMap<>();
        elements.forEach(element -> add(element, inUse, others));
        // Nothing is called from here on.
        elements = inUse;
        unused = others;
        given = 0;
        return packets(0);
    }

    /** The entries that were not given yet, as packets; of a large dictionary those in use. */
    List<byte[]> fresh() {
        return given == elements.size() ? List.of() : packets(given);
    }

    /** The ids of the messages that are known and not recorded. */
    Set<Long> excluded() {
        Set<Long> ids = new HashSet<>();
        Stream<Element> others = unused == null ? Stream.of() : unused.values().stream().flatMap(List::stream);
        Stream.concat(elements.stream(), others)
                .filter(element -> element.field == MESSAGE && !isRecorded(element))
                .forEach(element -> ids.add(element.id));
        return ids;
    }

    private void addEntries(ProtoReader config) throws ProtoReader.MalformedException {
        while (config.next()) {
            int field = config.field();
            if (field != MESSAGE && field != GROUP) {
                config.skip();
                continue;
            }
            byte[] bytes = config.bytes();
            add(field == GROUP ? group(bytes) : message(bytes), elements, unused);
        }
    }

    /** Adds an element to those in use, or to the others, if there are any. */
    private void add(Element element, List<Element> inUse, Map<Long, List<Element>> others) {
        if (others == null || element.field == GROUP || used.contains(element.id)) {
            inUse.add(element);
        } else {
            others.computeIfAbsent(element.id, id -> new ArrayList<>(1)).add(element);
        }
    }

    private Element group(byte[] bytes) throws ProtoReader.MalformedException {
        int id = 0;
        String name = "";
        for (ProtoReader fields = new ProtoReader(bytes); fields.next();) {
            switch (fields.field()) {
                case 1 -> id = (int) fields.varint();
                case 2 -> name = fields.string();
                default -> fields.skip();
            }
        }
        levels.put(id, filter.levels(name));
        return new Element(GROUP, bytes, 0, id, null);
    }

    private static Element message(byte[] bytes) throws ProtoReader.MalformedException {
        long id = 0;
        int group = 0;
        LogLevel level = null;
        for (ProtoReader fields = new ProtoReader(bytes); fields.next();) {
            switch (fields.field()) {
                case 1 -> id = fields.fixed64();
                case 3 -> level = LevelSet.ofWire(fields.varint());
                case 4 -> group = (int) fields.varint();
                default -> fields.skip();
            }
        }
        return new Element(MESSAGE, bytes, id, group, level);
    }

    private List<byte[]> packets(int from) {
        List<byte[]> packets = new ArrayList<>();
        ProtoWriter config = new ProtoWriter();
        for (Element element : elements.subList(from, elements.size())) {
            if (!isRecorded(element)) {
                continue;
            }
            config.bytes(element.field, element.bytes);
            if (config.size() > PACKET) {
                packets.add(new ProtoWriter(config.size() + 16).message(VIEWER_CONFIG, config).done());
                config.clear();
            }
        }
        if (config.size() > 0) {
            packets.add(new ProtoWriter(config.size() + 16).message(VIEWER_CONFIG, config).done());
        }
        given = elements.size();
        return packets;
    }

    private boolean isRecorded(Element element) {
        int recorded = levels.getOrDefault(element.group, LevelSet.ALL);
        return element.level == null ? recorded != 0 : (recorded & LevelSet.bit(element.level)) != 0;
    }
}
