package bench;

/**
 * A logger with the calls that are measured. A process has one of them, so that its calls are
 * inlined as those of a program with one logger are.
 *
 * <p>Invariant: a call that is off does nothing but find that out.
 */
interface Peer extends AutoCloseable {
    void twoInts(int a, int b);

    void intAndString(int a, String b);

    void twoIntsAndDouble(int a, int b, double c);

    void sixArguments(int a, String b, int c, double d, boolean e, String f);

    /** A call with two ints at a level that is off. */
    void off(int a, int b);

    /** Writes what was logged so far; the process stays able to log. */
    @Override
    void close() throws Exception;

    /** The parts of what it wrote that count as its file. */
    String output();
}
