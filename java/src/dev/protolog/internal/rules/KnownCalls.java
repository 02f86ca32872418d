package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The calls that the program is known to have: those in the dictionaries of its jars, and the
 * unprocessed ones that have logged. A message is an id, and may have calls at several places,
 * which are one to a rule.
 *
 * <p>Invariant: malformed parts of a dictionary are left out.
 */
final class KnownCalls {
    private KnownCalls() {}

    /** By their ids. */
    static Map<Long, List<KnownCall>> all() {
        Map<Long, List<KnownCall>> all = new LinkedHashMap<>();
        readAll(all);
        for (GroupState state : Groups.all()) {
            for (Map<?, RuntimeMessage> byLevel : state.messages) {
                byLevel.values().forEach(message -> all.put(message.id(), of(state.fullName, message)));
            }
        }
        return all;
    }

    /** The full names of the groups that have calls in dictionaries. */
    static Set<String> processedGroups() {
        Map<Long, List<KnownCall>> processed = new HashMap<>();
        readAll(processed);
        return processed.values().stream().flatMap(List::stream).map(KnownCall::group).collect(Collectors.toSet());
    }

    /** The calls of an unprocessed message, one for each place that is known. */
    static List<KnownCall> of(String group, RuntimeMessage message) {
        Stream<String> places = message.locations().isEmpty() ? Stream.of("") : message.locations().stream();
        return places.map(place -> call(message.id(), message.level(), group, place, message.text())).toList();
    }

    private static KnownCall call(long id, LogLevel level, String group, String location, String template) {
        int colon = location.lastIndexOf(':');
        List<Integer> lines = new ArrayList<>();
        for (String line : colon < 0 ? new String[0] : location.substring(colon + 1).split(",")) {
            try {
                lines.add(Integer.valueOf(line));
            } catch (NumberFormatException e) {
                // It is no line.
            }
        }
        String file = colon < 0 ? location : location.substring(0, colon);
        return new KnownCall(id, level, group, module(file), file, lines, template);
    }

    /**
     * The module of a call in a file whose path is that of its package: package and name of the
     * file, so that of its class, {@code com.foo.Main} of {@code com/foo/Main.java}. Empty for
     * other files.
     */
    private static String module(String file) {
        int end = file.endsWith(".java") ? file.length() - ".java".length() : file.endsWith(".kt") ? file.length() - ".kt".length() : 0;
        return file.substring(0, end).replace('/', '.');
    }

    private static void readAll(Map<Long, List<KnownCall>> all) {
        for (byte[] source : Dictionaries.sources()) {
            try {
                read(source, all);
            } catch (ProtoReader.MalformedException e) {
                // Reported when its first message is printed.
            }
        }
    }

    private static void read(byte[] source, Map<Long, List<KnownCall>> all) throws ProtoReader.MalformedException {
        Map<Long, String> groups = new HashMap<>();
        for (ProtoReader config = new ProtoReader(source); config.next();) {
            if (config.field() == 2) {
                readGroup(config.message(), groups);
            } else {
                config.skip();
            }
        }
        for (ProtoReader config = new ProtoReader(source); config.next();) {
            if (config.field() == 1) {
                KnownCall call = readMessage(config.message(), groups);
                all.computeIfAbsent(call.id(), id -> new ArrayList<>(1)).add(call);
            } else {
                config.skip();
            }
        }
    }

    private static void readGroup(ProtoReader group, Map<Long, String> groups) throws ProtoReader.MalformedException {
        long id = 0;
        String name = "";
        while (group.next()) {
            switch (group.field()) {
                case 1 -> id = group.varint();
                case 2 -> name = group.string();
                default -> group.skip();
            }
        }
        groups.put(id, name);
    }

    private static KnownCall readMessage(ProtoReader message, Map<Long, String> groups) throws ProtoReader.MalformedException {
        long id = 0;
        long group = 0;
        LogLevel level = null;
        String template = "";
        String full = null;
        String location = "";
        while (message.next()) {
            switch (message.field()) {
                case 1 -> id = message.fixed64();
                case 2 -> template = message.string();
                case 3 -> level = LevelSet.ofWire(message.varint());
                case 4 -> group = message.varint();
                case 5 -> location = message.string();
                case 1000 -> full = fullTemplate(message.message(), full);
                default -> message.skip();
            }
        }
        return call(id, level, groups.getOrDefault(group, ""), location, full == null ? template : full);
    }

    private static String fullTemplate(ProtoReader hints, String before) throws ProtoReader.MalformedException {
        String full = before;
        while (hints.next()) {
            if (hints.field() == 1) {
                full = hints.string();
            } else {
                hints.skip();
            }
        }
        return full;
    }
}
