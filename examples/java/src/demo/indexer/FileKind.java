package demo.indexer;

import static demo.indexer.IndexLog.SCAN;
import static demo.indexer.IndexLog.TRACE;
import static dev.protolog.ProtoLog.d;
import static dev.protolog.ProtoLog.v;

import java.util.Locale;

/** The kind of a file, by its name. */
enum FileKind {
    SOURCE("sources"),
    DOCUMENT("documents"),
    DATA("data"),
    IMAGE("images") {
        @Override
        boolean isText() {
            v(TRACE, "images are never text");
            return false;
        }
    },
    ARCHIVE("archives") {
        @Override
        boolean isText() {
            return false;
        }
    },
    OTHER("other");

    private final String plural;

    FileKind(String plural) {
        this.plural = plural;
    }

    String plural() {
        return plural;
    }

    boolean isText() {
        return true;
    }

    static FileKind of(String name) {
        int dot = name.lastIndexOf('.');
        String extension = dot < 0 ? "" : name.substring(dot + 1).toLowerCase(Locale.ROOT);
        switch (extension) {
            case "c", "h", "cc", "cpp", "hpp":
            case "java":
            case "rs":
            case "py":
                return SOURCE;
            case "md":
            case "txt":
            case "rst":
                return DOCUMENT;
            case "json", "toml", "xml", "csv":
                return DATA;
            case "png", "jpg", "gif", "svg":
                return IMAGE;
            case "gz", "zip", "jar", "tar":
                return ARCHIVE;
            case "":
                if (dot < 0)
                    return byWholeName(name);
                v(SCAN, "%s ends with a dot", name);
                break;
            default:
                d(SCAN, "%s: unknown extension %s of %d characters",
                        name, extension, extension.length());
        }
        return OTHER;
    }

    private static FileKind byWholeName(String name) {
        FileKind kind = switch (name) {
            case "README", "LICENSE", "COPYING" -> DOCUMENT;
            case "Makefile", "Dockerfile" -> SOURCE;
            default -> {
                d(SCAN, "%s: no extension, first letter %s (%d)", name, name.charAt(0), name.charAt(0));
                yield OTHER;
            }
        };
        return kind;
    }
}
