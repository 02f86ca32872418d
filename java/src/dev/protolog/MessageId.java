package dev.protolog;

import dev.protolog.internal.groups.GroupNames;
import dev.protolog.internal.proto.Xxh3;
import java.nio.charset.StandardCharsets;

/**
 * Ids of messages and groups, as the tool computes them.
 *
 * <p>A message id is the XXH3-64 of place, NUL, template, NUL, level name, NUL, full name of the
 * group. Place is package path and file name ({@code com/foo/Bar.java}), and empty for a message
 * that no tool has seen. Invariant: equal input gives equal ids here, in the tool and in Rust; the
 * test of this class reads the same vectors as theirs.
 */
public final class MessageId {
    private MessageId() {}

    /** The id of a message. {@code group} is the group's full name, see {@link #fullName}. */
    public static long of(String place, String template, LogLevel level, String group) {
        return Xxh3.hash(utf8(String.join("\0", place, template, level.name(), group)));
    }

    /**
     * The id of a message whose arguments have names, a list as {@code bytes,host}: it follows the
     * template. With an empty list it is that of a message without.
     */
    public static long of(String place, String template, String names, LogLevel level, String group) {
        return of(place, names.isEmpty() ? template : template + "\0" + names, level, group);
    }

    /** The id of a message of an unprocessed call. */
    public static long ofUnprocessed(String template, LogLevel level, IProtoLogGroup group) {
        return of("", template, level, fullName(group));
    }

    /** The id of the group with this full name, an unsigned 32-bit number. */
    public static int ofGroup(String fullName) {
        return (int) Xxh3.hash(utf8(fullName));
    }

    /**
     * A group's full name: canonical name of its enum, dot, constant ({@code com.foo.AppLog.NET});
     * of a logger, its name.
     */
    public static String fullName(IProtoLogGroup group) {
        return GroupNames.fullName(group, group.name());
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
