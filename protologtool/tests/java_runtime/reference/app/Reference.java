package app;

/** Has the workers' messages printed: {@code Reference PHASES}. */
public final class Reference {
    private Reference() {}

    public static void main(String[] args) throws Exception {
        for (int phase = 0; phase < Integer.parseInt(args[0]); phase++) {
            Workers.run(phase);
        }
    }
}
