package dev.protolog.internal.write;

import dev.protolog.internal.proto.Utf8;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.text.Arguments;

/**
 * A message, and how often it was repeated since.
 *
 * <p>Invariant: it refers to no session, and to no text that is longer than those that are
 * compared.
 */
final class MessageRun {
    /** The time after which a message is written again, in nanoseconds. */
    static final long NANOS = 1_000_000_000;
    /**
     * The most bytes of arguments that are compared: eight of a number, one of its kind, and two
     * beside each string. As in {@code protolog-rt/src/writer/repeats.rs}.
     */
    static final int MAX_ARGUMENTS = 224;
    /** The most characters of a stack trace that is compared. */
    static final int MAX_TRACE = 16 << 10;

    /** Its id; 0 for none. */
    long message;
    int group;
    RequestMark request;
    /** How often it was repeated. */
    long count;
    /** What changes with all that the run rests on. */
    private RuledCall rule;
    private long routes;
    private int word;
    private long began;
    private int arguments;
    private long kinds;
    private long[] words = {};
    private String[] texts = {};
    private String thrown;

    /** True if the call says the same, and what the run rests on is as it was. */
    boolean isSame(Call call, long nowRoutes, int nowWord, long now) {
        if (message != call.id || rule != call.rule || routes != nowRoutes || word != nowWord || request != call.request) {
            return false;
        }
        long age = now - began;
        if (age < 0 || age >= NANOS || arguments != call.count || kinds != call.kinds) {
            return false;
        }
        for (int i = 0; i < arguments; i++) {
            boolean isText = call.kind(i) == Arguments.TEXT;
            if (isText ? !texts[i].equals(call.texts[i]) : words[i] != call.words[i]) {
                return false;
            }
        }
        return thrown == null ? call.thrown == null : thrown.equals(call.thrown);
    }

    /** Begins with the message of a call, unless it is too long to compare. */
    void begin(Call call, long nowRoutes, int nowWord, long now) {
        message = 0;
        count = 0;
        if (!isShort(call)) {
            return;
        }
        if (words.length < call.count) {
            words = new long[call.count];
            texts = new String[call.count];
        }
        for (int i = 0; i < call.count; i++) {
            words[i] = call.words[i];
            texts[i] = call.texts[i];
        }
        group = call.group.id;
        rule = call.rule;
        routes = nowRoutes;
        word = nowWord;
        request = call.request;
        began = now;
        arguments = call.count;
        kinds = call.kinds;
        thrown = call.thrown;
        // Last: an error before leaves no run.
        message = call.id;
    }

    private static boolean isShort(Call call) {
        int bytes = 0;
        for (int i = 0; i < call.count; i++) {
            switch (call.kind(i)) {
                case Arguments.TEXT -> {
                    int most = MAX_ARGUMENTS - bytes;
                    bytes += call.texts[i].length() > most ? most + 1 : 3 + Utf8.length(call.texts[i]);
                }
                case Arguments.BOOL -> bytes += 2;
                default -> bytes += 1 + Long.BYTES;
            }
            if (bytes > MAX_ARGUMENTS) {
                return false;
            }
        }
        return call.thrown == null || call.thrown.length() <= MAX_TRACE;
    }
}
