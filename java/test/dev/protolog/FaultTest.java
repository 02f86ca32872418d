package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.perfetto.FaultForwards;
import java.util.List;
import java.util.Map;

/** Has {@link FaultSweep} run by classes of its own, which have hooks. */
public final class FaultTest {
    /** The places of a short run. */
    private static final int STEP = 13;
    /** The places of each step of a forwarder, in a short run and in one that names it. */
    private static final int FORWARDS = 16;
    private static final int ALL_FORWARDS = 300;

    private FaultTest() {}

    /**
     * Fails at all places of the scenarios whose name has {@code WORD} in it, and prints what went
     * wrong: {@code FaultTest [WORD]}. The word {@code forwards} stands for a forwarder's.
     */
    public static void main(String[] args) throws Exception {
        String word = args.length > 0 ? args[0] : "";
        Map.Entry<Integer, List<String>> found = word.equals("forwards") ? forwards(ALL_FORWARDS) : sweep(1, word);
        found.getValue().forEach(System.out::println);
        System.out.println(found.getKey() + " places failed, " + found.getValue().size() + " problems");
        System.exit(found.getValue().isEmpty() && found.getKey() > 0 ? 0 : 1);
    }

    static void run() throws Exception {
        Map.Entry<Integer, List<String>> found = sweep(STEP, "");
        check("problems", found.getValue(), List.of());
        check("places fail", found.getKey() > 500, true);
        Map.Entry<Integer, List<String>> starts = starts();
        check("problems of starts", starts.getValue(), List.of());
        check("starts fail", starts.getKey() > 50, true);
        Map.Entry<Integer, List<String>> forwards = forwards(FORWARDS);
        check("problems of a forwarder", forwards.getValue(), List.of());
        check("places of a forwarder fail", forwards.getKey() > 2 * FORWARDS, true);
    }

    @SuppressWarnings("unchecked")
    static Map.Entry<Integer, List<String>> starts() throws Exception {
        Class<?> starts = new FaultLoader().loadClass(FaultStarts.class.getName());
        return (Map.Entry<Integer, List<String>>) starts.getMethod("run").invoke(null);
    }

    @SuppressWarnings("unchecked")
    private static Map.Entry<Integer, List<String>> forwards(int places) throws Exception {
        Class<?> forwards = new FaultLoader().loadClass(FaultForwards.class.getName());
        return (Map.Entry<Integer, List<String>>) forwards.getMethod("run", int.class).invoke(null, places);
    }

    @SuppressWarnings("unchecked")
    private static Map.Entry<Integer, List<String>> sweep(int step, String only) throws Exception {
        Class<?> sweep = new FaultLoader().loadClass(FaultSweep.class.getName());
        return (Map.Entry<Integer, List<String>>) sweep.getMethod("run", int.class, String.class).invoke(null, step, only);
    }
}
