package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A configuration file that a link leads to, in another directory, as in a container whose settings
 * are mounted.
 */
final class LinkedSettingsTest {
    private LinkedSettingsTest() {}

    private enum Log implements IProtoLogGroup {
        LINKED;

        @Override
        public String getTag() {
            return "Linked";
        }

        @Override
        public boolean isLogToLogcat() {
            return false;
        }
    }

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-linked");
        Path mounted = Files.createDirectory(directory.resolve("mounted"));
        Path config = Files.createSymbolicLink(directory.resolve("config"), Path.of("mounted/settings"));
        Path target = Files.writeString(mounted.resolve("settings"), "LINKED=error\n");
        Path trace = directory.resolve("app.pftrace");
        Init init = new Init().groups(Log.values()).directory(directory.resolve("run")).persistentSettings(false).configFile(config).reload();
        init.start();
        try (Session session = Session.builder().file(trace).enableAll().start()) {
            ProtoLog.d(Log.LINKED, "%d", 1);
            check("messages before the change", session.running().stats().messages(), 0L);
            Files.writeString(target, "LINKED=debug\n");
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (session.running().stats().messages() == 0 && System.nanoTime() < end) {
                Thread.sleep(5);
                ProtoLog.d(Log.LINKED, "%d", 2);
            }
            check("messages after the change", session.running().stats().messages() > 0, true);
        } finally {
            Init.stop();
            for (Path path : new Path[] {trace, config, target, mounted, directory.resolve("run"), directory}) {
                Files.deleteIfExists(path);
            }
        }
    }
}
