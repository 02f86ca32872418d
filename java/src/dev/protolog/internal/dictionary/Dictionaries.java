package dev.protolog.internal.dictionary;

import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.Template;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLConnection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The dictionaries of processed code: each jar has its own at {@value #RESOURCE}, found through the
 * class loader of each group that logs; {@code -Dprotolog.viewerconfig=FILE.pb} names another one.
 *
 * <p>Invariants: a dictionary is added once, and given to all sessions before the first message of
 * its group; a missing or malformed one is reported once and has no messages. It goes with the last
 * class loader that has it. No lock is held while a loader is asked, which is the application's
 * code. Templates are taken apart when the first message is printed.
 */
public final class Dictionaries {
    public static final String PROPERTY = "protolog.viewerconfig";
    public static final String RESOURCE = "META-INF/protolog/dictionary.pb";

    /**
     * The most bytes of a dictionary, compressed in its jar or not: an expanded jar entry has no
     * limit, and is read within the first call of its group.
     */
    private static final int MAX_BYTES = 256 << 20;
    /** The part of the heap that one may have. */
    private static final int PART_OF_HEAP = 8;

    private static final List<WeakReference<ClassLoader>> LOADERS = new ArrayList<>();
    private static final List<Source> SOURCES = new ArrayList<>();
    private static boolean hasWarned;
    /** The dictionaries that were ever added. */
    private static long version;

    static {
        String path = System.getProperty(PROPERTY);
        if (path != null) {
            // No channel, which an interrupt would close.
            try (InputStream in = new FileInputStream(path)) {
                add(read(in), null);
            } catch (IOException e) {
                LogPrinter.problem("can't read the dictionary `" + path + "`: " + e,
                        "make it with protologtool generate-viewer-config");
            }
        }
    }

    private Dictionaries() {}

    /** A dictionary, with the parts asked for so far. */
    private static final class Source {
        final byte[] bytes;
        /** The loaders that have it; empty for one that stays. */
        final List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        /** Null until a template is asked for. */
        Dictionary parsed;
        /** The groups that it names, with their tags; null until they are asked for. */
        Map<String, String> groups;

        Source(byte[] bytes, ClassLoader loader) {
            this.bytes = bytes;
            if (loader != null) {
                loaders.add(new WeakReference<>(loader));
            }
        }

        boolean isGone() {
            return !loaders.isEmpty() && loaders.stream().allMatch(it -> it.refersTo(null));
        }
    }

    /** Finds the dictionaries that this class loader knows. */
    public static void addLoader(ClassLoader loader) {
        if (loader == null || isKnown(loader)) {
            return;
        }
        List<byte[]> found = new ArrayList<>();
        try {
            Collections.list(loader.getResources(RESOURCE)).forEach(url -> read(url, found));
        } catch (Throwable e) {
            reportUnread(RESOURCE, e);
        }
        synchronized (Dictionaries.class) {
            if (!isKnown(loader)) {
                found.forEach(source -> add(source, loader));
                LOADERS.add(new WeakReference<>(loader));
            }
        }
    }

    /**
     * Reads a dictionary. One that can't be read, as of a jar that was overwritten, hides no other
     * one.
     */
    private static void read(URL url, List<byte[]> to) {
        try {
            URLConnection connection = url.openConnection();
            connection.setUseCaches(false);
            try (InputStream in = connection.getInputStream()) {
                to.add(read(in));
            }
        } catch (Throwable e) {
            reportUnread(url.toString(), e);
        }
    }

    /**
     * The bytes of a dictionary. An error if there are too many, which is not the heap's: that
     * would have it read again by each call.
     */
    private static byte[] read(InputStream in) throws IOException {
        int most = (int) Math.min(MAX_BYTES, Runtime.getRuntime().maxMemory() / PART_OF_HEAP);
        byte[] bytes = in.readNBytes(most + 1);
        if (bytes.length > most) {
            throw new IOException("it has more than " + most + " bytes");
        }
        return bytes;
    }

    private static void reportUnread(String what, Throwable e) {
        if (e instanceof Error error && PassingErrors.isOne(error)) {
            // It is asked again.
            throw error;
        }
        LogPrinter.problem("can't read `" + what + "`: " + e, "make the jar again");
    }

    /** A number that grows with each dictionary that comes. */
    public static synchronized long version() {
        return version;
    }

    /** All dictionaries so far. */
    public static synchronized List<byte[]> sources() {
        removeGone();
        return SOURCES.stream().map(source -> source.bytes).toList();
    }

    /** The groups that dictionaries name, with their tags. */
    public static synchronized Map<String, String> groups() {
        removeGone();
        Map<String, String> all = new TreeMap<>();
        for (Source source : SOURCES) {
            if (source.groups == null) {
                source.groups = new TreeMap<>();
                try {
                    Dictionary.readGroups(source.bytes, source.groups);
                } catch (ProtoReader.MalformedException e) {
                    // Reported when its first message is printed.
                }
            }
            source.groups.forEach(all::putIfAbsent);
        }
        return all;
    }

    /** The template of message {@code id}, or null. */
    public static synchronized Template template(long id) {
        for (Source source : SOURCES) {
            if (source.parsed == null) {
                source.parsed = parse(source.bytes);
            }
            Template template = source.parsed.template(id);
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

    private static synchronized boolean isKnown(ClassLoader loader) {
        return LOADERS.stream().anyMatch(known -> known.refersTo(loader));
    }

    /**
     * Adds a dictionary of a loader; null for none. Another loader may have found the same file, or
     * another build at the same place.
     */
    private static synchronized void add(byte[] file, ClassLoader loader) {
        removeGone();
        byte[] bytes = Dictionary.withoutSeparators(file);
        for (Source known : SOURCES) {
            if (Arrays.equals(known.bytes, bytes)) {
                if (loader != null && !known.loaders.isEmpty()) {
                    known.loaders.add(new WeakReference<>(loader));
                }
                return;
            }
        }
        SessionDictionary.addToAll(bytes);
        SOURCES.add(new Source(bytes, loader));
        version++;
    }

    /**
     * Forgets loaders that the garbage collector has taken, and the dictionaries that no other one
     * has.
     */
    private static void removeGone() {
        LOADERS.removeIf(loader -> loader.refersTo(null));
        SOURCES.removeIf(Source::isGone);
        SOURCES.forEach(source -> source.loaders.removeIf(loader -> loader.refersTo(null)));
    }
}
