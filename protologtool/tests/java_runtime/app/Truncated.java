package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Loses the file of a session while it logs: {@code Truncated DIRECTORY}. The other session goes on. */
public final class Truncated {
    private Truncated() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        Path recording = Path.of(args[0], "truncated.rec");
        Session lost = Session.builder().recordTo(recording).file(Path.of(args[0], "lost.pftrace")).enableAll().start();
        Session other = Session.builder().file(Path.of(args[0], "other.pftrace")).enableAll().start();
        for (int i = 0; i < 20_000; i++) {
            ProtoLog.i(AppLog.NET, "message %d", i);
            if (i == 10_000) {
                try (FileChannel file = FileChannel.open(recording, StandardOpenOption.WRITE)) {
                    file.truncate(0);
                }
            }
        }
        try {
            lost.stop();
        } catch (IOException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(other.stop().messages());
    }
}
