package dev.protolog.internal.groups;

import dev.protolog.LogLevel;
import dev.protolog.internal.text.LevelSet;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The switch word of a group, which the program and an operator may change at the same time. Its
 * bytes are those of {@code protolog-core/src/control/switch.rs}: levels that sessions record,
 * levels that are printed, levels that the operator allows, and levels that sessions enable. A call
 * tests the first two.
 *
 * <p>Invariants: words change by or and and only. The byte of recorded levels follows from the two
 * last ones: each side changes its own byte, then updates that one and checks again. Any bits that
 * an operator writes only switch levels.
 */
public final class Switch {
    /** The bytes of a word. */
    public static final int SIZE = 4;

    private static final int TEXT = 8;
    private static final int ALLOWED = 16;
    private static final int SESSION = 24;
    /** The group was not called yet. */
    private static final int UNREGISTERED = 0x80;
    /**
     * The most rounds to update the first byte; more are needed only while the other side changes
     * the word, and then that side does.
     */
    private static final int MAX_ROUNDS = 8;
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private Switch() {}

    /** The word of a group that is printed at these levels and that no session records. */
    static int initial(int textLevels) {
        return LevelSet.ALL << ALLOWED | textLevels << TEXT;
    }

    /** The word to show of a group that was not called yet. */
    static int unregistered(int textLevels, int allowedLevels) {
        return UNREGISTERED | textLevels << TEXT | allowedLevels << ALLOWED;
    }

    static int load(ByteBuffer words, int at) {
        return (int) INT.getOpaque(words, at);
    }

    static void store(ByteBuffer words, int at, int word) {
        VarHandle.releaseFence();
        INT.set(words, at, word);
    }

    /** True if a message of this level goes anywhere. */
    public static boolean isEnabled(int word, LogLevel level) {
        return (word & (1 | 1 << TEXT) << level.ordinal()) != 0;
    }

    /** The levels that sessions record: those that one enables and the operator allows. */
    public static int traceLevels(int word) {
        return word & LevelSet.ALL;
    }

    public static int textLevels(int word) {
        return word >>> TEXT & LevelSet.ALL;
    }

    static void setSessionLevels(ByteBuffer words, int at, int levels) {
        setByte(words, at, SESSION, levels);
        update(words, at);
    }

    static void setAllowedLevels(ByteBuffer words, int at, int levels) {
        // Those that are denied are off at once.
        clear(words, at, (LevelSet.ALL & ~levels) * (1 | 1 << ALLOWED));
        set(words, at, levels << ALLOWED);
        update(words, at);
    }

    static void setTextLevels(ByteBuffer words, int at, int levels) {
        setByte(words, at, TEXT, levels);
    }

    private static void setByte(ByteBuffer words, int at, int shift, int levels) {
        set(words, at, levels << shift);
        clear(words, at, (LevelSet.ALL & ~levels) << shift);
    }

    /** Brings the first byte in line with the two last ones. */
    private static void update(ByteBuffer words, int at) {
        for (int round = 0; round < MAX_ROUNDS; round++) {
            int word = (int) INT.getAcquire(words, at);
            int is = word & 0xff;
            int due = word >>> SESSION & word >>> ALLOWED & LevelSet.ALL;
            if (is == due) {
                return;
            }
            set(words, at, due & ~is);
            clear(words, at, is & ~due);
        }
    }

    private static void set(ByteBuffer words, int at, int bits) {
        if (bits != 0) {
            INT.getAndBitwiseOrRelease(words, at, bits);
        }
    }

    private static void clear(ByteBuffer words, int at, int bits) {
        if (bits != 0) {
            INT.getAndBitwiseAndRelease(words, at, ~bits);
        }
    }
}
