package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.nio.file.Path;

/**
 * Runs another program while it logs: {@code Parent TRACE COMMAND…}. It logs until that has ended,
 * and one message more; the trace has its exit code.
 */
public final class Parent {
    private Parent() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        Session session = Session.builder().file(Path.of(args[0])).enableAll().bufferBytes(16 << 20).start();
        ProtoLog.i(AppLog.NET, "starts");
        session.flush();
        String[] command = java.util.Arrays.copyOfRange(args, 1, args.length);
        Process child = new ProcessBuilder(command).inheritIO().start();
        System.out.println("child " + child.pid());
        for (int i = 0; child.isAlive(); i++) {
            ProtoLog.d(AppLog.DISK, "waits, %d", i);
            Thread.sleep(1);
        }
        ProtoLog.i(AppLog.NET, "the child has ended with %d", child.exitValue());
        session.stop();
    }
}
