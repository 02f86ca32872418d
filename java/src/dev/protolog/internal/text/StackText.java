package dev.protolog.internal.text;

import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.proto.Utf8;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The stack trace of an exception as Java prints it, short enough for a trace: the exception, those
 * that it suppressed and its causes, each with its frames. The last cause says most, so a text that
 * is too long leaves out frames of each rather than the end.
 *
 * <p>Invariants: at most {@value #MAX} bytes of UTF-8, by whole lines, unless the first line alone
 * is longer; exceptions that name each other end; a method of an exception that throws is named,
 * and hurts nobody.
 */
public final class StackText {
    /** A string of a trace has 4096 bytes; the stack of the call itself may be before this one. */
    private static final int MAX = 3800;
    /** The most frames of each exception, and those that are tried if the text is too long. */
    private static final int[] FRAMES = {1024, 64, 32, 16, 8, 4, 2, 1, 0};
    /** The most exceptions of a text. */
    private static final int MAX_EXCEPTIONS = 64;

    private final StringBuilder out = new StringBuilder();
    private final Set<Throwable> shown = Collections.newSetFromMap(new IdentityHashMap<>());
    private final int frames;
    private int bytes;
    /** True once a line was left out. */
    private boolean isCut;

    private StackText(int frames) {
        this.frames = frames;
    }

    /** Code of the application runs here: {@code toString} of the exceptions. */
    public static String of(Throwable thrown) {
        try {
            StackText text = null;
            for (int frames : FRAMES) {
                text = new StackText(frames);
                text.append("", "", thrown, new StackTraceElement[0]);
                if (!text.isCut) {
                    break;
                }
            }
            return text.out.toString();
        } catch (RuntimeException | StackOverflowError e) {
            return MessageText.textOf(thrown);
        }
    }

    private void append(String indent, String before, Throwable thrown, StackTraceElement[] outer) {
        if (!shown.add(thrown)) {
            line(indent + before + "[CIRCULAR REFERENCE: " + MessageText.plainTextOf(thrown) + "]");
            return;
        }
        if (shown.size() > MAX_EXCEPTIONS) {
            isCut = true;
            return;
        }
        line(indent + before + MessageText.plainTextOf(thrown));
        StackTraceElement[] trace = answer(indent, thrown, "getStackTrace", thrown::getStackTrace);
        trace = trace == null ? new StackTraceElement[0] : trace;
        int common = 0;
        while (common < trace.length && common < outer.length
                && trace[trace.length - 1 - common].equals(outer[outer.length - 1 - common])) {
            common++;
        }
        int own = trace.length - common;
        int kept = Math.min(own, frames);
        for (int i = 0; i < kept; i++) {
            line(indent + "\tat " + trace[i]);
        }
        if (kept < trace.length) {
            line(indent + "\t... " + (trace.length - kept) + " more");
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            append(indent + "\t", "Suppressed: ", suppressed, trace);
        }
        Throwable cause = answer(indent, thrown, "getCause", thrown::getCause);
        if (cause != null) {
            append(indent, "Caused by: ", cause, trace);
        }
    }

    /** The answer of a method of the application; null where it throws, which a line says. */
    private <T> T answer(String indent, Throwable thrown, String method, Supplier<T> question) {
        try {
            return question.get();
        } catch (Throwable e) {
            if (e instanceof Error error && PassingErrors.isOne(error)) {
                throw error;
            }
            line(indent + "\t<" + thrown.getClass().getName() + "." + method + ": " + e.getClass().getName() + ">");
            return null;
        }
    }

    private void line(String text) {
        int length = Utf8.length(text) + 1;
        if (isCut || bytes > 0 && bytes + length > MAX) {
            isCut = true;
            return;
        }
        bytes += length;
        out.append(bytes == length ? "" : "\n").append(text);
    }
}
