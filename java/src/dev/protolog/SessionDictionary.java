package dev.protolog;

import java.util.HashSet;
import java.util.Set;
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

    private final Set<Long> messages = new HashSet<>();
    private final Set<Integer> groups = new HashSet<>();
    private final Consumer<byte[]> packets;

    /** {@code packets} takes each packet. */
    SessionDictionary(Consumer<byte[]> packets) {
        this.packets = packets;
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
        if (groups.add(state.id)) {
            give(new ProtoWriter().message(GROUPS, group(state)));
        }
    }

    synchronized void addMessage(GroupState state, RuntimeMessage message) {
        if (!messages.add(message.id())) {
            return;
        }
        ProtoWriter config = new ProtoWriter();
        if (groups.add(state.id)) {
            config.message(GROUPS, group(state));
        }
        String bare = message.template().bare();
        ProtoWriter data = new ProtoWriter()
                .fixed64(1, message.id())
                .string(2, bare)
                .varint(3, message.level().wire())
                .varint(4, Integer.toUnsignedLong(state.id));
        if (!bare.equals(message.text())) {
            data.message(1000, new ProtoWriter().string(1, message.text()));
        }
        give(config.message(MESSAGES, data));
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
        while (reader.next()) {
            if (reader.field() != 1) {
                reader.skip();
            } else if (field == MESSAGES) {
                return messages.add(reader.fixed64());
            } else {
                return groups.add((int) reader.varint());
            }
        }
        return false;
    }

    private static ProtoWriter group(GroupState state) {
        return new ProtoWriter().varint(1, Integer.toUnsignedLong(state.id)).string(2, state.fullName).string(3, state.tag);
    }

    private void give(ProtoWriter config) {
        packets.accept(new ProtoWriter(config.size() + 16).message(VIEWER_CONFIG, config).done());
    }
}
