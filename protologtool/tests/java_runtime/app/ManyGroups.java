package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.nio.file.Path;

/**
 * Passes over three messages in each of many groups, and waits to be killed:
 * {@code ManyGroups DIRECTORY GROUPS}.
 */
public final class ManyGroups {
    private static final int TIMES = 3;

    private ManyGroups() {}

    private record Group(String name) implements IProtoLogGroup {
        @Override
        public boolean isLogToLogcat() {
            return false;
        }

        @Override
        public String getTag() {
            return name;
        }
    }

    public static void main(String[] args) throws Exception {
        int groups = Integer.parseInt(args[1]);
        Session.builder().enableAll().recordTo(Path.of(args[0]).resolve("app.rec")).sample("debug", "1/1000000000").start();
        for (int i = 0; i < TIMES * groups; i++) {
            ProtoLog.d(new Group("GROUP_" + i % groups), "a message");
        }
        System.out.println("ready ");
        Thread.sleep(Long.MAX_VALUE);
    }
}
