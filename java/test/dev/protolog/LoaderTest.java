package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.function.Supplier;

/** Groups of several class loaders, which go with them; and groups whose methods do what they should not. */
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
            check("messages of loaders that are there and gone, and of a group that is hardly one", session.stats().messages(), 4L);
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

    /** No call throws. Those of groups whose name or tag can't be had are not recorded. */
    private static void misbehave() {
        call(() -> {
            throw new NoClassDefFoundError("a class");
        }, false);
        call(() -> {
            throw new StackOverflowError();
        }, true);
        call(() -> {
            throw new OutOfMemoryError();
        }, true);
        call(LoaderTest::throwChecked, false);
        ProtoLog.w(new Misbehaving(null), "a null tag is the name");
    }

    /** {@code isCounted}: its messages count as lost, since the next one may find memory. So the guard lets them pass. */
    private static void call(Supplier<String> tag, boolean isCounted) {
        Misbehaving group = new Misbehaving(tag);
        ProtoLog.w(group, "not recorded");
        ProtoLogImpl.w(group, 1, 0);
        check("a group whose methods throw", ProtoLogImpl.isEnabled(group, LogLevel.WTF), isCounted);
        ProtoLog.init(group);
        ProtoLog.printGroup(group, LogLevel.VERBOSE);
        check("is not printed", ProtoLog.isEnabled(group), isCounted);
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
            ProtoLog.wtf(this, "while it is registered");
            return "MISBEHAVING";
        }

        @Override
        public String getTag() {
            return tag == null ? null : tag.get();
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
