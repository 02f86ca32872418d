package dev.protolog;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The texts of processed calls by message id, read from the {@code .pb} file that the property
 * {@code protolog.viewerconfig} names (Perfetto's ProtoLogViewerConfig).
 *
 * <p>A message's field 2 holds its bare template ({@code %d} for {@code %04d}), since Perfetto understands no other;
 * field 1 of its field 1000 holds the full one where that differs, and wins here.
 *
 * <p>Invariants: read once, when the first processed call prints; a missing or malformed file is reported once and is an
 * empty dictionary; of two texts with one id the first wins.
 */
final class Dictionary {
    static final String PROPERTY = "protolog.viewerconfig";

    private static final int CONFIG_MESSAGES = 1;
    private static final int MESSAGE_ID = 1;
    private static final int MESSAGE_TEMPLATE = 2;
    private static final int MESSAGE_HINTS = 1000;
    private static final int HINTS_FULL_TEMPLATE = 1;

    private final Map<Long, Template> templates = new HashMap<>();

    private Dictionary() {}

    static Dictionary current() {
        return Holder.CURRENT;
    }

    static Dictionary decode(byte[] bytes) throws ProtoReader.MalformedException {
        Dictionary dictionary = new Dictionary();
        ProtoReader config = new ProtoReader(bytes);
        while (config.next()) {
            if (config.field() == CONFIG_MESSAGES) {
                dictionary.addMessage(config.message());
            } else {
                config.skip();
            }
        }
        return dictionary;
    }

    /** The template of message {@code id}, or null. */
    Template template(long id) {
        return templates.get(id);
    }

    private void addMessage(ProtoReader message) throws ProtoReader.MalformedException {
        long id = 0;
        String bare = "";
        String full = null;
        while (message.next()) {
            switch (message.field()) {
                case MESSAGE_ID -> id = message.fixed64();
                case MESSAGE_TEMPLATE -> bare = message.string();
                case MESSAGE_HINTS -> full = fullTemplate(message.message(), full);
                default -> message.skip();
            }
        }
        String text = full == null ? bare : full;
        try {
            templates.putIfAbsent(id, Template.parse(text));
        } catch (TemplateException e) {
            LogPrinter.problem("the dictionary's template `" + text + "` is none: " + e.getMessage(),
                    "make the dictionary again from the sources");
        }
    }

    private static String fullTemplate(ProtoReader hints, String before) throws ProtoReader.MalformedException {
        String full = before;
        while (hints.next()) {
            if (hints.field() == HINTS_FULL_TEMPLATE) {
                full = hints.string();
            } else {
                hints.skip();
            }
        }
        return full;
    }

    private static Dictionary load(String path) {
        if (path == null) {
            LogPrinter.problem("processed code and no dictionary, so messages have no text",
                    "name it with -D" + PROPERTY + "=FILE.pb");
            return new Dictionary();
        }
        try {
            return decode(Files.readAllBytes(Path.of(path)));
        } catch (IOException | InvalidPathException | ProtoReader.MalformedException e) {
            LogPrinter.problem("can't read the dictionary `" + path + "`: " + e,
                    "make it with protologtool generate-viewer-config");
            return new Dictionary();
        }
    }

    private static final class Holder {
        static final Dictionary CURRENT = load(System.getProperty(PROPERTY));
    }
}
