package dev.protolog.internal.groups;

import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.Outputs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The memory of all switch words: private at first, and in a file of mode 0600 once the program
 * listens to operators, who map it too.
 *
 * <p>Invariants: a word never moves but when the pages are shared, under the lock of
 * {@link Groups}, which all changes of this process hold. The file is written in full before it is
 * mapped, and never becomes shorter; it has switches only.
 */
public final class SwitchPages {
    /** The bytes of a page, as operators count. */
    public static final int PAGE = 4096;
    /** The pages that are shared. */
    public static final int PAGES = 4;

    private static final int WORDS = PAGES * PAGE / Switch.SIZE;

    private ByteBuffer memory = direct(PAGES * PAGE);
    private int used;
    /** The words of groups that are gone. */
    private final List<Integer> freed = new ArrayList<>();
    private Path file;
    /** The file, open as long as it is shared. */
    private OutputFile shared;

    /**
     * The place of a word: in {@code memory} at {@code at}. {@code index} counts the words that can
     * be shared, and is -1 for others.
     */
    record Place(ByteBuffer memory, int at, int index, boolean isShared) {}

    /** A place for one more word. */
    Place add() {
        if (used == WORDS && freed.isEmpty()) {
            return new Place(direct(Switch.SIZE), 0, -1, false);
        }
        int index = freed.isEmpty() ? used++ : freed.remove(freed.size() - 1);
        return new Place(memory, index * Switch.SIZE, index, file != null);
    }

    /**
     * Takes back the place of a word without a group; -1 of a word that has a place of its own.
     */
    void remove(int index) {
        if (index >= 0) {
            freed.add(index);
        }
    }

    /** The memory of all words that can be shared. */
    ByteBuffer memory() {
        return memory;
    }

    /** The file that others can map; null for none. */
    Path file() {
        return file;
    }

    /** Moves the words to a new file at {@code path}. */
    void share(Path path) throws IOException {
        OutputFile created = Outputs.create(Location.of(path));
        try {
            byte[] words = new byte[PAGES * PAGE];
            memory.get(0, words);
            created.writeAt(0, words, 0, words.length);
            memory = created.map(0, words.length).order(ByteOrder.nativeOrder());
            shared = created;
            file = path;
        } finally {
            if (file == null) {
                created.removeAndClose();
            }
        }
    }

    /**
     * True if somebody has truncated the file: the JVM does not survive atomic operations in memory
     * that has none.
     */
    boolean isTruncated() {
        try {
            return shared != null && shared.size() < PAGES * PAGE;
        } catch (IOException e) {
            return true;
        }
    }

    /** Has private memory again, in which each group has to put its word. */
    void unshare() {
        memory = direct(PAGES * PAGE);
        file = null;
        try {
            shared.close();
        } catch (IOException e) {
            // It is of no use any more.
        }
        shared = null;
    }

    private static ByteBuffer direct(int bytes) {
        // A multiple of eight is what one more than eight bytes always have.
        return ByteBuffer.allocateDirect(bytes + 8).alignedSlice(8).slice(0, bytes).order(ByteOrder.nativeOrder());
    }
}
