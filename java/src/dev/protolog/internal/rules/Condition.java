package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import dev.protolog.internal.groups.GroupPattern;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.WrittenName;
import java.util.Locale;

/**
 * A condition on a call. Its text is the condition in full, by its keyword.
 *
 * <p>Invariant: what is not known of a call meets no condition.
 */
interface Condition {
    /** The last line of a whole file. */
    long LAST_LINE = 0xffff_ffffL;

    boolean holds(KnownCall call);

    /** True if nothing is known of the call that decides it. */
    boolean isUnknown(KnownCall call);

    /** Its group or its module has this name. */
    record Name(String name) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return isNamed(name, call.group()) || isNamed(name, call.module());
        }

        /** A module that comes later does not count: each group would ask for it. */
        @Override
        public boolean isUnknown(KnownCall call) {
            return call.group().isEmpty();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** Its group has this name. */
    record Group(String name) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return isNamed(name, call.group());
        }

        @Override
        public boolean isUnknown(KnownCall call) {
            return call.group().isEmpty();
        }

        @Override
        public String toString() {
            return "group " + name;
        }
    }

    /** Its module has this name. */
    record Module(String name) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return isNamed(name, call.module());
        }

        @Override
        public boolean isUnknown(KnownCall call) {
            return call.module().isEmpty();
        }

        @Override
        public String toString() {
            return "module " + name;
        }
    }

    /** It is in these lines of the file whose path ends so. */
    record File(String path, long first, long last) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return endsPath(call.file(), WrittenName.read(path)) && (isWhole() || call.lines().stream().anyMatch(line -> line >= first && line <= last));
        }

        private boolean isWhole() {
            return first == 1 && last == LAST_LINE;
        }

        @Override
        public boolean isUnknown(KnownCall call) {
            return call.file().isEmpty();
        }

        @Override
        public String toString() {
            return "file " + path + (isWhole() ? "" : first == last ? ":" + first : ":" + first + "-" + last);
        }
    }

    /** Its template has this text, which is in quotation marks. */
    record Template(String text) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return call.template().contains(WrittenName.read(text));
        }

        @Override
        public boolean isUnknown(KnownCall call) {
            return call.template().isEmpty();
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** It has this id. */
    record Id(long id) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return call.id() != null && call.id() == id;
        }

        @Override
        public boolean isUnknown(KnownCall call) {
            return call.id() == null;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "#%016x", id);
        }
    }

    /** It has one of these levels, a bit for each. */
    record Levels(int levels) implements Condition {
        @Override
        public boolean holds(KnownCall call) {
            return call.level() != null && (levels & LevelSet.bit(call.level())) != 0;
        }

        @Override
        public boolean isUnknown(KnownCall call) {
            return call.level() == null;
        }

        /** True if it takes this level not only as more severe than all that it asks for. */
        boolean names(LogLevel level) {
            boolean isOpen = (levels & LevelSet.bit(LogLevel.WTF)) != 0;
            int least = Integer.numberOfTrailingZeros(levels);
            return (levels & LevelSet.bit(level)) != 0 && (!isOpen || level.ordinal() == least || least >= LogLevel.WARN.ordinal());
        }

        @Override
        public String toString() {
            return name(Integer.numberOfTrailingZeros(levels)) + "-" + name(Integer.SIZE - 1 - Integer.numberOfLeadingZeros(levels));
        }

        private static String name(int bit) {
            return LogLevel.values()[bit].name().toLowerCase(Locale.ROOT);
        }
    }

    private static boolean isNamed(String pattern, String name) {
        return !name.isEmpty() && GroupPattern.matches(pattern, name);
    }

    /** True if a path has these last segments. */
    private static boolean endsPath(String path, String end) {
        int before = path.length() - end.length();
        return path.endsWith(end) && (before == 0 || path.charAt(before - 1) == '/' || path.charAt(before - 1) == '\\');
    }
}
