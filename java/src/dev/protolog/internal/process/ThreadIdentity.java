package dev.protolog.internal.process;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.proto.Utf8;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The id and the name of the current thread, as the kernel and Java know it. The name may change,
 * and virtual threads share a writer, so both are compared with each message.
 */
public final class ThreadIdentity {
    /** The most bytes of a name; a chunk's first packet has to fit the smallest chunk. */
    private static final int MAX_NAME = 47;
    /**
     * The bit that the kernel's ids never have. A virtual thread is in one thread of the kernel now
     * and in another one later.
     */
    private static final int VIRTUAL = 1 << 30;
    /** {@code Thread.isVirtual} of Java 21; null before. */
    private static final MethodHandle IS_VIRTUAL = ofNewerJava("isVirtual", boolean.class);
    /** {@code Thread.threadId} of Java 19, which no class overrides; null before. */
    private static final MethodHandle ID = ofNewerJava("threadId", long.class);

    private static final ThreadLocal<Integer> CURRENT = ThreadLocal.withInitial(ThreadIdentity::kernelId);

    private final boolean isShared;
    private int id = currentId();
    private String name;
    private byte[] nameBytes = {};

    /** {@code isShared}: of virtual threads, one after the other. Else of this thread only. */
    public ThreadIdentity(boolean isShared) {
        this.isShared = isShared;
    }

    /**
     * True if this is still the identity that {@link #describe} has written. {@code origin}: the
     * thread of an event; null for the current one.
     */
    public boolean isCurrent(Origin origin) {
        if (origin != null) {
            return origin.threadId() == id && origin.threadName().equals(name);
        }
        Thread thread = Thread.currentThread();
        return thread.getName() == name && (!isShared || idOfVirtual(thread) == id);
    }

    /** Writes the fields of the thread in the process {@code pid}. */
    public void describe(Origin origin, int pid, ProtoWriter to) {
        Thread thread = Thread.currentThread();
        String now = origin != null ? origin.threadName() : thread.getName();
        if (origin != null) {
            id = origin.threadId();
        } else if (isShared) {
            id = idOfVirtual(thread);
        }
        if (now != name) {
            name = now;
            byte[] bytes = new byte[MAX_NAME];
            int length = Utf8.length(now);
            int kept = Utf8.put(now, bytes, 0, Math.min(length, MAX_NAME), length > MAX_NAME);
            nameBytes = Arrays.copyOf(bytes, kept);
        }
        write(pid, id, nameBytes, to);
    }

    /** The packet that describes the track of the thread that was described last. */
    public byte[] describeTrack(long track, int pid) {
        ProtoWriter thread = new ProtoWriter().varint(1, pid).varint(2, id).bytes(5, nameBytes);
        return new ProtoWriter().message(60, new ProtoWriter().varint(1, track).message(4, thread)).done();
    }

    /** Writes the fields of a thread. */
    public static void write(int pid, int id, byte[] name, ProtoWriter to) {
        to.varint(1, pid).varint(2, id).bytes(3, name);
    }

    /** The id of the current thread. */
    public static int currentId() {
        return isVirtual() ? idOfVirtual(Thread.currentThread()) : CURRENT.get();
    }

    private static int idOfVirtual(Thread thread) {
        return VIRTUAL | (int) thread.getId();
    }

    /**
     * The kernel's id; without /proc, Java's, which is not that of any other thread of this
     * process.
     */
    private static int kernelId() {
        try {
            return Integer.parseInt(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
        } catch (IOException | RuntimeException e) {
            return (int) javaId(Thread.currentThread());
        }
    }

    public static boolean isVirtual() {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            return false;
        }
    }

    /**
     * Java's id of a thread. Before Java 19 a class of the application may say another one, or
     * throw: then it is 0.
     */
    public static long javaId(Thread thread) {
        try {
            return ID == null ? thread.getId() : (long) ID.invokeExact(thread);
        } catch (Throwable e) {
            if (e instanceof Error error && PassingErrors.isOne(error)) {
                throw error;
            }
            return 0;
        }
    }

    private static MethodHandle ofNewerJava(String name, Class<?> result) {
        try {
            return MethodHandles.lookup().findVirtual(Thread.class, name, MethodType.methodType(result));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
