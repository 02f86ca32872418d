package dev.protolog;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.session.TraceSurvey;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A trace, read by the rules alone: each message needs a thread, its strings, and an entry of the
 * dictionary if it is no processed one. A message's first integer is its number, and each of its
 * strings begins with that number and a point. It belongs to a request that is named by the rest of
 * its number, or to none.
 */
public final class FaultTrace {
    /** A message beyond the templates that a program may make: its text is one string. */
    private static final Pattern LIMITED = Pattern.compile("(\\d+) of template \\1");

    /** The numbers of messages, in the order of the file. */
    public final List<Long> numbers = new ArrayList<>();
    /** The losses that it reports. */
    public final Map<LossCause, Long> losses = new EnumMap<>(LossCause.class);
    /** Whatever a reader could not make sense of. */
    public final List<String> problems = new ArrayList<>();

    /** All messages, and those that are marked as those of a request. */
    public long messages;
    public long inRequests;

    private final Map<Long, Map<Long, String>> strings = new HashMap<>();
    /** The ids of the requests that sequences are in. */
    private final Map<Long, String> requests = new HashMap<>();
    /** The messages of which it has texts. */
    public final Set<Long> dictionary = new HashSet<>();

    private FaultTrace() {}

    /**
     * Reads the files one after the other; each stands for itself. {@code processed} are the ids of
     * processed messages.
     */
    public static FaultTrace read(List<Path> files, Set<Long> processed) throws Exception {
        FaultTrace trace = new FaultTrace();
        for (Path file : files) {
            trace.strings.clear();
            trace.requests.clear();
            trace.dictionary.clear();
            trace.dictionary.addAll(processed);
            trace.read(file);
        }
        return trace;
    }

    /** Reads the packets of a trace. */
    public static FaultTrace of(byte[] packets) {
        FaultTrace trace = new FaultTrace();
        trace.readPackets(packets);
        return trace;
    }

    /** All losses of messages that are not there. */
    long lost() {
        return losses.entrySet().stream().filter(it -> it.getKey().isLost()).mapToLong(Map.Entry::getValue).sum();
    }

    private void read(Path file) throws IOException, ProtoReader.MalformedException {
        readPackets(Files.readAllBytes(file));
    }

    /** Reads more packets. */
    public void readPackets(byte[] bytes) {
        ProtoReader packets = new ProtoReader(bytes);
        try {
            while (packets.next()) {
                readPacket(packets.bytes());
            }
        } catch (ProtoReader.MalformedException e) {
            problems.add("malformed: " + e.getMessage());
        }
    }

    private void readPacket(byte[] packet) throws ProtoReader.MalformedException {
        long sequence = 0;
        boolean isFirst = false;
        byte[] interned = null;
        byte[] message = null;
        ProtoReader mark = null;
        for (ProtoReader fields = new ProtoReader(packet); fields.next();) {
            switch (fields.field()) {
                case 10 -> sequence = fields.varint();
                case 12 -> interned = fields.bytes();
                case 50 -> readPackets(TraceSurvey.inflated(fields.bytes()));
                case 13 -> isFirst = (fields.varint() & 1) != 0;
                case 104 -> message = fields.bytes();
                case 1012 -> mark = fields.message();
                case 105 -> readDictionary(fields.message());
                case Losses.LOSS, Losses.PASSED_OVER -> {
                    Losses.Count loss = Losses.Count.read(fields.field(), fields.message());
                    losses.merge(loss.cause(), loss.count(), Long::sum);
                }
                default -> fields.skip();
            }
        }
        if (isFirst) {
            strings.put(sequence, new HashMap<>());
            requests.remove(sequence);
        }
        if (mark != null) {
            readMark(mark, sequence);
        }
        Map<Long, String> known = strings.get(sequence);
        if (known == null && (interned != null || message != null)) {
            problems.add("a message of sequence " + sequence + " before its state");
            return;
        }
        if (interned != null) {
            readStrings(new ProtoReader(interned), known);
        }
        if (message != null) {
            messages++;
            readMessage(new ProtoReader(message), known, requests.get(sequence));
        }
    }

    private void readMark(ProtoReader mark, long sequence) throws ProtoReader.MalformedException {
        requests.remove(sequence);
        while (mark.next()) {
            if (mark.field() == 2) {
                requests.put(sequence, mark.string());
            } else {
                mark.skip();
            }
        }
    }

    private void readDictionary(ProtoReader config) throws ProtoReader.MalformedException {
        while (config.next()) {
            if (config.field() != 1) {
                config.skip();
                continue;
            }
            ProtoReader message = config.message();
            while (message.next()) {
                if (message.field() == 1) {
                    dictionary.add(message.fixed64());
                } else {
                    message.skip();
                }
            }
        }
    }

    private static void readStrings(ProtoReader interned, Map<Long, String> known) throws ProtoReader.MalformedException {
        while (interned.next()) {
            ProtoReader entry = interned.message();
            long iid = 0;
            String text = "";
            while (entry.next()) {
                switch (entry.field()) {
                    case 1 -> iid = entry.varint();
                    case 2 -> text = entry.string();
                    default -> entry.skip();
                }
            }
            known.put(iid, text);
        }
    }

    private void readMessage(ProtoReader message, Map<Long, String> known, String request) throws ProtoReader.MalformedException {
        long id = 0;
        List<Long> integers = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        while (message.next()) {
            switch (message.field()) {
                case 1 -> id = message.fixed64();
                case 2 -> texts.add(String.valueOf(known.get(message.varint())));
                case 3 -> {
                    long zigzag = message.varint();
                    integers.add(zigzag >>> 1 ^ -(zigzag & 1));
                }
                case 6 -> texts.add(known.containsKey(message.varint()) ? integers.get(0) + "." : "no stack trace");
                default -> message.skip();
            }
        }
        Matcher whole = LIMITED.matcher(texts.size() == 1 ? texts.get(0) : "");
        if (integers.isEmpty() && whole.matches()) {
            numbers.add(Long.parseLong(whole.group(1)));
            return;
        }
        if (integers.isEmpty()) {
            problems.add("a message without its number: " + texts);
            return;
        }
        long number = integers.get(0);
        numbers.add(number);
        if (request != null) {
            inRequests++;
            // So are those named that messages with a number belong to.
            if (!request.equals("r" + number % 3)) {
                problems.add("message " + number + " belongs to the request " + request);
            }
        }
        for (String text : texts) {
            if (!text.startsWith(number + ".")) {
                problems.add("message " + number + " has the string " + text);
            }
        }
        if (!dictionary.contains(id)) {
            problems.add("message " + number + " is not in the dictionary");
        }
    }
}
