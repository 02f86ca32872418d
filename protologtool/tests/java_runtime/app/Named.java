package app;

import dev.protolog.BridgedLogger;
import dev.protolog.Init;
import dev.protolog.LogLevel;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * Logs by loggers of any names, a message of each with each line of standard input; with an
 * argument, by many more of them.
 */
public final class Named {
    private static final List<BridgedLogger> LOGGERS = new ArrayList<>();
    private static final int MORE_THAN_GROUPS = 1100;

    private Named() {}

    public static void main(String[] args) throws Exception {
        String[] names = {
            "my logger", "[Catalina].[localhost]", "a/b/c", "a=b,c;d#e", "say \"hi\"", "back\\slash", "two\nlines", "\u001b[31mred\u202e", "größe", "*", " ",
        };
        for (String name : names) {
            LOGGERS.add(BridgedLogger.of(name));
        }
        LOGGERS.add(BridgedLogger.of("x".repeat(10_000)));
        for (int i = 0; args.length > 0 && i < MORE_THAN_GROUPS; i++) {
            LOGGERS.add(BridgedLogger.of("package" + i + ".Logger"));
        }
        log();
        new Init().start();
        System.out.println("ready ");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            log();
            dev.protolog.ProtoLog.flushText(java.time.Duration.ofSeconds(60));
            System.err.println("---");
        }
    }

    private static void log() {
        for (BridgedLogger logger : LOGGERS) {
            logger.log(LogLevel.INFO, "called {}", new Object[] {1}, null, null);
        }
    }
}
