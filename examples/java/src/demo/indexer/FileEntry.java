package demo.indexer;

import dev.protolog.ProtoLog;
import java.nio.file.Path;

/** A file of the tree: path below the root with slashes, real path, size in bytes, kind. */
record FileEntry(String name, Path file, long size, FileKind kind) {
    FileEntry {
        if (size < 0)
            ProtoLog.wtf(IndexLog.WALK, "%s has a size of %d bytes", name, size);
        else if (size == 0)
            ProtoLog.d(IndexLog.WALK, "%s is empty", name);
    }
}
