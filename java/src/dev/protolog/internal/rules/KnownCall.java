package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import java.util.List;

/**
 * A call, as far as it is known: empty is unknown.
 *
 * @param id null if it is not known
 * @param level null if it is not known
 * @param module in Rust the path of the module, in Java the package and the class
 * @param lines the lines, since one message may be at several
 */
public record KnownCall(Long id, LogLevel level, String group, String module, String file, List<Integer> lines, String template) {}
