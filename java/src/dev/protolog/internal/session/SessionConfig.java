package dev.protolog.internal.session;

import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.rules.ByteLimit;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.write.FillPolicy;
import java.nio.file.Path;
import java.util.List;

/**
 * The settings of a session.
 *
 * @param file the trace; null for none
 * @param recording the file or folder of the buffer of a session that doesn't stream; null if the
 *     buffer ends with the process
 * @param waitNanos the longest that a message waits for a chunk
 * @param compression zlib's level; 0 for none
 * @param earlier the treatment of the trace of the last run
 * @param report the report at its end
 * @param rules the rules of single calls that come with it
 * @param byteLimit the limit of the bytes of messages that are not pinned; null for none
 * @param triggers the events at which it writes files of their own; null for none
 * @param pinned the messages that have a ring of their own; null for none
 */
public record SessionConfig(Path file, Path recording, Filter filter, FillPolicy policy, int bufferBytes, int maxStringBytes,
        boolean hasLocations, long waitNanos, int compression, Segments.Limits limits, EarlierRuns.Earlier earlier, EndReport report, List<Rule> rules,
        ByteLimit byteLimit, TriggerSettings triggers, PinnedMessages pinned) {
    boolean isStream() {
        return policy == FillPolicy.STREAM;
    }

    /** The size of the ring of pinned messages; 0 for none. */
    int pinnedBytes() {
        return pinned == null ? 0 : pinned.bytes();
    }
}
