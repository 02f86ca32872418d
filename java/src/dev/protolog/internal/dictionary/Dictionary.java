package dev.protolog.internal.dictionary;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.NamedTemplate;
import dev.protolog.internal.text.Template;
import dev.protolog.internal.text.TemplateException;
import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * The texts of processed calls by message id, from one dictionary that the tool has made
 * (Perfetto's ProtoLogViewerConfig).
 *
 * <p>A message's field 2 holds its bare template ({@code %d} for {@code %04d}), since Perfetto
 * understands no other; field 1 of its field 1000 holds the full one where that differs, and wins
 * here. Field 4 of that has the names of arguments.
 *
 * <p>Invariant: of two texts with one id the first wins.
 */
final class Dictionary {
    private static final int CONFIG_MESSAGES = 1;
    private static final int CONFIG_GROUPS = 2;
    /** The first byte of a message. */
    private static final int MESSAGES_TAG = CONFIG_MESSAGES << 3 | 2;
    private static final int MESSAGE_ID = 1;
    private static final int MESSAGE_TEMPLATE = 2;
    private static final int MESSAGE_HINTS = 1000;
    private static final int HINTS_FULL_TEMPLATE = 1;
    private static final int HINTS_NAMES = 4;

    private final Map<Long, Template> templates = new HashMap<>();

    private Dictionary() {}

    /** A dictionary without messages. */
    static Dictionary empty() {
        return new Dictionary();
    }

    /**
     * The bytes without the line feeds that tools which merge jars put behind each file.
     * Dictionaries one after the other are one dictionary, but a line feed would be read as the
     * beginning of a message: of one that ends there, or that has ten bytes, fewer than its id and
     * its level take.
     */
    static byte[] withoutSeparators(byte[] bytes) {
        ByteArrayOutputStream kept = new ByteArrayOutputStream(bytes.length);
        int from = 0;
        int at = 0;
        try {
            while (at < bytes.length) {
                if (bytes[at] == MESSAGES_TAG && (at + 1 == bytes.length ? at > 0 : bytes[at + 1] == '\n')) {
                    kept.write(bytes, from, at - from);
                    at++;
                    from = at;
                    continue;
                }
                ProtoReader field = new ProtoReader(bytes, at, bytes.length);
                field.next();
                field.skip();
                at = field.at();
            }
        } catch (ProtoReader.MalformedException e) {
            // It stays as it is, for its readers.
        }
        kept.write(bytes, from, bytes.length - from);
        return kept.toByteArray();
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

    /** Adds the full names and the tags of a dictionary's groups. */
    static void readGroups(byte[] bytes, Map<String, String> groups) throws ProtoReader.MalformedException {
        ProtoReader config = new ProtoReader(bytes);
        while (config.next()) {
            if (config.field() != CONFIG_GROUPS) {
                config.skip();
                continue;
            }
            ProtoReader group = config.message();
            String name = "";
            String tag = "";
            while (group.next()) {
                switch (group.field()) {
                    case 2 -> name = group.string();
                    case 3 -> tag = group.string();
                    default -> group.skip();
                }
            }
            groups.putIfAbsent(name, tag);
        }
    }

    /** The template of message {@code id}, or null. */
    Template template(long id) {
        return templates.get(id);
    }

    private void addMessage(ProtoReader message) throws ProtoReader.MalformedException {
        long id = 0;
        String bare = "";
        NamedTemplate hints = new NamedTemplate(null, "");
        while (message.next()) {
            switch (message.field()) {
                case MESSAGE_ID -> id = message.fixed64();
                case MESSAGE_TEMPLATE -> bare = message.string();
                case MESSAGE_HINTS -> hints = readHints(message.message(), hints);
                default -> message.skip();
            }
        }
        String text = hints.text() == null ? bare : hints.text();
        try {
            templates.putIfAbsent(id, Template.parse(new NamedTemplate(text, hints.names())));
        } catch (TemplateException e) {
            LogPrinter.problem("the dictionary's template `" + text + "` is none: " + e.getMessage(),
                    "make the dictionary again from the sources");
        }
    }

    /** The full template, or that of {@code before}, with the names. */
    private static NamedTemplate readHints(ProtoReader hints, NamedTemplate before) throws ProtoReader.MalformedException {
        String full = before.text();
        String names = before.names();
        while (hints.next()) {
            switch (hints.field()) {
                case HINTS_FULL_TEMPLATE -> full = hints.string();
                case HINTS_NAMES -> names = hints.string();
                default -> hints.skip();
            }
        }
        return new NamedTemplate(full, names);
    }
}
