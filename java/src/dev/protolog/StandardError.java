package dev.protolog;

import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.TextOutput;
import dev.protolog.internal.text.ThreadtimeLines;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * A sink that writes lines in logcat's threadtime form to standard error, in color on a terminal
 * unless {@code NO_COLOR} is set. Without a sink, messages are printed as {@code LEVEL TAG: text}.
 *
 * <p>Invariant: a line is written as a whole, past {@link System#err}; one that can't be written is
 * dropped.
 */
public final class StandardError implements TextSink {
    private final FileOutputStream out = new FileOutputStream(FileDescriptor.err);
    private final boolean isColored = isTerminal() && isUnset("NO_COLOR");

    /** A sink; all of them write to the same place. */
    public StandardError() {}

    @Override
    public void show(TextLine line) {
        ThreadtimeLines.print(line, isColored, this::write);
    }

    private void write(byte[] line) {
        try {
            out.write(line);
        } catch (IOException e) {
            // Nobody reads it.
            TextOutput.fail();
        }
    }

    private static boolean isUnset(String name) {
        String value = RunningProgram.variable(name);
        return value == null || value.isEmpty();
    }

    private static boolean isTerminal() {
        return RunningProgram.isTerminal(2);
    }
}
