package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.text.WrittenName;

/**
 * The answers of a group's methods, which are the application's code: they may take its locks, log,
 * start sessions and throw anything.
 *
 * <p>Invariant: they are asked while no lock of this library is held, so that no thread waits for
 * another one in a circle. A method that throws has a default, so that the group's messages are
 * recorded all the same; only errors of memory and stack, which pass, are the caller's.
 */
record GroupAnswers(String fullName, String tag, boolean isCompiled, boolean isRecorded, int printed) {
    /** The name of a group that has none. */
    private static final String UNNAMED = "unnamed";

    static GroupAnswers of(IProtoLogGroup group) {
        String name = name(group);
        boolean isCompiled = isEnabled(group);
        String fullName = WrittenName.wellFormed(GroupNames.fullName(group, name));
        return new GroupAnswers(fullName, tag(group, name), isCompiled, isCompiled && isLogToProto(group),
                isCompiled ? Levels.current().printed(name, isLogToLogcat(group)) : 0);
    }

    private static String name(IProtoLogGroup group) {
        try {
            String name = group.name();
            return name == null ? UNNAMED : name;
        } catch (Throwable e) {
            pass(e);
            return UNNAMED;
        }
    }

    private static String tag(IProtoLogGroup group, String name) {
        try {
            String tag = group.getTag();
            return tag == null ? name : tag;
        } catch (Throwable e) {
            pass(e);
            return name;
        }
    }

    private static boolean isEnabled(IProtoLogGroup group) {
        try {
            return group.isEnabled();
        } catch (Throwable e) {
            pass(e);
            return true;
        }
    }

    private static boolean isLogToProto(IProtoLogGroup group) {
        try {
            return group.isLogToProto();
        } catch (Throwable e) {
            pass(e);
            return true;
        }
    }

    private static boolean isLogToLogcat(IProtoLogGroup group) {
        try {
            return group.isLogToLogcat();
        } catch (Throwable e) {
            pass(e);
            return false;
        }
    }

    private static void pass(Throwable thrown) {
        if (thrown instanceof Error error && PassingErrors.isOne(error)) {
            throw error;
        }
    }
}
