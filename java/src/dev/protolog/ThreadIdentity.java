package dev.protolog;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** The id and the name of the current thread, as the kernel and Java know it. The id is asked for once, the name may change. */
final class ThreadIdentity {
    /** The most bytes of a name; a chunk's first packet has to fit the smallest chunk. */
    private static final int MAX_NAME = 47;
    /** The bit that the kernel's ids never have. A virtual thread is in one thread of the kernel now and in another one later. */
    private static final int VIRTUAL = 1 << 30;
    /** {@code Thread.isVirtual} of Java 21; null before. */
    private static final MethodHandle IS_VIRTUAL = isVirtualOfNewerJava();

    private static final ThreadLocal<Integer> CURRENT = ThreadLocal.withInitial(ThreadIdentity::kernelId);

    private final int id = currentId();
    private String name;
    private byte[] nameBytes = {};

    /** Writes the fields of the thread in the process {@code pid}. */
    void describe(int pid, ProtoWriter to) {
        String now = Thread.currentThread().getName();
        if (now != name) {
            name = now;
            byte[] bytes = new byte[MAX_NAME];
            int length = Utf8.length(now);
            int kept = Utf8.put(now, bytes, 0, Math.min(length, MAX_NAME), length > MAX_NAME);
            nameBytes = Arrays.copyOf(bytes, kept);
        }
        write(pid, id, nameBytes, to);
    }

    /** Writes the fields of a thread. */
    static void write(int pid, int id, byte[] name, ProtoWriter to) {
        to.varint(1, pid).varint(2, id).bytes(3, name);
    }

    /** The id of the current thread. */
    static int currentId() {
        return CURRENT.get();
    }

    /** The kernel's id; without /proc, Java's, which is not that of any other thread of this process. */
    private static int kernelId() {
        if (isVirtual()) {
            return VIRTUAL | (int) Thread.currentThread().getId();
        }
        try {
            return Integer.parseInt(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
        } catch (IOException | RuntimeException e) {
            return (int) Thread.currentThread().getId();
        }
    }

    private static boolean isVirtual() {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            return false;
        }
    }

    private static MethodHandle isVirtualOfNewerJava() {
        try {
            return MethodHandles.lookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
