package demo.indexer;

import static demo.indexer.IndexLog.HASH;

import dev.protolog.ProtoLog;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;

/**
 * FNV-1a, 64 bits: simple, and good enough to find candidates; files with equal hashes are compared
 * byte by byte.
 */
final class ContentHash {
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private long state = BASIS;
    private long bytes;

    private ContentHash() {}

    /** Runs on a worker, so messages go to {@code notes}. */
    static Long of(FileEntry entry, WorkerPool.Notes notes) throws IOException {
        ContentHash hash = new ContentHash();
        byte[] buffer = new byte[1 << 14];
        try (InputStream in = Files.newInputStream(entry.file())) {
            int count;
            while ((count = in.read(buffer)) >= 0)
                hash.add(buffer, count);
        }
        long state = hash.state;
        notes.add(new Runnable() {
            @Override
            public void run() {
                ProtoLog.v(HASH, "hash %016x of %s", state, entry.name());
                if (state == 0)
                    ProtoLog.w(HASH, "%s hashes to %x, octal %o: made for it?", entry.name(), state, state);
            }
        });
        notes.add(() -> ProtoLog.v(HASH, "%s: as a signed number %20d", entry.name(), state));
        notes.add(hash::report);
        return state;
    }

    private void add(byte[] buffer, int count) {
        for (int i = 0; i < count; i++)
            state = (state ^ buffer[i] & 0xff) * PRIME;
        bytes += count;
    }

    private void report() {
        ProtoLog.d(HASH, "hashed %g bytes (%d)", (double) bytes, bytes);
    }
}
