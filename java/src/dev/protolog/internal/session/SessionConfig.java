package dev.protolog.internal.session;

import dev.protolog.internal.write.FillPolicy;
import java.nio.file.Path;

/**
 * The settings of a session. {@code file} is the trace, null for none; {@code recording} the file
 * or folder of the buffer of one that doesn't stream, null where that ends with the process;
 * {@code compression} is zlib's level, 0 for none; {@code waitNanos} how long a message waits for a
 * chunk; {@code earlier} the treatment of the trace of the last run; {@code report} its report in
 * the end.
 */
public record SessionConfig(Path file, Path recording, Filter filter, FillPolicy policy, int bufferBytes, int maxStringBytes,
        boolean hasLocations, long waitNanos, int compression, Segments.Limits limits, EarlierRuns.Earlier earlier, EndReport report) {
    boolean isStream() {
        return policy == FillPolicy.STREAM;
    }
}
