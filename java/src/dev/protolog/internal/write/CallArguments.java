package dev.protolog.internal.write;

import dev.protolog.internal.rules.IntegerArguments;
import dev.protolog.internal.text.Arguments;

/** The arguments of a thread's call, as conditions of rules ask for them. */
record CallArguments(Call call) implements IntegerArguments {
    @Override
    public boolean isInteger(int index) {
        return index < call.count && call.kind(index) == Arguments.INTEGER;
    }

    @Override
    public long integer(int index) {
        return call.words[index];
    }
}
