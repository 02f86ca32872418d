package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.groups.Groups;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Groups of several class loaders, which go with them; and groups whose methods do what they should
 * not.
 */
final class LoaderTest {
    private static final int MAX_COLLECTIONS = 100;

    private LoaderTest() {}

    static void run() throws Exception {
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            String name = Plugin.class.getCanonicalName() + ".Group.ONE";
            Runnable kept = load();
            kept.run();
            WeakReference<ClassLoader> gone = loadAndRun();
            check("both groups of one name", count(name) >= 1, true);
            for (int i = 0; i < MAX_COLLECTIONS && gone.get() != null; i++) {
                System.gc();
                Thread.sleep(10);
            }
            check("a loader that nobody uses is collected", gone.get() == null, true);
            check("its group is gone, the other one is there", count(name), 1L);
            kept.run();
            misbehave();
            // Two messages of each of three groups, and one of each that has no name.
            redeploy();
            check("messages of loaders that are there and gone, and of groups that are hardly ones", session.running().stats().messages(), 3L + 3 * 2 + 2);
        }
    }

    /**
     * An application with the runtime among its classes, which is taken away; the threads that it
     * has used go on.
     */
    private static void redeploy() throws Exception {
        // Of an earlier test, whose file is gone: to print that takes a thread, which stays for
        // some seconds.
        System.clearProperty(Dictionaries.PROPERTY);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<WeakReference<ClassLoader>> gone = List.of(deploy(threads), deploy(threads), deploy(threads));
            for (int i = 0; i < MAX_COLLECTIONS && gone.stream().anyMatch(each -> each.get() != null); i++) {
                System.gc();
                Thread.sleep(10);
            }
            check("loaders of runtimes that stay", gone.stream().filter(each -> each.get() != null).count(), 0L);
        } finally {
            threads.shutdown();
        }
    }

    private static WeakReference<ClassLoader> deploy(ExecutorService threads) throws Exception {
        URL classes = LoaderTest.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader own = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
            Class<?> application = Class.forName(Deployed.class.getName(), true, own);
            check("its own runtime", application == Deployed.class, false);
            for (int i = 0; i < 2; i++) {
                threads.submit((Callable<?>) application.getDeclaredConstructor().newInstance()).get();
            }
            return new WeakReference<>(own);
        }
    }

    private static long count(String name) {
        return Groups.all().stream().filter(state -> state.fullName.equals(name)).count();
    }

    private static WeakReference<ClassLoader> loadAndRun() throws ReflectiveOperationException {
        Runnable plugin = load();
        plugin.run();
        return new WeakReference<>(plugin.getClass().getClassLoader());
    }

    private static Runnable load() throws ReflectiveOperationException {
        return (Runnable) new PluginLoader().loadClass(Plugin.class.getName()).getDeclaredConstructor().newInstance();
    }

    /**
     * No call throws. Messages of groups whose name or tag can't be had are recorded all the same.
     */
    private static void misbehave() {
        call(() -> {
            throw new NoClassDefFoundError("a class");
        }, true);
        call(() -> {
            throw new StackOverflowError();
        }, false);
        call(() -> {
            throw new OutOfMemoryError();
        }, false);
        call(LoaderTest::throwChecked, true);
        call(() -> null, true);
        ProtoLog.w(new Unnamed(null), "without a name");
        ProtoLog.w(new Unnamed(new IllegalStateException()), "whose name throws");
        long named = Groups.all().stream().filter(state -> state.fullName.endsWith("Unnamed.unnamed") && state.tag.equals("unnamed")).count();
        check("groups without name and tag", named, 2L);
    }

    /**
     * Without memory or stack for the tag, messages count as lost, since the next one may find
     * some. So the guard lets them pass.
     */
    private static void call(Supplier<String> tag, boolean isRegistered) {
        Misbehaving group = new Misbehaving(tag);
        ProtoLog.w(group, "recorded");
        ProtoLogImpl.w(group, 1, 0);
        check("a group whose methods throw", ProtoLogImpl.isEnabled(group, LogLevel.WTF), true);
        check("is known", Groups.known(group) != null, isRegistered);
        ProtoLog.init(group);
        ProtoLog.printGroup(group, LogLevel.VERBOSE);
        check("is printed", ProtoLog.isEnabled(group), true);
    }

    private static String throwChecked() {
        LoaderTest.<RuntimeException>sneak(new IOException("checked"));
        return "";
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** A group that logs to itself, and whose tag comes from elsewhere. */
    private record Misbehaving(Supplier<String> tag) implements IProtoLogGroup {
        @Override
        public String name() {
            if (Groups.known(this) == null) {
                ProtoLog.wtf(this, "while it is registered");
            }
            return "MISBEHAVING";
        }

        @Override
        public String getTag() {
            return tag.get();
        }

        @Override
        public boolean isLogToProto() {
            throw new AssertionError("asked");
        }

        @Override
        public boolean isEnabled() {
            throw new LinkageError("asked");
        }

        @Override
        public boolean isLogToLogcat() {
            throw new LinkageError("asked");
        }
    }

    /** A group without a name. */
    private record Unnamed(RuntimeException thrown) implements IProtoLogGroup {
        @Override
        public String name() {
            if (thrown != null) {
                throw thrown;
            }
            return null;
        }

        @Override
        public String getTag() {
            return name();
        }
    }

    /** Has classes of its own, where others take those of the application. */
    private static final class PluginLoader extends ClassLoader {
        PluginLoader() {
            super(LoaderTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(Plugin.class.getName())) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
