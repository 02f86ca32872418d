package dev.protolog;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Handle;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/**
 * Loads the runtime once more, with a call of {@link Faults} at each place where the JVM may throw:
 * what allocates may find no memory, what calls may find no stack. The runtime itself has no such
 * hooks.
 *
 * <p>Methods of the JDK are taken for ones that allocate before they do anything, unless they are
 * known not to allocate; those that may do so after they have changed something are hooked on both
 * sides.
 *
 * <p>Invariant: the classes of tests, whose names begin with {@code Fault}, have no hooks.
 */
final class FaultLoader extends ClassLoader {
    private static final String PACKAGE = "dev.protolog.";
    private static final String HOOKS = "dev/protolog/Faults";
    /** Classes of the JDK whose methods allocate nothing. */
    private static final Set<String> SPARING = Set.of("java/lang/Object", "java/lang/Record", "java/lang/Enum", "java/lang/Math", "java/lang/Number",
            "java/lang/invoke/VarHandle", "java/lang/ref/WeakReference", "java/lang/ref/Reference", "java/util/concurrent/atomic/AtomicInteger",
            "java/util/concurrent/atomic/AtomicLong", "java/util/concurrent/locks/LockSupport");
    /** Methods that allocate nothing, of whatever class. */
    private static final Set<String> SPARING_METHODS = Set.of("nanoTime", "currentTimeMillis", "arraycopy", "identityHashCode", "currentThread",
            "isAlive", "getId", "yield", "length", "charAt", "equals", "hashCode", "isEmpty", "size", "get", "clear", "put", "putInt", "putLong",
            "putShort", "getInt", "getShort", "getLong", "hasNext", "next", "hasRemaining", "remaining", "position", "limit", "capacity", "rewind", "flip",
            "longValue", "intValue", "doubleValue", "booleanValue", "ordinal", "toUnsignedLong", "toUnsignedInt", "numberOfLeadingZeros",
            "doubleToRawLongBits", "longBitsToDouble", "highestOneBit", "interrupt", "wait", "notifyAll", "isSurrogate", "isHighSurrogate",
            "isLowSurrogate", "startsWith", "endsWith", "addSuppressed");
    /**
     * Methods that may allocate after they have changed something: tables grow once they have the
     * new entry, and what is written is written.
     */
    private static final Set<String> LATE_METHODS = Set.of("put", "putIfAbsent", "computeIfAbsent", "merge", "add", "addLast", "write", "truncate",
            "move", "close", "deleteIfExists", "force");

    FaultLoader() {
        super(FaultLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
        if (!name.startsWith(PACKAGE)) {
            return super.loadClass(name, isResolved);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = isTest(name) ? in.readAllBytes() : hooked(in);
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static boolean isTest(String name) {
        return name.startsWith("Fault", name.lastIndexOf('.') + 1);
    }

    private static byte[] hooked(InputStream in) throws IOException {
        ClassReader reader = new ClassReader(in);
        // Hooks take nothing from the operand stack and leave nothing there.
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM8, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                MethodVisitor method = super.visitMethod(access, name, descriptor, signature, exceptions);
                // Initializers are left alone: an error there makes the class unusable.
                return name.equals("<clinit>") || method == null ? method : new HookedMethod(method);
            }
        }, 0);
        return writer.toByteArray();
    }

    /** Adds hooks to a method. */
    private static final class HookedMethod extends MethodVisitor {
        HookedMethod(MethodVisitor next) {
            super(Opcodes.ASM8, next);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            if (opcode == Opcodes.ANEWARRAY) {
                hook("memory");
            }
            super.visitTypeInsn(opcode, type);
            if (opcode == Opcodes.NEW) {
                // After it, since the verifier knows the new object by the place of the
                // instruction.
                hook("memory");
            }
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            if (opcode == Opcodes.NEWARRAY) {
                hook("memory");
            }
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            hook("memory");
            super.visitMultiANewArrayInsn(descriptor, dimensions);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            hook("memory");
            hook("link");
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            boolean isOurs = owner.startsWith("dev/protolog/");
            boolean isConstructor = name.equals("<init>");
            if (!isConstructor && !owner.equals("java/lang/String")) {
                hook("stack");
            }
            if (owner.equals("java/lang/invoke/VarHandle")) {
                hook("link");
            }
            boolean isArray = owner.startsWith("[");
            boolean isBuffer = owner.startsWith("java/nio/") && owner.endsWith("Buffer");
            boolean isSparing = SPARING.contains(owner) || SPARING_METHODS.contains(name) && (isBuffer || !LATE_METHODS.contains(name));
            if (isArray || !isOurs && !isConstructor && !isSparing) {
                hook("memory");
            }
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if (!isOurs && !isConstructor && !isBuffer && LATE_METHODS.contains(name)) {
                hook("memory");
            }
        }

        private void hook(String kind) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, kind, "()V", false);
        }
    }
}
