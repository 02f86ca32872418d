package app;

import dev.protolog.Init;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Runs a phase of the workers for each line on standard input, recorded, and listens to operators:
 * {@code SwitchedWorkers TRACE}.
 */
public final class SwitchedWorkers {
    private SwitchedWorkers() {}

    public static void main(String[] args) throws Exception {
        new Init().groups(AppLog.values()).start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Session session = Session.builder().file(Path.of(args[0])).enableAll().bufferBytes(16 << 20).start();
        System.out.println("ready ");
        int phase = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Workers.run(phase++);
            ProtoLog.flushText(Duration.ofSeconds(60));
            System.err.println("---");
        }
        session.stop();
    }
}
