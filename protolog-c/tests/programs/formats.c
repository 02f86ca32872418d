/* Logs each format and prints it: the two have to agree. */
#include <protolog.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

PROTOLOG_GROUPS(AppLog, Net, Disk)

#define BOTH(...)                                                                                  \
    do {                                                                                           \
        protolog_i(AppLog, Net, __VA_ARGS__);                                                      \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
    } while (0)

struct bits {
    unsigned small : 3;
    int negative : 5;
};

static void integers(void) {
    struct bits bits = {5, -3};
    bool yes = true;
    char letter = 'x';
    short low = SHRT_MIN;
    unsigned char byte = 200;
    size_t size = 4096;
    ptrdiff_t distance = -8;
    BOTH("%d %i %u", -1, INT_MIN, UINT_MAX);
    BOTH("%ld %lu", LONG_MIN, ULONG_MAX);
    BOTH("%lld %llu", LLONG_MAX, 1ull << 63);
    BOTH("%zu %td %jd", size, distance, (intmax_t)-5);
    BOTH("%x %o %X", 255u, 8u, 48879u);
    BOTH("%x %o", -1, -2); /* as many compilers let it pass: 32 bits */
    BOTH("%hhd %hhu %hd %hu", letter, byte, low, (unsigned short)low);
    BOTH("%5d|%05d|%-5d|%+d|% d|%.3d", 42, 42, 42, 42, 42, 4);
    BOTH("%#x %#o %08x %*d %-*d|", 255u, 8u, 48879u, 6, 7, 6, 7);
    BOTH("%u %d %d %d", bits.small, bits.negative, yes, low);
    BOTH("%" PRId64 " %" PRIu64 " %" PRIx64, INT64_MIN, UINT64_MAX, UINT64_C(0xdeadbeef));
    BOTH("%2$d %1$s", "second", 1);
    BOTH("%1$*2$d|%1$-*2$d|", 7, 5);
    BOTH("%d of %d, %d%% done", 1, 2, 50);
    BOTH("%d %d %d %d %d", 1, 2, 3, 4, 5);
}

static void floats(void) {
    float narrow = 0.1f;
    BOTH("%f %f", 1.5, (double)narrow);
    BOTH("%.2f %8.3f %08.3f %-8.1f|", 3.14159, 2.71828, -2.5, 1.0);
    BOTH("%e %.3e %g %g %G %E", 12345.678, 0.00012, 1e10, 0.0001, 1e20, 1e20);
    BOTH("%.0f %.*f %+.1f %#.0f", 2.5, 2, 1.005, 3.0, 4.0);
    BOTH("%Lf %a", 2.5L, 1.0);
    BOTH("%f %d %s", 0.5, 1, "mixed");
    BOTH("%d %f %s %u", -1, 0.5, "mixed", UINT_MAX);
    BOTH("%s %llu %g %d %d %d %d %d %s", "nine", ULLONG_MAX, 0.5, 4, 5, 6, 7, 8, "of them");
    BOTH("%s %d %d %d %d %d %d %d %f %lld", "ten", 2, 3, 4, 5, 6, 7, 8, 0.5, LLONG_MIN);
}

#define LONG                                                                                       \
    "a text that makes the note of its call larger than most notes are; "
#define LONGER LONG LONG LONG LONG LONG LONG LONG LONG

static void texts(void) {
    char buffer[8] = "buffer";
    char const *constant = "constant";
    unsigned char octets[] = {'o', 'k', 0};
    char open[4] = {'o', 'p', 'e', 'n'}; /* has no zero */
    int count = 0;
    BOTH("%s %s %s", buffer, constant, "literal");
    BOTH("%10s|%-10s|%.3s|%10.2s|", "right", "left", "cut off", "both");
    BOTH("%.4s %.*s", open, 4, open);
    BOTH("%c%c %3c|%-3c|", 'a', 98, 'c', 'd');
    BOTH("%s", "gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac");
    BOTH("%s", "");
    BOTH("%%");
    BOTH("no arguments, 100%% of them");
    BOTH("%p %s", (void *)buffer, "address");
    BOTH("%20p|", (void *)buffer);
    BOTH("%ls|%lc", L"wide", (wint_t)L'w');
    BOTH("a%n b", &count);
    BOTH("%s %s %s %s", "four", buffer, constant, "texts");
    BOTH("%s", (char *)octets);
    errno = ENOENT;
    BOTH("%m");
    errno = ENOENT;
    BOTH("%*m|%.*m|", 40, 5);
    BOTH("{\"json\": %d, {}}", 1);
    BOTH(LONGER LONGER LONGER "%d", 7);
    BOTH("tab\there \"quoted\" back\\slash");
}

int main(int count, char **args) {
    struct protolog_options options = PROTOLOG_OPTIONS_INIT;
    struct protolog_session *session;
    struct protolog_summary summary;
    int turn;
    if (count < 2) return 2;
    options.file = args[1];
    if (protolog_session_start(&options, &session) != PROTOLOG_OK) {
        fputs(protolog_error(), stderr);
        return 1;
    }
    for (turn = 0; turn < 2; ++turn) {
        integers();
        floats();
        texts();
    }
    if (protolog_session_stop(session, &summary) != PROTOLOG_OK || summary.lost != 0) return 1;
    return 0;
}
