/* A library that a program loads, with groups of its own. */
#include <protolog.h>

PROTOLOG_GROUPS(PluginLog, Words)

int greet(int times);

int greet(int times) {
    int turn;
    for (turn = 0; turn < times; ++turn) protolog_i(PluginLog, Words, "hello %d", turn);
    return times;
}
