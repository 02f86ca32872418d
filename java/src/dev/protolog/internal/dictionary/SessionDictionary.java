package dev.protolog.internal.dictionary;

import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.LogPrinter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The dictionary of a session: groups and messages as packets, each once, given to the session as
 * soon as they are known.
 *
 * <p>Invariants: the entry of a message is given before the message is first recorded. It counts as
 * known once it was given: after an error out of memory it is given again.
 */
public final class SessionDictionary {
    /** The size at which a packet is ended. */
    private static final int PACKET = 32 * 1024;
    private static final int VIEWER_CONFIG = 105;
    private static final int MESSAGES = 1;
    private static final int GROUPS = 2;
    private static final int HINTS = 1000;
    private static final int HINTS_TEMPLATE = 1;
    private static final int HINTS_NAMES = 4;

    /** Those of the sessions that run; replaced as a whole. */
    private static volatile SessionDictionary[] running = {};

    /** The group of each message. */
    private final Map<Long, Integer> messages = new HashMap<>();
    /** The full name of each group. */
    private final Map<Integer, String> groups = new HashMap<>();
    private final Consumer<byte[]> packets;
    private final boolean hasLocations;

    /**
     * {@code packets} takes each packet. {@code hasLocations}: the places of unprocessed calls
     * belong to it.
     */
    public SessionDictionary(Consumer<byte[]> packets, boolean hasLocations) {
        this.packets = packets;
        this.hasLocations = hasLocations;
    }

    /** Sets the dictionaries of the running sessions, which get the messages that become known. */
    public static void setRunning(SessionDictionary[] dictionaries) {
        running = dictionaries;
    }

    /** Adds a message to all, before a session sees it for the first time. */
    static void addToAll(GroupState state, RuntimeMessage message) {
        for (SessionDictionary each : running) {
            each.addMessage(state, message);
        }
    }

    /** Adds the place of a call to those that have places. */
    static void addToAll(GroupState state, RuntimeMessage message, String location) {
        for (SessionDictionary each : running) {
            if (each.hasLocations) {
                each.addLocation(state, message, location);
            }
        }
    }

    /** Adds the messages of processed code to all. */
    static void addToAll(byte[] source) {
        for (SessionDictionary each : running) {
            each.addSource(source);
        }
    }

    public boolean hasLocations() {
        return hasLocations;
    }

    /** Adds all that is known by now. */
    public void addKnown() {
        Dictionaries.sources().forEach(this::addSource);
        for (GroupState state : Groups.all()) {
            for (var byLevel : state.messages) {
                byLevel.values().stream().filter(it -> it.template() != null).forEach(it -> addMessage(state, it));
            }
        }
    }

    public synchronized void addGroup(GroupState state) {
        if (!groups.containsKey(state.id)) {
            give(new ProtoWriter().message(GROUPS, group(state)));
            groups.put(state.id, state.fullName);
        }
    }

    public synchronized void addMessage(GroupState state, RuntimeMessage message) {
        if (messages.containsKey(message.id())) {
            return;
        }
        ProtoWriter config = new ProtoWriter();
        if (!groups.containsKey(state.id)) {
            config.message(GROUPS, group(state));
        }
        List<String> locations = hasLocations ? List.copyOf(message.locations()) : List.of();
        config.message(MESSAGES, message(state, message, locations.isEmpty() ? null : locations.get(0)));
        locations.stream().skip(1).forEach(location -> config.message(MESSAGES, message(state, message, location)));
        give(config);
        groups.put(state.id, state.fullName);
        messages.put(message.id(), state.id);
    }

    /** Adds one more place of a message's calls: readers join the entries of one message. */
    public synchronized void addLocation(GroupState state, RuntimeMessage message, String location) {
        give(new ProtoWriter().message(MESSAGES, message(state, message, location)));
    }

    private static ProtoWriter message(GroupState state, RuntimeMessage message, String location) {
        String bare = message.template().bare();
        ProtoWriter data = new ProtoWriter()
                .fixed64(1, message.id())
                .string(2, bare)
                .varint(3, LevelSet.wire(message.level()))
                .varint(4, Integer.toUnsignedLong(state.id));
        if (location != null) {
            data.string(5, location);
        }
        ProtoWriter hints = new ProtoWriter();
        if (!bare.equals(message.text())) {
            hints.string(HINTS_TEMPLATE, message.text());
        }
        if (!message.named().names().isEmpty()) {
            hints.string(HINTS_NAMES, message.named().names());
        }
        if (hints.size() > 0) {
            data.message(HINTS, hints);
        }
        return data;
    }

    /** The full name of a message's group; empty if it is not known. */
    public synchronized String groupOfMessage(long message) {
        return groupName(messages.getOrDefault(message, 0));
    }

    /** The id of the group of a message; 0 if it is not known. */
    public synchronized int groupIdOfMessage(long message) {
        return messages.getOrDefault(message, 0);
    }

    /** The full name of a group; empty if it is not known. */
    public synchronized String groupName(int id) {
        return groups.getOrDefault(id, "");
    }

    /** Adds a dictionary written by the tool. Malformed parts are left out. */
    synchronized void addSource(byte[] source) {
        try {
            give(source);
        } catch (ProtoReader.MalformedException e) {
            LogPrinter.problem("the dictionary is malformed: " + e.getMessage(), "make it again from the sources");
        }
        try {
            for (ProtoReader reader = new ProtoReader(source); nextElement(reader);) {
                int field = reader.field();
                note(field, reader.bytes());
            }
        } catch (ProtoReader.MalformedException e) {
            // Reported before.
        }
    }

    /** Gives the groups and messages of a source that are not known. */
    private void give(byte[] source) throws ProtoReader.MalformedException {
        ProtoWriter config = new ProtoWriter();
        try {
            for (ProtoReader reader = new ProtoReader(source); nextElement(reader);) {
                int field = reader.field();
                byte[] element = reader.bytes();
                Element found = element(field, element);
                if (found.id != null && !(field == MESSAGES ? messages.containsKey(found.id) : groups.containsKey(found.id.intValue()))) {
                    config.bytes(field, element);
                }
                if (config.size() > PACKET) {
                    give(config);
                    config.clear();
                }
            }
        } finally {
            if (config.size() > 0) {
                give(config);
            }
        }
    }

    /** Goes on to the next group or message; false at the end. */
    private static boolean nextElement(ProtoReader reader) throws ProtoReader.MalformedException {
        while (reader.next()) {
            if (reader.field() == MESSAGES || reader.field() == GROUPS) {
                return true;
            }
            reader.skip();
        }
        return false;
    }

    private void note(int field, byte[] bytes) throws ProtoReader.MalformedException {
        Element element = element(field, bytes);
        if (element.id != null && field == MESSAGES) {
            messages.putIfAbsent(element.id, element.group);
        } else if (element.id != null) {
            groups.putIfAbsent(element.id.intValue(), element.name);
        }
    }

    /** A message with its group, or a group with its name. */
    private record Element(Long id, int group, String name) {}

    private static Element element(int field, byte[] bytes) throws ProtoReader.MalformedException {
        ProtoReader reader = new ProtoReader(bytes);
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
        return new Element(id, group, name);
    }

    private static ProtoWriter group(GroupState state) {
        return new ProtoWriter().varint(1, Integer.toUnsignedLong(state.id)).string(2, state.fullName).string(3, state.tag);
    }

    private void give(ProtoWriter config) {
        packets.accept(new ProtoWriter(config.size() + 16).message(VIEWER_CONFIG, config).done());
    }
}
