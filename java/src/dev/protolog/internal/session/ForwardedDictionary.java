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

/**
 * The dictionary of a session whose packets are passed on: the groups and the levels that it
 * records, in full as often as it is asked for. One thread at a time uses it.
 *
 * <p>Invariant: a message whose group is not known is in it.
 */
final class ForwardedDictionary {
    private static final int VIEWER_CONFIG = 105;
    private static final int MESSAGE = 1;
    private static final int GROUP = 2;
    /** The size at which a packet is ended. */
    private static final int PACKET = 16 * 1024;

    private final Filter filter;
    private final List<Element> elements = new ArrayList<>();
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

    /** All entries, as packets. */
    List<byte[]> all() {
        return packets(0);
    }

    /** The entries that were not given yet, as packets. */
    List<byte[]> fresh() {
        return given == elements.size() ? List.of() : packets(given);
    }

    /** The ids of the messages that are known and not recorded. */
    Set<Long> excluded() {
        Set<Long> ids = new HashSet<>();
        for (Element element : elements) {
            if (element.field == MESSAGE && !isRecorded(element)) {
                ids.add(element.id);
            }
        }
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
            Element element = field == GROUP ? group(bytes) : message(bytes);
            elements.add(element);
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
