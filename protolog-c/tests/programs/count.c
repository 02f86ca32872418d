/* For callgrind: `count CASE FILE [TURNS]`. The function of a case's name makes its calls. */
#include <protolog.h>
#include <stdlib.h>
#include <string.h>

PROTOLOG_GROUPS(AppLog, Net)

#define CASE(NAME, ...)                                                                            \
    __attribute__((noinline)) void NAME(long turns) {                                              \
        for (long turn = 0; turn < turns; ++turn) protolog_d(AppLog, Net, __VA_ARGS__);            \
    }
static const char *const words[] = {"alpha", "bravo", "charlie", "delta",
                                    "echo",  "foxtrot", "golf", "hotel"};
static const char *text = "a text of exactly forty bytes, no more.";
CASE(counted_ints, "sent %ld of %d", turn, 7)
CASE(counted_text, "sent %ld to %s", turn, words[turn % 8])
CASE(counted_float, "sent %ld of %d in %f", turn, 7, 0.5)
CASE(counted_long, "%s", text)
CASE(counted_four, "%ld %d %d %d", turn, 1, 2, 3)
CASE(counted_five, "%ld %d %d %d %d", turn, 1, 2, 3, 4)
CASE(counted_twelve, "%ld %d %d %d %d %d %d %d %d %d %d %d", turn, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
     11)
CASE(counted_printed, "%-5ld", turn)
CASE(counted_narrow, "%hhd", (char)turn)

int main(int count, char **args) {
    struct protolog_options options = PROTOLOG_OPTIONS_INIT;
    struct protolog_session *session;
    const long turns = count > 3 ? atol(args[3]) : 50000;
    if (count < 3) return 2;
    options.file = args[2];
    options.keep = PROTOLOG_NEWEST;
    if (protolog_session_start(&options, &session) != PROTOLOG_OK) return 1;
#define RUN(NAME)                                                                                  \
    if (strcmp(args[1], #NAME) == 0) NAME(turns);
    RUN(counted_ints)
    RUN(counted_text)
    RUN(counted_float)
    RUN(counted_long)
    RUN(counted_four)
    RUN(counted_five)
    RUN(counted_twelve)
    RUN(counted_printed)
    RUN(counted_narrow)
    return protolog_session_stop(session, NULL);
}
