package dev.protolog;

import dev.protolog.internal.text.TextQueue;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The standard error output of a piece of code, with LF as line end. */
public final class Captured {
    private Captured() {}

    public static synchronized String lines(Runnable code) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            code.run();
            TextQueue.flush(Duration.ofSeconds(60));
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8).replace(System.lineSeparator(), "\n");
    }
}
