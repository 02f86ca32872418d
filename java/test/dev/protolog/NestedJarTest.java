package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.session.Sessions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarInputStream;
import java.util.jar.JarOutputStream;

/**
 * Jars within a jar, as those of Spring Boot: classes are in {@code BOOT-INF/classes}, libraries in
 * {@code BOOT-INF/lib}, and a class loader with addresses of its own finds both. The application's
 * {@code META-INF} is beside them or at the root of the jar, where the loader above finds it, too.
 */
final class NestedJarTest {
    private static final String CLASSES = "BOOT-INF/classes/";
    private static final String LIBRARIES = "BOOT-INF/lib/";
    private static final long OF_APPLICATION = 0x5eed_0001;
    private static final long OF_FIRST = 0x5eed_0002;
    private static final long OF_LAST = 0x5eed_0003;

    private NestedJarTest() {}

    static void run() throws Exception {
        Path outer = Files.createTempFile("protolog-nested", ".jar");
        try {
            Files.write(outer, jar(entries()));
            finds(outer);
        } finally {
            Files.delete(outer);
        }
    }

    private static void finds(Path outer) throws Exception {
        int before = Dictionaries.sources().size();
        try (URLClassLoader above = new URLClassLoader(new URL[] {outer.toUri().toURL()}, NestedJarTest.class.getClassLoader());
                Session session = Session.builder().keepNewest().enableAll().start()) {
            ClassLoader nested = new NestedLoader(outer, above);
            Runnable plugin = (Runnable) nested.loadClass(Plugin.class.getName()).getDeclaredConstructor().newInstance();
            check("its own class", plugin.getClass() == Plugin.class, false);
            String said = Captured.lines(plugin);
            check("the jar that can't be read is named once", said.split("can't read `", -1).length - 1, 1);
            check("by its address", said.contains("broken.jar"), true);
            check("the application's texts", String.valueOf(Dictionaries.template(OF_APPLICATION)), "of the application %d");
            check("a library's texts", String.valueOf(Dictionaries.template(OF_FIRST)), "of the first library");
            check("those of a library behind one that can't be read", String.valueOf(Dictionaries.template(OF_LAST)), "of the last library");
            check("each once, though two loaders find the application's", Dictionaries.sources().size() - before, 3);
            for (long id : new long[] {OF_APPLICATION, OF_FIRST, OF_LAST}) {
                check("in the trace", dictionaryOf(session).groupOfMessage(id), "com.foo.Log.NESTED");
            }
        }
    }

    private static SessionDictionary dictionaryOf(Session session) {
        return Sessions.running().stream().filter(session.running()::isOf).findFirst().orElseThrow().dictionary();
    }

    private static Map<String, byte[]> entries() throws IOException {
        Map<String, byte[]> entries = new LinkedHashMap<>();
        byte[] own = dictionary(OF_APPLICATION, "of the application %d");
        entries.put(Dictionaries.RESOURCE, own);
        entries.put(CLASSES + Dictionaries.RESOURCE, own);
        for (Class<?> each : List.of(Plugin.class, Plugin.Group.class)) {
            String name = each.getName().replace('.', '/') + ".class";
            try (InputStream in = NestedJarTest.class.getClassLoader().getResourceAsStream(name)) {
                entries.put(CLASSES + name, in.readAllBytes());
            }
        }
        entries.put(LIBRARIES + "a.jar", jar(Map.of(Dictionaries.RESOURCE, dictionary(OF_FIRST, "of the first library"))));
        entries.put(LIBRARIES + "broken.jar", jar(Map.of(Dictionaries.RESOURCE, new byte[0])));
        entries.put(LIBRARIES + "z.jar", jar(Map.of(Dictionaries.RESOURCE, dictionary(OF_LAST, "of the last library"))));
        return entries;
    }

    private static byte[] dictionary(long id, String text) {
        Bytes group = new Bytes().varint(1, 9).string(2, "com.foo.Log.NESTED").string(3, "Nested");
        return new Bytes().message(2, group).message(1, new Bytes().fixed64(1, id).string(2, text).varint(3, 1).varint(4, 9)).done();
    }

    private static byte[] jar(Map<String, byte[]> entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream out = new JarOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> each : entries.entrySet()) {
                out.putNextEntry(new JarEntry(each.getKey()));
                out.write(each.getValue());
            }
        }
        return bytes.toByteArray();
    }

    /** Finds what is in a jar and in the jars within it. */
    private static final class NestedLoader extends ClassLoader {
        private final Path outer;

        NestedLoader(Path outer, ClassLoader above) {
            super(above);
            this.outer = outer;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            byte[] bytes = name.startsWith(Plugin.class.getName()) ? read(CLASSES + name.replace('.', '/') + ".class", null) : null;
            if (bytes == null) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known != null ? known : defineClass(name, bytes, 0, bytes.length);
        }

        @Override
        protected Enumeration<URL> findResources(String name) throws IOException {
            List<URL> found = new ArrayList<>();
            if (read(CLASSES + name, null) != null) {
                found.add(address(CLASSES + name, null));
            }
            try (JarFile jar = new JarFile(outer.toFile())) {
                for (JarEntry entry : Collections.list(jar.entries())) {
                    if (entry.getName().startsWith(LIBRARIES) && read(entry.getName(), name) != null) {
                        found.add(address(entry.getName(), name));
                    }
                }
            }
            return Collections.enumeration(found);
        }

        private URL address(String entry, String inner) throws IOException {
            String path = "nested:" + outer + "!/" + entry + (inner == null ? "" : "!/" + inner);
            return new URL(null, URI.create(path).toString(), new URLStreamHandler() {
                @Override
                protected URLConnection openConnection(URL url) {
                    return connection(url, entry, inner);
                }
            });
        }

        private URLConnection connection(URL url, String entry, String inner) {
            return new URLConnection(url) {
                @Override
                public void connect() {}

                @Override
                public InputStream getInputStream() throws IOException {
                    byte[] bytes = read(entry, inner);
                    if (bytes.length == 0) {
                        throw new IOException("invalid LOC header");
                    }
                    return new ByteArrayInputStream(bytes);
                }
            };
        }

        /**
         * The bytes of an entry, or of an entry of the jar that it is; null where there is none.
         */
        private byte[] read(String entry, String inner) {
            try (JarFile jar = new JarFile(outer.toFile())) {
                JarEntry found = jar.getJarEntry(entry);
                if (found == null) {
                    return null;
                }
                byte[] bytes = jar.getInputStream(found).readAllBytes();
                return inner == null ? bytes : inner(bytes, inner);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private static byte[] inner(byte[] jar, String name) throws IOException {
            try (JarInputStream in = new JarInputStream(new ByteArrayInputStream(jar))) {
                for (JarEntry entry = in.getNextJarEntry(); entry != null; entry = in.getNextJarEntry()) {
                    if (entry.getName().equals(name)) {
                        return in.readAllBytes();
                    }
                }
                return null;
            }
        }
    }
}
