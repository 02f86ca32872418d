package app;

import dev.protolog.Init;
import dev.protolog.InitException;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.nio.file.Path;

/**
 * Listens to operators where the JDK has no module that says who asks, and records all the same:
 * {@code java --limit-modules java.base app.Deaf DIRECTORY}.
 */
public final class Deaf {
    private Deaf() {}

    @SuppressWarnings("try")
    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        for (int i = 0; i < 2; i++) {
            try {
                new Init().directory(directory).persistentSettings(false).start();
                System.out.println("listens");
            } catch (InitException e) {
                System.out.println(e.getMessage());
            }
            Init.stop();
        }
        try (Session session = Session.builder().file(directory.resolve("a.pftrace")).enableAll().start()) {
            ProtoLog.w(AppLog.NET, "recorded");
        }
    }
}
