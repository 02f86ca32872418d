package dev.protolog.internal.process;

import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Loads all classes of the runtime when the first session starts. A jar may be overwritten while a
 * program runs from it, as by a deployment. The JVM finds no further class then. A session that
 * needs one for the first time, for a full file or at its end, would lose the messages it has.
 *
 * <p>Invariant: nothing is thrown; a class that can't be loaded now is looked for when it is
 * needed.
 */
public final class RuntimeClasses {
    private static final String SUFFIX = ".class";
    /** The folder of the packages behind the API, in that of the API. */
    private static final String INTERNAL = "internal/";
    /** The file of this class, as {@link #INTERNAL} is. */
    private static final String OWN = INTERNAL + "process/RuntimeClasses" + SUFFIX;
    private static final AtomicBoolean IS_DONE = new AtomicBoolean();

    private RuntimeClasses() {}

    public static void load() {
        if (IS_DONE.getAndSet(true)) {
            return;
        }
        try {
            String own = RuntimeClasses.class.getName().replace('.', '/') + SUFFIX;
            ClassLoader loader = RuntimeClasses.class.getClassLoader();
            URL url = loader == null ? null : loader.getResource(own);
            if (url != null) {
                names(url, own).forEach(name -> load(name, loader));
            }
        } catch (IOException | RuntimeException | Error e) {
            // Those that are missing come one by one.
        }
    }

    /**
     * The names of the classes of the API and behind it, by the place of this one: of a jar, also
     * within another one, or of a folder. None of a runtime image, which stays.
     */
    private static List<String> names(URL url, String own) throws IOException {
        // Another one, where the runtime was put under another name.
        String api = own.substring(0, own.length() - OWN.length());
        URLConnection connection = url.openConnection();
        // One that is kept would be another application's after the next deployment.
        connection.setUseCaches(false);
        if (connection instanceof JarURLConnection jar) {
            try (JarFile file = jar.getJarFile()) {
                return names(file.stream().map(entry -> entry.getName()), api);
            }
        } else if (!url.getProtocol().equals("file")) {
            return List.of();
        }
        Path folder = Path.of(URI.create(url.toString()));
        for (int i = 0; i < Path.of(own).getNameCount(); i++) {
            folder = folder.getParent();
        }
        Path root = folder;
        try (Stream<Path> files = Files.walk(root.resolve(api))) {
            return names(files.map(found -> root.relativize(found).toString()), api);
        }
    }

    /** The classes among files. Those of bridges lie beside the packages behind the API. */
    private static List<String> names(Stream<String> files, String api) {
        return files.filter(name -> name.startsWith(api) && name.endsWith(SUFFIX))
                .filter(name -> name.indexOf('/', api.length()) < 0 || name.startsWith(INTERNAL, api.length()))
                .map(name -> name.substring(0, name.length() - SUFFIX.length()).replace('/', '.')).toList();
    }

    private static void load(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            // As above.
        }
    }
}
