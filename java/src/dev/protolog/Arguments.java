package dev.protolog;

/** The kinds of a message's arguments, two bits each, and how many there may be. */
final class Arguments {
    /** The most arguments of a message. Further ones are left out. */
    static final int MAX = 32;

    static final int TEXT = 0;
    static final int INTEGER = 1;
    static final int FLOATING = 2;
    static final int BOOL = 3;

    private Arguments() {}
}
