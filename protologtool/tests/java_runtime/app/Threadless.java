package app;

import dev.protolog.Init;
import dev.protolog.InitException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Listens to operators while the process may have no more threads, and once it may:
 * {@code Threadless DIRECTORY}. It prints the files in the directory after each.
 */
public final class Threadless {
    private Threadless() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> others = new ArrayList<>();
        try {
            while (true) {
                Thread other = new Thread(() -> awaitQuietly(end));
                other.setDaemon(true);
                other.start();
                others.add(other);
            }
        } catch (OutOfMemoryError e) {
            System.out.println("no more threads");
        }
        listen(directory);
        end.countDown();
        for (Thread other : others) {
            other.join();
        }
        listen(directory);
        Init.stop();
    }

    private static void listen(Path directory) {
        try {
            new Init().directory(directory).persistentSettings(false).start();
            System.out.println("listens, files: " + directory.toFile().list().length);
        } catch (InitException e) {
            System.out.println(e.getMessage().lines().skip(1).findFirst().orElse("") + ", files: " + directory.toFile().list().length);
        }
    }

    private static void awaitQuietly(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            // It ends all the same.
        }
    }
}
