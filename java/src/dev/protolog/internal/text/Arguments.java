package dev.protolog.internal.text;

/** The kinds of a message's arguments, two bits each, and how many there may be. */
public final class Arguments {
    /** The most arguments of a message. Further ones are left out. */
    public static final int MAX = 32;

    public static final int TEXT = 0;
    public static final int INTEGER = 1;
    public static final int FLOATING = 2;
    public static final int BOOL = 3;

    private Arguments() {}
}
