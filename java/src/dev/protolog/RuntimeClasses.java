package dev.protolog;

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
 * Loads all classes of the runtime when the first session starts. A jar may be overwritten while a program runs from it, as by a deployment: the JVM finds no
 * further class then, and a session that needs one for the first time, for a file that is full or at its end, would lose what it has.
 *
 * <p>Invariant: nothing is thrown; a class that can't be loaded now is looked for when it is needed.
 */
final class RuntimeClasses {
    private static final String SUFFIX = ".class";
    private static final AtomicBoolean IS_DONE = new AtomicBoolean();

    private RuntimeClasses() {}

    static void load() {
        if (IS_DONE.getAndSet(true)) {
            return;
        }
        try {
            String own = RuntimeClasses.class.getName().replace('.', '/') + SUFFIX;
            ClassLoader loader = RuntimeClasses.class.getClassLoader();
            URL url = loader == null ? null : loader.getResource(own);
            if (url != null) {
                String folder = own.substring(0, own.lastIndexOf('/') + 1);
                names(url, folder).forEach(name -> load(name, loader));
            }
        } catch (IOException | RuntimeException | Error e) {
            // Those that are missing come one by one.
        }
    }

    /** The names of the classes beside one of them: of a jar, also within another one, or of a folder. None of a runtime image, which stays. */
    private static List<String> names(URL url, String folder) throws IOException {
        URLConnection connection = url.openConnection();
        // One that is kept would be another application's after the next deployment.
        connection.setUseCaches(false);
        if (connection instanceof JarURLConnection jar) {
            try (JarFile file = jar.getJarFile()) {
                return file.stream().map(entry -> entry.getName())
                        .filter(name -> name.startsWith(folder) && name.endsWith(SUFFIX) && name.indexOf('/', folder.length()) < 0)
                        .map(name -> name.substring(0, name.length() - SUFFIX.length()).replace('/', '.')).toList();
            }
        } else if (!url.getProtocol().equals("file")) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(Path.of(URI.create(url.toString())).getParent())) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(SUFFIX))
                    .map(name -> (folder + name.substring(0, name.length() - SUFFIX.length())).replace('/', '.')).toList();
        }
    }

    private static void load(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            // As above.
        }
    }
}
