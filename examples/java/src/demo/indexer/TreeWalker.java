package demo.indexer;

import static demo.indexer.IndexLog.WALK;
import static dev.protolog.ProtoLog.v;
import static dev.protolog.ProtoLog.w;

import dev.protolog.ProtoLog;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/**
 * Lists the regular files of a tree by name, those of a directory before those below it. Links are
 * not followed.
 */
final class TreeWalker {
    private final IgnoreRules rules;
    private final Deque<Directory> pending = new ArrayDeque<>();
    private final List<FileEntry> files = new ArrayList<>();
    private int unread;
    private int visits;

    TreeWalker(IgnoreRules rules) {
        this.rules = rules;
    }

    List<FileEntry> walk(Path root) throws IOException {
        if (!Files.readAttributes(root, BasicFileAttributes.class).isDirectory())
            throw new NotDirectoryException(root.toString());
        pending.push(new Directory(root, "", 0));
        do visit(pending.pop()); while (!pending.isEmpty());
        int deepest = 0;
        for (FileEntry entry : files)
            deepest = Math.max(deepest, entry.name().split("/").length);
        ProtoLog.i(WALK, "%d files in %d directories," + " at most %d levels deep", files.size(), visits, deepest);
        return files;
    }

    /** Number of directories that could not be listed, and of files without attributes. */
    int unread() {
        return unread;
    }

    private void visit(Directory directory) {
        visits++;
        v(WALK, "visit %04d, level %o: %s", visits, directory.level, directory.label());
        List<Path> children;
        try {
            children = list(directory.path);
        } catch (IOException e) {
            unread++;
            w(WALK, "can't list %s: %s", directory.label(), Reason.of(e));
            return;
        }
        List<Directory> below = new ArrayList<>();
        children:
        for (Path child : children) {
            String name = directory.below(child.getFileName().toString());
            BasicFileAttributes attributes;
            try {
                attributes = Files.readAttributes(child, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            } catch (IOException e) {
                unread++;
                w(WALK, "can't look at %s: %s", name, Reason.of(e));
                continue children;
            }
            if (rules.ignores(name, attributes.isDirectory()))
                ProtoLog.d(WALK, "ignored: %s", name);
            else if (attributes.isDirectory())
                below.add(new Directory(child, name, directory.level + 1));
            else if (attributes.isRegularFile())
                files.add(new FileEntry(name, child, attributes.size(), FileKind.of(child.getFileName().toString())));
            else if (attributes.isSymbolicLink())
                v(WALK, /* group and text in one line, */ "link: %s",
                        name); // and the name in another
            else
                w(WALK, "%s is neither file nor directory", name);
        }
        // Reversed, so that the stack returns them sorted by name.
        for (int i = below.size() - 1; i >= 0; i--)
            pending.push(below.get(i));
        if (!below.isEmpty())
            if (below.size() > 1)
                ProtoLog.v(WALK, "%d directories wait", pending.size());
            else
                ProtoLog.v(WALK, "one directory waits: %s", below.get(0).label());
    }

    private static List<Path> list(Path path) throws IOException {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(path)) {
            stream.forEach(children::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        Collections.sort(children);
        return children;
    }

    private static final class Directory {
        final Path path;
        final int level;
        private final String name;

        Directory(Path path, String name, int level) {
            this.path = path;
            this.name = name;
            this.level = level;
        }

        String label() {
            return name.isEmpty() ? "the root" : name;
        }

        String below(String child) {
            return name.isEmpty() ? child : name + "/" + child;
        }
    }
}
