package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.ProtoLog;

/**
 * Threads that log arguments of every type at every level, side by side. Each text begins with the
 * name of its thread, so that the order of each can be compared. Nothing here depends on the
 * runtime but the API of log calls, and the templates are ones that every reader has whole.
 */
final class Workers {
    private static final int THREADS = 4;
    private static final int ROUNDS = 50;

    private Workers() {}

    /** Constants with a text of their own, one of them in a class of its own. */
    private enum Kind {
        PLAIN,
        NAMED {
            @Override
            public String toString() {
                return "a kind with a name";
            }
        }
    }

    /** An exception that says nothing of itself but its number. */
    private static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure(int number, Throwable cause) {
            super(number % 2 == 0 ? null : "failure " + number, cause);
        }

        @Override
        public String getLocalizedMessage() {
            return getMessage() == null ? null : getMessage() + ", größer";
        }
    }

    /** Logs the messages of a phase, and waits until all are logged. */
    static void run(int phase) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            String name = "worker " + phase + "." + t;
            threads[t] = new Thread(() -> work(name), name);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work(String name) {
        for (int round = 0; round < ROUNDS; round++) {
            numbers(name, round);
            texts(name, round);
            objects(name, round);
        }
        ProtoLog.wtf(NET, "%s has ended", name);
    }

    private static void numbers(String name, int round) {
        byte small = (byte) (round - 25);
        short medium = (short) (round * 700);
        long large = Long.MIN_VALUE + round;
        Integer boxed = round % 2 == 0 ? null : -round;
        Double ratio = round % 3 == 0 ? null : round / 7.0;
        ProtoLog.v(NET, "%s: %d %d %d %d %d", name, small, medium, round, large, (char) ('a' + round % 26));
        ProtoLog.d(DISK, "%s: boxed %d, %x, %o", name, boxed, -round, (long) round << 33);
        ProtoLog.i(NET, "%s: %f %f %e", name, round / 3f, ratio, -1e-9 * round);
        ProtoLog.w(DISK, "%s: %b and %b", name, round % 2 == 0, Boolean.valueOf(round % 5 == 0));
    }

    private static void texts(String name, int round) {
        StringBuilder changing = new StringBuilder("text ").append(round);
        Object nothing = null;
        ProtoLog.i(DISK, "%s", name);
        ProtoLog.e(NET, "%s: %s, %s, %s", name, changing, nothing, Thread.State.values()[round % 6]);
        changing.append(" changed");
        ProtoLog.wtf(DISK, "%s: grün %s %d \ud83d\ude00", name, round % 10 == 0 ? "long ".repeat(500) : "Ωmega", round);
        ProtoLog.d(NET, "%s: %s", name, new IllegalStateException("round " + round).getMessage());
    }

    private static void objects(String name, int round) {
        Kind kind = Kind.values()[round % 2];
        ProtoLog.v(DISK, "%s: %s of %s", name, kind, kind.getDeclaringClass());
        Object[] none = null;
        ProtoLog.w(NET, "%s: %s %s %s %s", name, new int[round % 3], new String[][] {{name}, null}, name.toCharArray(), none);
        ProtoLog.i(DISK, "%s: %s", name, (Object) new Kind[] {kind});
        Throwable cause = new AssertionError(kind);
        ProtoLog.e(NET, "%s: %s, caused by %s", name, new Failure(round, cause), cause);
        ProtoLog.d(DISK, "%s: %s", name, round % 4 == 0 ? new StackOverflowError() : new InterruptedException("round " + round));
    }
}
