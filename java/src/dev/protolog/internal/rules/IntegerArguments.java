package dev.protolog.internal.rules;

/** The arguments of a message, as far as conditions ask for them. Indices are from 0. */
public interface IntegerArguments {
    /** True if there is such an argument, and it is an integer. */
    boolean isInteger(int index);

    /** The value of an argument that is an integer. */
    long integer(int index);
}
