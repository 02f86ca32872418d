package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.util.List;
import java.util.Map;

/** Has {@link FaultSweep} run by classes of its own, which have hooks. */
public final class FaultTest {
    /** The places of a short run. */
    private static final int STEP = 13;

    private FaultTest() {}

    /**
     * Fails at all places of the scenarios whose name has {@code WORD} in it, and prints what went
     * wrong: {@code FaultTest [WORD]}.
     */
    public static void main(String[] args) throws Exception {
        Map.Entry<Integer, List<String>> found = sweep(1, args.length > 0 ? args[0] : "");
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
    }

    @SuppressWarnings("unchecked")
    static Map.Entry<Integer, List<String>> starts() throws Exception {
        Class<?> starts = new FaultLoader().loadClass(FaultStarts.class.getName());
        return (Map.Entry<Integer, List<String>>) starts.getMethod("run").invoke(null);
    }

    @SuppressWarnings("unchecked")
    private static Map.Entry<Integer, List<String>> sweep(int step, String only) throws Exception {
        Class<?> sweep = new FaultLoader().loadClass(FaultSweep.class.getName());
        return (Map.Entry<Integer, List<String>>) sweep.getMethod("run", int.class, String.class).invoke(null, step, only);
    }
}
