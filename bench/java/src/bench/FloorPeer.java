package bench;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The floors: a read of a static boolean where a call is off, one that no loop is left without; a
 * reading of the clock where it is on.
 */
final class FloorPeer implements Peer {
    private static final VarHandle IS_ON;
    private static boolean isOn;
    private static long sink;

    static {
        try {
            IS_ON = MethodHandles.lookup().findStaticVarHandle(FloorPeer.class, "isOn", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    FloorPeer() {
        isOn = System.getProperty("bench.on") != null;
    }

    @Override
    public void twoInts(int a, int b) {
        sink = System.nanoTime();
    }

    @Override
    public void intAndString(int a, String b) {
        sink = System.nanoTime();
    }

    @Override
    public void twoIntsAndDouble(int a, int b, double c) {
        sink = System.nanoTime();
    }

    @Override
    public void sixArguments(int a, String b, int c, double d, boolean e, String f) {
        sink = System.nanoTime();
    }

    @Override
    public void off(int a, int b) {
        if ((boolean) IS_ON.getOpaque()) {
            sink += a + b;
        }
    }

    @Override
    public void close() {}

    @Override
    public String output() {
        return "";
    }
}
