package dev.protolog;

import java.nio.file.Path;

/**
 * The settings of a session. {@code file} is the trace, null for none; {@code recording} the file that has the buffer, null where that
 * ends with the process.
 */
record SessionConfig(Path file, Path recording, Filter filter, boolean isRing, int bufferBytes, int maxStringBytes, boolean hasLocations) {}
