package dev.protolog.internal.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Claims on files: a file is written by one session, recording or text sink at a time, and replaced
 * by none meanwhile. This table has the holder of each file in this process; other processes see a
 * lock on it. A session that keeps its messages claims the name of its file, since the file itself
 * appears only at the end; other processes can't see that claim.
 *
 * <p>Invariant: a file is closed before its claim goes, and one that is claimed is not even opened:
 * the kernel releases all locks of a process on a file when the process closes any descriptor of
 * it.
 */
public final class Claims {
    /** By the files and names that they are on. */
    private static final Map<Object, Claim> TAKEN = new HashMap<>();

    private Claims() {}

    /** The right of one session to write a file. */
    public static final class Claim implements AutoCloseable {
        private final Object id;

        private Claim(Object id) {
            this.id = id;
        }

        @Override
        public void close() {
            synchronized (TAKEN) {
                // Somebody else may have it since.
                TAKEN.remove(id, this);
            }
        }
    }

    /** Claims the file with this key at {@code path}, of which the caller has a descriptor. */
    static Claim file(Path path, Object key) throws IOException {
        Claim claim = new Claim(key);
        synchronized (TAKEN) {
            if (TAKEN.containsKey(key) && hasDescriptors(key, 2)) {
                throw OpenFiles.inUse(path);
            }
            TAKEN.put(key, claim);
        }
        return claim;
    }

    /**
     * True if this process has so many descriptors of a file. A thread that had no stack to give
     * its claim up leaves one that is on a number: that of a file which nobody has any more, or of
     * another one that got it since.
     */
    private static boolean hasDescriptors(Object key, int least) {
        try {
            return OpenFiles.withKey(key).size() >= least;
        } catch (IOException e) {
            // Not known without /proc.
            return true;
        }
    }

    /** Claims the name of a file that will be there. */
    public static Claim name(Location place) throws IOException {
        return claim(place.path(), nameOf(place));
    }

    /** Claims the names of the segments of {@code place}. */
    public static Claim segments(Location place) throws IOException {
        return claim(place.path(), List.of(nameOf(place), "segments"));
    }

    /** True if somebody in this process has this file. */
    public static boolean has(FileStatus found) {
        synchronized (TAKEN) {
            return TAKEN.containsKey(found.key()) && hasDescriptors(found.key(), 1);
        }
    }

    /**
     * An error if somebody in this process has the file that is at {@code place}, or its name
     * without {@code own}; {@code found} describes the file, and is null for none.
     */
    static void check(Location place, FileStatus found, Claim own) throws IOException {
        List<Object> name = nameOf(place);
        synchronized (TAKEN) {
            Claim taken = TAKEN.get(name);
            boolean isNameTaken = taken != null && taken != own;
            if (isNameTaken || found != null && TAKEN.containsKey(found.key()) && hasDescriptors(found.key(), 1)) {
                throw OpenFiles.inUse(place.path());
            }
        }
        if (found != null && found.isRegular() && OpenFiles.isLocked(found.key())) {
            throw OpenFiles.inUse(place.path());
        }
    }

    private static Claim claim(Path path, Object id) throws IOException {
        Claim claim = new Claim(id);
        synchronized (TAKEN) {
            if (TAKEN.putIfAbsent(id, claim) != null) {
                throw OpenFiles.inUse(path);
            }
        }
        return claim;
    }

    /**
     * A name in a directory, wherever links in the path lead. No record: the JDK keeps the class
     * loader of the last one that it has compared.
     */
    private static List<Object> nameOf(Location place) {
        return Arrays.asList(place.directory(), place.name());
    }
}
