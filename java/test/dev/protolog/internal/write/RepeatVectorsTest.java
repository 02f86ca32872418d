package dev.protolog.internal.write;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import dev.protolog.internal.groups.Groups;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which messages of a thread are written and which are counted: the vectors that Rust has, too. */
public final class RepeatVectorsTest {
    private static final String HEADER = "messages of a thread: milliseconds, call, request, arguments\twhat becomes of them";

    private RepeatVectorsTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("repeats.tsv"), HEADER)) {
            check(row[0], become(row[0]), row[1]);
        }
        tracesOfExceptions();
        forgotten();
        messagesOfAnotherThread();
    }

    private static String become(String messages) {
        Repeats repeats = new Repeats();
        Map<String, RequestMark> requests = new HashMap<>();
        Map<Long, String> calls = new HashMap<>();
        List<String> all = new ArrayList<>();
        for (String each : messages.split(";")) {
            String[] words = each.split(" ", -1);
            String[] head = words[1].split("@");
            Call call = call(Long.parseUnsignedLong(head[0], 16) << Long.SIZE - 4 * head[0].length(), words);
            calls.put(call.id, head[0]);
            call.request = head.length == 1 ? null : requests.computeIfAbsent(head[1], RequestMark::new);
            long now = 10_000_000_000L + Long.parseLong(words[0]) * 1_000_000;
            boolean isSame = repeats.see(call, 1, 1, now);
            all.add(isSame ? "c" : repeats.ended == 0 ? "w" : "w+" + repeats.endedCount + "@" + calls.get(repeats.ended));
        }
        return String.join(" ", all);
    }

    private static Call call(long id, String... words) {
        Call call = new Call();
        call.id = id;
        call.group = Groups.UNREGISTERED;
        for (int i = 2; i < words.length; i++) {
            String value = words[i].substring(1);
            switch (words[i].charAt(0)) {
                case 'i' -> call.add(Long.parseLong(value));
                case 'f' -> call.add(Double.parseDouble(value));
                case 'b' -> call.add(value.equals("1"));
                case 's' -> call.add(value);
                case 'x' -> call.add("x".repeat(Integer.parseInt(value)));
                case 'e' -> call.add("é".repeat(Integer.parseInt(value)));
                default -> throw new AssertionError(words[i]);
            }
        }
        return call;
    }

    /** The stack trace of an exception is compared, too, unless it is long. */
    private static void tracesOfExceptions() {
        String trace = "java.io.IOException\n\tat app.Main.run(Main.java:12)";
        String longest = "x".repeat(MessageRun.MAX_TRACE);
        Repeats repeats = new Repeats();
        List<Boolean> seen = new ArrayList<>();
        for (String thrown : new String[] {null, trace, new String(trace), trace + "!", null, longest, new String(longest), longest + "x", longest + "x"}) {
            Call call = call(1);
            call.thrown = thrown;
            seen.add(repeats.see(call, 1, 1, 1));
        }
        check("stack traces", seen, List.of(false, false, true, false, false, false, true, false, false));
    }

    /** Routes and switch words that change end a run, and what was not written begins none. */
    private static void forgotten() {
        Repeats repeats = new Repeats();
        List<Boolean> seen = new ArrayList<>();
        seen.add(repeats.see(call(1), 1, 1, 1));
        seen.add(repeats.see(call(1), 2, 1, 1));
        seen.add(repeats.see(call(1), 2, 2, 1));
        seen.add(repeats.see(call(1), 2, 2, 1));
        repeats.forget(2);
        seen.add(repeats.see(call(1), 2, 2, 1));
        repeats.forget(1);
        seen.add(repeats.see(call(1), 2, 2, 1));
        seen.add(repeats.see(call(1), 2, 2, 1));
        check("runs end", seen, List.of(false, false, false, true, true, false, true));
    }

    /**
     * What an ended thread repeated is of its group alone where another one goes on, however many
     * messages it were, and whether their ids are below the group's own place or above it.
     */
    private static void messagesOfAnotherThread() {
        for (int count = 1; count <= 16; count++) {
            for (long first : new long[] {1, Long.MIN_VALUE, -1 - count}) {
                Losses losses = new Losses();
                for (int i = 0; i < count; i++) {
                    losses.addAt(7, LossCause.REPEATED, 5 + i, first + i);
                }
                losses.forgetMessages();
                check(count + " forgotten", losses.repeats().size(), 0);
                Losses.Count all = losses.all().get(0);
                check(count + " of the group", List.of(losses.all().size(), all.count()), List.of(1, (long) count));
            }
        }
    }
}
