package dev.protolog.internal.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A template with braces, taken apart, and the template that it becomes for arguments of certain
 * types.
 *
 * <p>Integers are {@code %d} and booleans {@code %b}; all else is {@code %s} with its own text, so
 * that a message reads as the logger itself would write it. After the arguments come the values of
 * pairs.
 *
 * <p>Invariant: immutable.
 *
 * @param template the template of protolog; its last arguments have the names of pairs
 * @param pieces the texts before, between and after the arguments
 * @param indexes the argument between two pieces
 */
public record BraceTemplate(NamedTemplate template, List<String> pieces, List<Integer> indexes) {
    /** The templates that are kept. Programs that make them as they run would fill the memory. */
    private static final int MAX_KEPT = 4096;
    private static final long MAX_KEPT_LENGTH = 4 << 20;
    /** The most arguments and pairs that have a conversion each; a message has no more than 32. */
    private static final int MAX_ARGUMENTS = 20;
    private static final int MAX_PAIRS = 8;
    /** The most digits between numbered braces. */
    private static final int MAX_DIGITS = 2;
    private static final ConcurrentHashMap<Key, BraceTemplate> KEPT = new ConcurrentHashMap<>();
    private static final AtomicLong KEPT_LENGTH = new AtomicLong();

    /**
     * Everything that a template depends on; without a text it is the key of messages whose text is
     * their argument.
     */
    private record Key(String text, int count, long kinds, boolean isNumbered, List<String> names, long pairKinds) {
        /**
         * Spelled out: the code that the JDK makes for records keeps the class loader of the last
         * one that it has compared.
         */
        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && count == key.count && kinds == key.kinds && isNumbered == key.isNumbered
                    && pairKinds == key.pairKinds && Objects.equals(text, key.text) && names.equals(key.names);
        }

