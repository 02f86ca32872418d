package dev.protolog.internal.text;

import dev.protolog.LogLevel;
import dev.protolog.TextLine;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.proto.Utf8;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Lines in logcat's threadtime form:
 * {@code 11-20 18:27:01.123  1234  1240 D Net     : sent 512 bytes}.
 *
 * <p>Invariants: each line of a message has the header; a line has at most {@link #MAX} bytes of
 * UTF-8, its end included, and a longer one is cut and ends in an ellipsis; control characters are
 * escaped.
 */
public final class ThreadtimeLines {
    /** The most bytes of a line: a pipe takes so many whole. */
    static final int MAX = 4096;

    private static final int TAG_WIDTH = 8;
    private static final int TAG_MAX = 64;
    private static final String ELLIPSIS = "…";

    private final String header;
    private final String end;
    private final Consumer<byte[]> out;
    private final StringBuilder line = new StringBuilder();
    private int bytes;
    private boolean isCut;

    private ThreadtimeLines(String header, String end, Consumer<byte[]> out) {
        this.header = header;
        this.end = end;
        this.out = out;
        begin();
    }

    /**
     * Gives each line of a message to {@code out}, in the color of its level if it is for a
     * terminal.
     */
    public static void print(TextLine message, boolean isColored, Consumer<byte[]> out) {
        String color = isColored ? color(message.level()) : "";
        String header = color + header(message);
        ThreadtimeLines lines = new ThreadtimeLines(header, color.isEmpty() ? "\n" : "\033[0m\n", out);
        lines.add(message.text());
        lines.end();
    }

    private static String header(TextLine message) {
        LocalDateTime time = LocalDateTime.ofInstant(message.time(), ZoneId.systemDefault());
        StringBuilder shown = new StringBuilder();
        message.tag().codePoints().filter(it -> it != '\n').limit(TAG_MAX).forEach(it -> shown.append(Controls.escaped(it)));
        while (shown.length() < TAG_WIDTH) {
            shown.append(' ');
        }
        return String.format(Locale.ROOT, "%02d-%02d %02d:%02d:%02d.%03d %5d %5d %s %s: ", time.getMonthValue(), time.getDayOfMonth(), time.getHour(),
                time.getMinute(), time.getSecond(), time.getNano() / 1_000_000, RunningProgram.pid(), message.threadId(),
                LevelSet.letter(message.level()), shown);
    }

    private void add(String text) {
        boolean isEnded = false;
        for (int i = 0; i < text.length();) {
            int next = text.codePointAt(i);
            i += Character.charCount(next);
            // A line feed ends the line only if more follows.
            if (isEnded) {
                end();
                begin();
            }
            isEnded = next == '\n';
            if (!isEnded) {
                push(Controls.escaped(next));
            }
        }
    }

    /** Appends a character, if it fits before an ellipsis and the end. */
    private void push(String character) {
        int size = Utf8.length(character);
        if (!isCut && bytes + size + Utf8.length(ELLIPSIS) + end.length() <= MAX) {
            line.append(character);
            bytes += size;
        } else if (!isCut) {
            line.append(ELLIPSIS);
            isCut = true;
        }
    }

    private void begin() {
        line.setLength(0);
        line.append(header);
        bytes = Utf8.length(header);
        isCut = false;
    }

    private void end() {
        out.accept(line.append(end).toString().getBytes(StandardCharsets.UTF_8));
    }

    private static String color(LogLevel level) {
        return switch (level) {
            case VERBOSE -> "";
            case DEBUG -> "\033[34m";
            case INFO -> "\033[32m";
            case WARN -> "\033[33m";
            case ERROR -> "\033[31m";
            case WTF -> "\033[1;31m";
        };
    }
}
