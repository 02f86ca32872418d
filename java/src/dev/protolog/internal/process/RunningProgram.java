package dev.protolog.internal.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Facts of the kernel about this process: its name, its user, and if it may trust its environment.
 */
public final class RunningProgram {
    /** The auxiliary value that is not 0 in a program with more rights than its caller. */
    private static final long AT_SECURE = 23;
    /**
     * The mark of the kernel on the path of an executable that was removed, or replaced by a new
     * version.
     */
    private static final String REMOVED = " (deleted)";
    private static final Path SELF = Path.of("/proc/self");

    private RunningProgram() {}

    /**
     * The name of the executable; where that is the JVM's launcher, the name of the main class, or
     * of the jar that has it. Operators find that word in the process's command line.
     */
    public static String name() {
        String executable = "java";
        try {
            executable = nameOf(Files.readSymbolicLink(SELF.resolve("exe")).toString());
        } catch (IOException | RuntimeException e) {
            // No /proc.
        }
        if (!executable.equals("java")) {
            return executable;
        }
        // MODULE/CLASS, or the path of a jar.
        String name = nameOf(main(System.getProperty("sun.java.command", "")));
        return name.isBlank() ? executable : name;
    }

    /**
     * The name of an executable, from the path that the kernel has: the same after an upgrade in
     * place.
     */
    public static String nameOf(String executable) {
        String path = withoutMark(executable);
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * The program that the JVM was given: a class, or the path of a jar; the path of the executable
     * where that is not known.
     */
    public static String command() {
        String main = main(System.getProperty("sun.java.command", ""));
        return main.isBlank() ? withoutMark(ProcessHandle.current().info().command().orElse("java")) : main;
    }

    private static String withoutMark(String executable) {
        return executable.endsWith(REMOVED) ? executable.substring(0, executable.length() - REMOVED.length()) : executable;
    }

    /** The first word of a command, which may have spaces: an argument of the process. */
    private static String main(String command) {
        String main = command.split(" ", 2)[0];
        try {
            for (String argument : Files.readString(SELF.resolve("cmdline")).split("\0")) {
                boolean isFirst = command.equals(argument) || command.startsWith(argument + " ");
                main = isFirst && argument.length() > main.length() ? argument : main;
            }
        } catch (IOException e) {
            // No /proc, or no UTF-8.
        }
        return main;
    }

    public static long pid() {
        return ProcessHandle.current().pid();
    }

    /** The id of the user that the process runs as. */
    public static int user() throws IOException {
        return (Integer) Files.getAttribute(SELF, "unix:uid");
    }

    /** True if this descriptor is a terminal. */
    public static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(SELF.resolve("fd").resolve(Integer.toString(descriptor))).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    /**
     * A variable; null where it is not set, and in a program with more rights than its caller, the
     * variable's author.
     */
    public static String variable(String name) {
        return hasMoreRights() ? null : System.getenv(name);
    }

    /** The absolute path in a variable; null where there is none. */
    public static Path absolutePath(String name) {
        String value = variable(name);
        try {
            Path path = value == null ? null : Path.of(value);
            return path != null && path.isAbsolute() ? path : null;
        } catch (InvalidPathException e) {
            return null;
        }
    }

    private static boolean hasMoreRights() {
        try {
            ByteBuffer values = ByteBuffer.wrap(Files.readAllBytes(SELF.resolve("auxv"))).order(ByteOrder.nativeOrder());
            while (values.remaining() >= 16) {
                long key = values.getLong();
                long value = values.getLong();
                if (key == AT_SECURE) {
                    return value != 0;
                }
            }
            return false;
        } catch (IOException e) {
            // The kernel hides it from the user of such a program; without /proc, nothing is known.
            return Files.exists(SELF);
        }
    }
}
