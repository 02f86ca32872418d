package dev.protolog.internal.files;

import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/**
 * The directories in which programs of this user listen: those that exist already, and that nobody
 * else can enter or replace. As {@code protolog-rt/src/sys/runtime_dirs.rs}.
 */
public final class RuntimeDirectories {
    public static final Path SERVICES = Path.of("/run/protolog");
    public static final Path FALLBACKS = Path.of("/tmp");
    /**
     * The most directories of the name of a fallback that are looked at. Another user can make any
     * number of them, for which no program that starts is to wait.
     */
    private static final int MAX_FALLBACKS = 16_384;

    private RuntimeDirectories() {}

    /** Opens all of them. */
    public static List<PrivateDirectory> open() {
        Path only = RunningProgram.absolutePath("PROTOLOG_RUNTIME_DIR");
        List<PrivateDirectory> all = new ArrayList<>();
        if (only != null) {
            add(openIfPrivate(only), all);
            return all;
        }
        try {
            Path runtime = RunningProgram.absolutePath("XDG_RUNTIME_DIR");
            if (runtime != null) {
                add(openIfPrivate(runtime.resolve("protolog")), all);
            }
            add(openIfPrivate(SERVICES.resolve(Integer.toString(RunningProgram.user()))), all);
            add(knownFallback(), all);
        } catch (IOException e) {
            // Those that were found are all that there are.
        }
        return all;
    }

    /** The beginning of the names of directories in {@link #FALLBACKS}. */
    public static String fallbackPrefix() throws IOException {
        return "protolog-" + RunningProgram.user() + "-";
    }

    /** An earlier program's directory in {@link #FALLBACKS}; null for none. */
    public static PrivateDirectory knownFallback() throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(FALLBACKS, fallbackPrefix() + "*")) {
            return known(all);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /**
     * The first of these that is a private directory of this user; null for none. Of many, some are
     * looked at.
     */
    public static PrivateDirectory known(Iterable<Path> named) throws IOException {
        List<Path> own = new ArrayList<>();
        Iterator<Path> each = named.iterator();
        for (int looked = 0; looked < MAX_FALLBACKS && each.hasNext(); looked++) {
            Path path = each.next();
            FileStatus found = FileStatus.at(path);
            if (found != null && found.owner() == RunningProgram.user()) {
                own.add(path);
            }
        }
        Collections.sort(own);
        for (Path path : own) {
            PrivateDirectory directory = openIfPrivate(path);
            if (directory != null) {
                return directory;
            }
        }
        return null;
    }

    private static PrivateDirectory openIfPrivate(Path path) {
        try {
            return PrivateDirectory.open(path);
        } catch (IOException e) {
            // Another user's, or removed meanwhile.
            return null;
        }
    }

    private static void add(PrivateDirectory directory, List<PrivateDirectory> to) {
        if (directory != null) {
            to.add(directory);
        }
    }
}
