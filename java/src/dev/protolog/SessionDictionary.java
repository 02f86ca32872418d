package dev.protolog;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The dictionary of a session: groups and messages as packets, each once, given to the session as soon as they are known.
 *
 * <p>Invariant: the entry of a message is given before the message is first recorded.
 */
final class SessionDictionary {
    /** The size at which a packet is ended. */
    private static final int PACKET = 32 * 1024;
    private static final int VIEWER_CONFIG = 105;
    private static final int MESSAGES = 1;
    private static final int GROUPS = 2;

    /** The group of each message. */
    private final Map<Long, Integer> messages = new HashMap<>();
    /** The full name of each group. */
    private final Map<Integer, String> groups = new HashMap<>();
    private final Consumer<byte[]> packets;
    private final boolean hasLocations;

    /** {@code packets} takes each packet. {@code hasLocations}: the places of unprocessed calls belong to it. */
    SessionDictionary(Consumer<byte[]> packets, boolean hasLocations) {
        this.packets = packets;
        this.hasLocations = hasLocations;
    }

    boolean hasLocations() {
        return hasLocations;
    }

    /** Adds all that is known by now. */
    void addKnown() {
        Dictionaries.sources().forEach(this::addSource);
        for (GroupState state : Groups.all()) {
            for (var byLevel : state.messages) {
                byLevel.values().stream().filter(it -> it.template() != null).forEach(it -> addMessage(state, it));
            }
        }
    }

    synchronized void addGroup(GroupState state) {
        if (groups.putIfAbsent(state.id, state.fullName) == null) {
            give(new ProtoWriter().message(GROUPS, group(state)));
        }
    }

    synchronized void addMessage(GroupState state, RuntimeMessage message) {
        if (messages.putIfAbsent(message.id(), state.id) != null) {
            return;
        }
        ProtoWriter config = new ProtoWriter();
        if (groups.putIfAbsent(state.id, state.fullName) == null) {
            config.message(GROUPS, group(state));
        }
        List<String> locations = hasLocations ? List.copyOf(message.locations()) : List.of();
        config.message(MESSAGES, message(state, message, locations.isEmpty() ? null : locations.get(0)));
        locations.stream().skip(1).forEach(location -> config.message(MESSAGES, message(state, message, location)));
        give(config);
    }

    /** Adds one more place of a message's calls: readers join the entries of one message. */
    synchronized void addLocation(GroupState state, RuntimeMessage message, String location) {
        give(new ProtoWriter().message(MESSAGES, message(state, message, location)));
    }

    private static ProtoWriter message(GroupState state, RuntimeMessage message, String location) {
        String bare = message.template().bare();
        ProtoWriter data = new ProtoWriter()
                .fixed64(1, message.id())
                .string(2, bare)
                .varint(3, message.level().wire())
                .varint(4, Integer.toUnsignedLong(state.id));
        if (location != null) {
            data.string(5, location);
        }
        if (!bare.equals(message.text())) {
            data.message(1000, new ProtoWriter().string(1, message.text()));
        }
        return data;
    }

    /** The full name of a message's group; empty if it is not known. */
    synchronized String groupOfMessage(long message) {
        return groupName(messages.getOrDefault(message, 0));
    }

    /** The full name of a group; empty if it is not known. */
    synchronized String groupName(int id) {
        return groups.getOrDefault(id, "");
    }

    /** Adds what the tool has written. Malformed parts are left out. */
    synchronized void addSource(byte[] source) {
        ProtoWriter config = new ProtoWriter();
        ProtoReader reader = new ProtoReader(source);
        try {
            while (reader.next()) {
                int field = reader.field();
                if (field != MESSAGES && field != GROUPS) {
                    reader.skip();
                    continue;
                }
                byte[] element = reader.bytes();
                if (isNew(field, element)) {
                    config.bytes(field, element);
                }
                if (config.size() > PACKET) {
                    give(config);
                    config.clear();
                }
            }
        } catch (ProtoReader.MalformedException e) {
            LogPrinter.problem("the dictionary is malformed: " + e.getMessage(), "make it again from the sources");
        }
        if (config.size() > 0) {
            give(config);
        }
    }

    private boolean isNew(int field, byte[] element) throws ProtoReader.MalformedException {
        ProtoReader reader = new ProtoReader(element);
        Long id = null;
        int group = 0;
        String name = "";
        while (reader.next()) {
            if (reader.field() == 1) {
                id = field == MESSAGES ? reader.fixed64() : reader.varint();
            } else if (field == MESSAGES && reader.field() == 4) {
                group = (int) reader.varint();
            } else if (field == GROUPS && reader.field() == 2) {
                name = reader.string();
            } else {
                reader.skip();
            }
        }
        if (id == null) {
            return false;
        }
        return field == MESSAGES ? messages.putIfAbsent(id, group) == null : groups.putIfAbsent(id.intValue(), name) == null;
    }

    private static ProtoWriter group(GroupState state) {
        return new ProtoWriter().varint(1, Integer.toUnsignedLong(state.id)).string(2, state.fullName).string(3, state.tag);
    }

    private void give(ProtoWriter config) {
        packets.accept(new ProtoWriter(config.size() + 16).message(VIEWER_CONFIG, config).done());
    }
}
