package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Code of the application that the runtime calls: it blocks, or logs, and no other thread has to
 * wait for it.
 */
final class ForeignCodeTest {
    private static final long LIMIT_SECONDS = 20;

    private ForeignCodeTest() {}

    static void run() throws Exception {
        for (Method method : Method.values()) {
            blocks(method, true);
            blocks(method, false);
            logs(method);
        }
        loaderBlocks();
        answersChange();
    }

    private enum Method {
        NAME, TAG, ENABLED, PROTO, LOGCAT
    }

    /** A group that runs something on a thread that asks for the answer of a method. */
    private static class Talking implements IProtoLogGroup {
        volatile Method at;
        volatile Runnable action;
        volatile Thread thread;

        private void reach(Method method) {
            if (method == at && Thread.currentThread() == thread) {
                action.run();
            }
        }

        @Override
        public String name() {
            reach(Method.NAME);
            return "TALKING";
        }

        @Override
        public String getTag() {
            reach(Method.TAG);
            return "Talking";
        }

        @Override
        public boolean isEnabled() {
            reach(Method.ENABLED);
            return true;
        }

        @Override
        public boolean isLogToProto() {
            reach(Method.PROTO);
            return true;
        }

        @Override
        public boolean isLogToLogcat() {
            reach(Method.LOGCAT);
            return false;
        }
    }

    private static class Quiet extends Talking {}

    /**
     * A thread waits within a method, in its first message or in the start of a session, while
     * another one does all that there is.
     */
    private static void blocks(Method method, boolean isFirst) throws Exception {
        Talking group = new Talking();
        if (!isFirst) {
            ProtoLog.i(group, "registered");
        }
        blockWhile(group, method, isFirst ? () -> ProtoLog.i(group, "first") : ForeignCodeTest::startAndStop);
        check("a group whose " + method + " has blocked is there", Groups.known(group) != null, true);
    }

    private static void blockWhile(Talking group, Method method, Runnable asking) throws Exception {
        CountDownLatch isAsked = new CountDownLatch(1);
        CountDownLatch isOver = new CountDownLatch(1);
        group.action = () -> {
            isAsked.countDown();
            await(isOver);
        };
        Thread asker = daemon(asking);
        group.thread = asker;
        group.at = method;
        asker.start();
        check("asked", isAsked.await(LIMIT_SECONDS, TimeUnit.SECONDS), true);
        Thread other = daemon(() -> {
            ProtoLog.i(new Quiet(), "of another group");
            ProtoLog.i(group, "of this group");
            ProtoLog.printGroup(new Quiet(), LogLevel.WARN);
            startAndStop();
            Groups.all();
        });
        other.start();
        other.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
        check("other threads go on while " + method + " blocks", other.isAlive(), false);
        isOver.countDown();
        asker.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
        check("and so does the one that asks", asker.isAlive(), false);
    }

    /**
     * A method logs, to its own group and to one that does so in turn. Its own messages count as
     * lost while the group is not registered.
     */
    private static void logs(Method method) throws IOException {
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            Talking group = new Talking();
            Talking other = new Talking();
            group.thread = other.thread = Thread.currentThread();
            group.action = () -> {
                ProtoLog.i(group, "to itself");
                ProtoLog.i(other, "to the other one");
            };
            other.action = () -> ProtoLog.i(group, "back");
            group.at = other.at = method;
            ProtoLog.i(group, "first");
            SessionStats stats = session.running().stats();
            check("messages of a group that logs in " + method, stats.messages() + " and " + stats.lost(), "2 and 2");
            startAndStop();
            group.at = other.at = null;
        }
    }

    /** Groups are asked anew by {@link ProtoLog#init}, and by the start of a session. */
    private static void answersChange() throws IOException {
        AtomicBoolean isOn = new AtomicBoolean();
        IProtoLogGroup group = new Quiet() {
            @Override
            public boolean isLogToProto() {
                return isOn.get();
            }

            @Override
            public boolean isLogToLogcat() {
                return isOn.get();
            }
        };
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            ProtoLog.i(group, "is off");
            check("nothing is recorded", session.running().stats().messages(), 0L);
            isOn.set(true);
            ProtoLog.init();
            check("the group is on", Routing.of(group).isEnabled(), true);
            isOn.set(false);
            startAndStop();
            check("the group is off", Routing.of(group).isEnabled(), false);
        }
    }

    /** Another thread can log while a class loader looks for dictionaries. */
    private static void loaderBlocks() throws Exception {
        CountDownLatch isAsked = new CountDownLatch(1);
        CountDownLatch isOver = new CountDownLatch(1);
        ClassLoader slow = new Slow(isAsked, isOver);
        Thread asker = daemon(() -> Dictionaries.addLoader(slow));
        asker.start();
        check("the loader is asked", isAsked.await(LIMIT_SECONDS, TimeUnit.SECONDS), true);
        Thread other = daemon(() -> {
            ProtoLog.i(new Quiet(), "meanwhile");
            Dictionaries.groups();
        });
        other.start();
        other.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
        check("other threads go on while a class loader blocks", other.isAlive(), false);
        isOver.countDown();
        asker.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
    }

    private static final class Slow extends ClassLoader {
        private final CountDownLatch isAsked;
        private final CountDownLatch isOver;

        Slow(CountDownLatch isAsked, CountDownLatch isOver) {
            this.isAsked = isAsked;
            this.isOver = isOver;
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            isAsked.countDown();
            await(isOver);
            return super.getResources(name);
        }
    }

    private static void startAndStop() {
        try {
            Path file = Files.createTempFile("protolog", ".pftrace");
            Session.builder().file(file).enableAll().start().stop();
            Files.delete(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Thread daemon(Runnable body) {
        Thread thread = new Thread(body, "foreign");
        thread.setDaemon(true);
        return thread;
    }
}