        @Override
        public int hashCode() {
            return Objects.hash(text, count, kinds, isNumbered, names, pairKinds);
        }
    }

    /** A message: its template and values. */
    public record Message(NamedTemplate template, Object[] values) {}

    /** The message of a call; {@code pairs} may be null. */
    public static Message message(String text, Object[] args, boolean isNumbered, Map<String, ?> pairs) {
        return message(text, args, isNumbered, pairs, null);
    }

    /**
     * As above. Null where template and arguments do not give {@code formatted}, the text that
     * their logger makes of them.
     */
    public static Message message(String text, Object[] args, boolean isNumbered, Map<String, ?> pairs, String formatted) {
        boolean hasArguments = args != null && args.length > 0 && text != null;
        Map<String, ?> named = pairs == null ? Map.of() : pairs;
        int count = hasArguments ? args.length : 0;
        long kinds = 0;
        for (int i = 0; i < Math.min(count, Arguments.MAX); i++) {
            kinds |= kind(args[i]) << 2 * i;
        }
        Key key = new Key(hasArguments ? text : null, count, kinds, isNumbered, names(named), pairKinds(named));
        BraceTemplate known = KEPT.get(key);
        BraceTemplate made = known == null ? make(key) : known;
        if (formatted != null && (made.indexes.isEmpty() || !made.render(text, args, Map.of()).equals(formatted))) {
            return null;
        }
        if (known == null && !made.keep(key)) {
            return new Message(new NamedTemplate("%s", ""), new Object[] {made.render(text, args, named)});
        }
        List<Object> values = new ArrayList<>();
        made.indexes.forEach(index -> values.add(hasArguments ? value(args[index]) : text));
        named.values().forEach(value -> values.add(value(value)));
        return new Message(made.template, values.toArray());
    }

    /** False where it is too much to be kept. */
    private boolean keep(Key key) {
        int length = key.text == null ? 0 : key.text.length();
        if (indexes.size() > MAX_ARGUMENTS || key.names.size() > MAX_PAIRS || KEPT.size() >= MAX_KEPT
                || KEPT_LENGTH.get() + length > MAX_KEPT_LENGTH) {
            return false;
        }
        if (KEPT.putIfAbsent(key, this) == null) {
            KEPT_LENGTH.addAndGet(length);
        }
        return true;
    }

    private static BraceTemplate make(Key key) {
        List<String> pieces = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        if (key.text == null) {
            pieces.addAll(List.of("", ""));
            indexes.add(0);
        } else {
            split(key, pieces, indexes);
        }
        StringBuilder template = new StringBuilder(escape(pieces.get(0)));
        for (int i = 0; i < indexes.size(); i++) {
            long kind = key.text == null ? Arguments.TEXT : kind(key, indexes.get(i));
            template.append(conversion(kind)).append(escape(pieces.get(i + 1)));
        }
        for (int i = 0; i < key.names.size(); i++) {
            long kind = i < MAX_PAIRS ? key.pairKinds >>> 2 * i & 3 : Arguments.TEXT;
            template.append(' ').append(escape(key.names.get(i))).append('=').append(conversion(kind));
        }
        return new BraceTemplate(NamedTemplate.of(template.toString(), indexes.size(), key.names), pieces, indexes);
    }

    /** The names of pairs. Other loggers take a null for one. */
    private static List<String> names(Map<String, ?> pairs) {
        if (pairs.isEmpty()) {
            return List.of();
        }
        List<String> names = new ArrayList<>(pairs.size());
        pairs.keySet().forEach(name -> names.add(String.valueOf(name)));
        return names;
    }

    /** The kinds of the values of pairs. Messages with more of them are one text. */
    private static long pairKinds(Map<String, ?> pairs) {
        long kinds = 0;
        int at = 0;
        for (Object value : pairs.values()) {
            kinds |= at < MAX_PAIRS ? kind(value) << 2 * at : 0;
            at++;
        }
        return kinds;
    }

    private static String conversion(long kind) {
        return kind == Arguments.INTEGER ? "%d" : kind == Arguments.BOOL ? "%b" : "%s";
    }

    /** The kind of an argument. Those with a high number are in messages that are one text. */
    private static long kind(Key key, int index) {
        return index < Arguments.MAX ? key.kinds >>> 2 * index & 3 : Arguments.TEXT;
    }

    /**
     * Splits a text at its braces. Braces that name no argument are text; a backslash before one
     * makes it text, too.
     */
    private static void split(Key key, List<String> pieces, List<Integer> indexes) {
        String text = key.text;
        StringBuilder piece = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            int close = c == '{' ? close(text, at) : -1;
            int index = close < 0 ? -1 : index(text.substring(at + 1, close), key.isNumbered, indexes.size());
            if (c == '\\' && !key.isNumbered && indexes.size() < key.count) {
                at = unescape(text, at, piece) - 1;
            } else if (index >= 0 && index < key.count) {
                pieces.add(piece.toString());
                piece.setLength(0);
                indexes.add(index);
                at = close;
            } else {
                piece.append(c);
            }
        }
        pieces.add(piece.toString());
    }

    /**
     * Takes backslashes, and gives the character after them. One before braces makes them text; of
     * two or more there, the last one says that the others are text.
     */
    private static int unescape(String text, int from, StringBuilder piece) {
        int end = from;
        while (end < text.length() && text.charAt(end) == '\\') {
            end++;
        }
        boolean isOne = end - from == 1;
        if (!text.startsWith("{}", end)) {
            piece.append(text, from, end);
            return end;
        }
        piece.append(isOne ? "{}" : text.substring(from, end - 1));
        return isOne ? end + 2 : end;
    }

    /**
     * The end of braces that may name an argument: at most two characters are between them. So many
     * braces take no more time than other text.
     */
    private static int close(String text, int open) {
        for (int at = open + 1; at < text.length() && at <= open + 1 + MAX_DIGITS; at++) {
            if (text.charAt(at) == '}') {
                return at;
            }
        }
        return -1;
    }

    private static int index(String between, boolean isNumbered, int next) {
        if (!isNumbered) {
            return between.isEmpty() ? next : -1;
        }
        boolean isNumber = !between.isEmpty() && between.length() <= MAX_DIGITS && between.chars().allMatch(c -> c >= '0' && c <= '9');
        return isNumber ? Integer.parseInt(between) : -1;
    }

    private String render(String text, Object[] args, Map<String, ?> pairs) {
        StringBuilder out = new StringBuilder(pieces.get(0));
        for (int i = 0; i < indexes.size(); i++) {
            out.append(args == null || args.length == 0 ? text : value(args[indexes.get(i)])).append(pieces.get(i + 1));
        }
        pairs.forEach((name, value) -> out.append(' ').append(name).append('=').append(MessageText.textOf(value)));
        return out.toString();
    }

    private static long kind(Object arg) {
        boolean isInteger = arg instanceof Integer || arg instanceof Long || arg instanceof Short || arg instanceof Byte;
        return isInteger ? Arguments.INTEGER : arg instanceof Boolean ? Arguments.BOOL : Arguments.TEXT;
    }

    private static Object value(Object arg) {
        return kind(arg) == Arguments.TEXT ? MessageText.textOf(arg) : arg;
    }

    private static String escape(String text) {
        return text.replace("%", "%%");
    }
}
