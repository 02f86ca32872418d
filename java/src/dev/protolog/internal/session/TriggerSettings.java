package dev.protolog.internal.session;

import dev.protolog.internal.write.Causes;
import java.nio.file.Path;
import java.util.List;

/**
 * The settings of a session's triggers; times are in nanoseconds.
 *
 * @param path the files lie beside it, and begin with its name
 * @param causes those that the session is started with
 * @param watchesUncaught true if one is an exception that nobody catches
 * @param before the time before an event that its file has
 * @param beforeBytes the most bytes of chunks before it
 * @param after the time after it
 * @param interval the least time between two files of one cause
 * @param keptFiles the files that stay
 * @param keptBytes their most bytes
 * @param family the family of programs that have files of each other's events; null for none
 */
public record TriggerSettings(Path path, List<Causes.Known> causes, boolean watchesUncaught, long before, long beforeBytes, long after, long interval,
        int keptFiles, long keptBytes, String family) {}
