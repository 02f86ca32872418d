package dev.protolog.internal.files;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The place of an output: a name in a directory, which is found once by {@link OutputRules}, when
 * the output is first opened. All that is done there later goes through {@link OpenDirectory},
 * which compares the entry opened with this: no link that appears on the way is followed any more.
 *
 * @param path the path that the program named
 * @param real the same without links on the way
 * @param directory the key of the directory that was found; null for a descriptor that the process
 * was given
 */
public record Location(Path path, Path real, Object directory) {
    /**
     * Finds the directory of an absolute path. An error if a link on the way is not to be followed.
     */
    public static Location of(Path path) throws IOException {
        if (OutputRules.descriptor(path) >= 0) {
            return new Location(path, path, null);
        }
        Path real = OutputRules.withoutLinks(path);
        return new Location(path, real, FileStatus.behind(real.getParent()).key());
    }

    /** The name in the directory. */
    public String name() {
        return real.getFileName().toString();
    }

    /** Another name in the same directory. */
    public Location sibling(String name) {
        return new Location(path.resolveSibling(name), real.resolveSibling(name), directory);
    }
}
