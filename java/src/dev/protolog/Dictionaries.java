package dev.protolog;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;

/**
 * The dictionaries of processed code: each jar has its own at {@value #RESOURCE}, found through the class loader of each group that
 * logs; {@code -Dprotolog.viewerconfig=FILE.pb} names another one.
 *
 * <p>Invariants: a dictionary is added once, and given to all sessions before the first message of its group; a missing or malformed
 * one is reported once and has no messages. Templates are taken apart when the first message is printed.
 */
final class Dictionaries {
    static final String PROPERTY = "protolog.viewerconfig";
    static final String RESOURCE = "META-INF/protolog/dictionary.pb";

    private static final Set<ClassLoader> LOADERS = Collections.newSetFromMap(new WeakHashMap<>());
    private static final List<byte[]> SOURCES = new ArrayList<>();
    /** The parsed sources, as far as they were asked for. */
    private static final List<Dictionary> PARSED = new ArrayList<>();
    private static final Map<String, String> GROUPS = new TreeMap<>();
    private static int groupsRead;
    private static boolean hasWarned;

    static {
        String path = System.getProperty(PROPERTY);
        if (path != null) {
            try {
                add(Files.readAllBytes(Path.of(path)));
            } catch (IOException | InvalidPathException e) {
                LogPrinter.problem("can't read the dictionary `" + path + "`: " + e,
                        "make it with protologtool generate-viewer-config");
            }
        }
    }

    private Dictionaries() {}

    /** Finds the dictionaries that this class loader knows. */
    static synchronized void addLoader(ClassLoader loader) {
        if (loader == null || LOADERS.contains(loader)) {
            return;
        }
        try {
            for (URL url : Collections.list(loader.getResources(RESOURCE))) {
                URLConnection connection = url.openConnection();
                connection.setUseCaches(false);
                try (InputStream in = connection.getInputStream()) {
                    // Another loader may find the same file, or another build at the same place.
                    byte[] source = in.readAllBytes();
                    if (SOURCES.stream().noneMatch(known -> Arrays.equals(known, source))) {
                        add(source);
                    }
                }
            }
        } catch (IOException | RuntimeException e) {
            LogPrinter.problem("can't read `" + RESOURCE + "`: " + e, "make the jar again");
        }
        // After an error out of memory it is asked again.
        LOADERS.add(loader);
    }

    /** All dictionaries so far. */
    static synchronized List<byte[]> sources() {
        return List.copyOf(SOURCES);
    }

    /** The groups that dictionaries name, with their tags. */
    static synchronized Map<String, String> groups() {
        for (; groupsRead < SOURCES.size(); groupsRead++) {
            try {
                Dictionary.readGroups(SOURCES.get(groupsRead), GROUPS);
            } catch (ProtoReader.MalformedException e) {
                // Reported when its first message is printed.
            }
        }
        return Map.copyOf(GROUPS);
    }

    /** The template of message {@code id}, or null. */
    static synchronized Template template(long id) {
        for (int i = 0; i < SOURCES.size(); i++) {
            if (i == PARSED.size()) {
                PARSED.add(parse(SOURCES.get(i)));
            }
            Template template = PARSED.get(i).template(id);
            if (template != null) {
                return template;
            }
        }
        if (SOURCES.isEmpty() && !hasWarned) {
            hasWarned = true;
            LogPrinter.problem("processed code and no dictionary, so messages have no text",
                    "put it into the jar as " + RESOURCE + ", or name it with -D" + PROPERTY + "=FILE.pb");
        }
        return null;
    }

    private static Dictionary parse(byte[] source) {
        try {
            return Dictionary.decode(source);
        } catch (ProtoReader.MalformedException e) {
            LogPrinter.problem("the dictionary is malformed: " + e.getMessage(),
                    "make it with protologtool generate-viewer-config");
            return Dictionary.empty();
        }
    }

    private static void add(byte[] source) {
        for (SessionCore session : Sessions.running()) {
            session.dictionary().addSource(source);
        }
        SOURCES.add(source);
    }
}
