package dev.protolog.internal.write;

/**
 * The arithmetic of pages and chunks, as in {@code protolog-core/src/chunk.rs}: a page of 4096
 * bytes has a header of eight and 1, 2, 4, 7 or 14 chunks. Its first word has the layout, and two
 * bits for the state of each chunk.
 */
public final class PageLayout {
    public static final int PAGE = 4096;
    static final int PAGE_HEADER = 8;
    static final int CHUNK_HEADER = 8;

    static final int WRITER_ID_AT = 4;
    static final int PACKETS_AT = 6;

    static final int FREE = 0;
    public static final int WRITING = 1;
    static final int READING = 2;
    public static final int COMPLETE = 3;

    /** Layouts, as they are numbered. 0 is that of an undivided page. */
    public static final int ONE = 1;
    static final int FOUR = 3;
    static final int FOURTEEN = 5;

    /** The bits of count and flags in a chunk's header. */
    public static final int MAX_PACKETS = 1023;
    public static final int CONTINUES = 1 << 10;
    public static final int CONTINUED = 2 << 10;

    /** The size field of a packet that could not be written to its end. */
    public static final int DROPPED_PACKET_SIZE = 0x0fff_ffff;
    static final int FRAGMENT_SIZE = 4;

    public static final int MAX_WRITER_ID = 32767;
    /**
     * The first id of writers of a pinned ring, in a session that has one; the ids of its other
     * writers are below.
     */
    public static final int FIRST_PINNED_WRITER_ID = 16384;

    private static final int[] CHUNKS = {0, 1, 2, 4, 7, 14};
    /** The layouts of a thread's first chunks; the last one stays. */
    private static final int[] GROWTH = {FOURTEEN, FOUR, ONE};
    static final int MOST_GROWN = GROWTH.length - 1;

    private PageLayout() {}

    public static int chunks(int layout) {
        return CHUNKS[layout];
    }

    /** The size of a chunk with its header. */
    static int chunkSize(int layout) {
        return (PAGE - PAGE_HEADER) / CHUNKS[layout] / 4 * 4;
    }

    /** The layout of the chunk that a thread takes after so many others, for so many bytes. */
    static int layoutAfter(int grown, int size) {
        int wanted = grown;
        while (wanted < MOST_GROWN && chunkSize(GROWTH[wanted]) < size) {
            wanted++;
        }
        return GROWTH[wanted];
    }

    static int chunkAt(int page, int layout, int index) {
        return page * PAGE + PAGE_HEADER + index * chunkSize(layout);
    }

    /** The header of a page that is divided, all chunks free. */
    static int divided(int layout) {
        return layout << 28;
    }

    /** The layout in a page's header. */
    public static int layout(int word) {
        return Math.min(word >>> 28 & 7, FOURTEEN);
    }

    public static int state(int word, int index) {
        return word >>> 2 * index & 3;
    }

    static int with(int word, int index, int state) {
        return word & ~(3 << 2 * index) | state << 2 * index;
    }

    /** The first chunk in {@code state}; -1 where there is none. */
    static int find(int word, int state) {
        for (int index = 0; index < chunks(layout(word)); index++) {
            if (state(word, index) == state) {
                return index;
            }
        }
        return -1;
    }
}
