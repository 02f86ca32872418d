/* Logging for C11 and C++17 without formatting: a call writes the id of its message and its
 * arguments into the calling thread's chunk of a shared memory buffer. The result is a Perfetto
 * trace that `protologtool read-log` prints.
 *
 *     #include <protolog.h>
 *     PROTOLOG_GROUPS(AppLog, Net, Disk)
 *
 *     protolog_d(AppLog, Net, "sent %zu bytes to %s", size, host);
 *
 * The compiler checks format and arguments as those of printf, and evaluates the arguments once if
 * the level is enabled, otherwise not at all. Every format of printf works. The guide is
 * docs/guides/c.md; what a format becomes is in docs/design/c.md.
 *
 * Names that begin with `protolog__` or `PROTOLOG__` are not for programs.
 */
#ifndef PROTOLOG_H
#define PROTOLOG_H

#if !defined(__GNUC__)
#error "protolog.h needs gcc or clang"
#elif !defined(__ELF__)
#error "protolog.h needs ELF, the format of programs on Linux and Android"
#elif defined(__cplusplus) && __cplusplus < 201703L
#error "protolog.h needs C++17: pass -std=c++17"
#elif !defined(__cplusplus) && __STDC_VERSION__ < 201112L
#error "protolog.h needs C11: pass -std=c11"
#endif

#include <stddef.h>
#include <stdint.h>

#include "protolog/lists.h"

#ifdef __cplusplus
#define PROTOLOG__EXTERN extern "C"
extern "C" {
#else
#define PROTOLOG__EXTERN extern
#endif

/* ---- Levels and groups ----------------------------------------------------------------------- */

/* In the order of severity. */
enum protolog_level {
    PROTOLOG_VERBOSE, /* details that only the developers of this code need */
    PROTOLOG_DEBUG,   /* details that help to find a fault */
    PROTOLOG_INFO,    /* events that an operator may want to see */
    PROTOLOG_WARN,    /* something is not as it should be */
    PROTOLOG_ERROR,   /* something failed */
    PROTOLOG_WTF,     /* something happened that can't happen */
    PROTOLOG_OFF      /* above all levels */
};

/* Declares groups, for a header: of one enum, up to 32. Their full names are `AppLog::Net` and
 * `AppLog::Disk`, their tags `Net` and `Disk`. They belong to the program or library that defines
 * them. */
#define PROTOLOG_DECLARE_GROUPS(SET, ...)                                                          \
    enum { PROTOLOG__EACH(PROTOLOG__INDEX, SET, __VA_ARGS__) SET##__count };                       \
    PROTOLOG__EXTERN struct protolog__page SET##__page                                           \
        __attribute__((visibility("hidden")));                                                     \
    PROTOLOG__EXTERN struct protolog_groups SET __attribute__((visibility("hidden")));           \
    PROTOLOG__EXTERN const void *SET##__infos[] __attribute__((visibility("hidden")));

/* Defines groups that are declared, in one source file. */
#define PROTOLOG_DEFINE_GROUPS(SET, ...)                                                           \
    struct protolog__page SET##__page = {{PROTOLOG__EACH(PROTOLOG__WORD, SET, __VA_ARGS__)}};      \
    static const char *const SET##__names[] = {PROTOLOG__EACH(PROTOLOG__NAME, SET, __VA_ARGS__)};  \
    const void *SET##__infos[SET##__count];                                                        \
    struct protolog_groups SET = {                                                                 \
        sizeof(struct protolog_groups), SET##__count, &SET##__page, #SET, SET##__names,            \
        SET##__infos};

/* Declares and defines groups, for a program of one source file. */
#define PROTOLOG_GROUPS(SET, ...)                                                                  \
    PROTOLOG_DECLARE_GROUPS(SET, __VA_ARGS__)                                                      \
    PROTOLOG_DEFINE_GROUPS(SET, __VA_ARGS__)

/* ---- Calls ----------------------------------------------------------------------------------- */

#define protolog_v(SET, GROUP, ...) PROTOLOG__CALL(SET, GROUP, VERBOSE, 0, 2, __VA_ARGS__)
#define protolog_d(SET, GROUP, ...) PROTOLOG__CALL(SET, GROUP, DEBUG, 1, 1, __VA_ARGS__)
#define protolog_i(SET, GROUP, ...) PROTOLOG__CALL(SET, GROUP, INFO, 2, 3, __VA_ARGS__)
#define protolog_w(SET, GROUP, ...) PROTOLOG__CALL(SET, GROUP, WARN, 3, 4, __VA_ARGS__)
#define protolog_e(SET, GROUP, ...) PROTOLOG__CALL(SET, GROUP, ERROR, 4, 5, __VA_ARGS__)
#define protolog_wtf(SET, GROUP, ...) PROTOLOG__CALL(SET, GROUP, WTF, 5, 6, __VA_ARGS__)

/* Calls below this level are compiled out; from -O1 on their format strings, too. */
#ifndef PROTOLOG_MIN_LEVEL
#define PROTOLOG_MIN_LEVEL PROTOLOG_VERBOSE
#endif

/* Says if a call at this level of a group would log: for work that only a log call needs. A rule
 * for single calls may make it true where a call is off. */
#define protolog_is_enabled(SET, GROUP, LEVEL)                                                     \
    ((LEVEL) >= PROTOLOG_MIN_LEVEL &&                                                              \
     (PROTOLOG__LOAD(SET, GROUP) & PROTOLOG__MASK(LEVEL)) != 0 &&                                  \
     ((PROTOLOG__LOAD(SET, GROUP) & PROTOLOG__UNUSUAL) == 0 ||                                     \
      protolog__may_log(&SET, SET##_##GROUP, (LEVEL)) != 0))

/* The place in a message's id: the same on every machine. A compiler without __FILE_NAME__ (gcc
 * before 12, clang before 9) puts the whole path there, unless the build defines another. */
#ifndef PROTOLOG_PLACE
#ifdef __FILE_NAME__
#define PROTOLOG_PLACE __FILE_NAME__
#else
#define PROTOLOG_PLACE __FILE__
#endif
#endif

/* ---- Sessions -------------------------------------------------------------------------------- */

/* Results. Others than PROTOLOG_OK come with a text: see protolog_error. */
enum protolog_result {
    PROTOLOG_OK = 0,
    PROTOLOG_BAD_ARGUMENT = 1, /* a null pointer, or a value that no such argument has */
    PROTOLOG_BAD_STATE = 2,    /* the session can't do that, or belongs to the parent of a fork */
    PROTOLOG_IO = 3,           /* a file could not be created, read or written */
    PROTOLOG_IN_USE = 4,       /* another session writes the file */
    PROTOLOG_RESOURCES = 5,    /* no memory, or no thread */
    PROTOLOG_SETTINGS = 6,     /* the environment or a file has settings that can't be applied */
    PROTOLOG_INTERNAL = 7      /* a fault of this library */
};

/* The way of a session's messages. */
enum protolog_keep {
    PROTOLOG_STREAM, /* to the file, as they come */
    PROTOLOG_NEWEST, /* a ring: the newest stay, until the session stops or makes a snapshot */
    PROTOLOG_FIRST,  /* the first stay; later ones are counted */
    PROTOLOG_RECORD  /* a ring in a file, which survives the process: `protologtool recover` */
};

/* The settings of a session. Begin with PROTOLOG_OPTIONS_INIT: what is zero has its default. */
struct protolog_options {
    size_t size;                /* of this struct, by PROTOLOG_OPTIONS_INIT */
    const char *file;           /* the trace */
    const char *levels;         /* such as "Net=verbose,Disk=off", in place of `level` */
    const char *recording;      /* for PROTOLOG_RECORD: the file, in place of one in memory */
    uint64_t buffer_bytes;      /* of the buffer, 64 KiB to 256 MiB */
    uint64_t segment_bytes;     /* starts another file after so many */
    uint32_t keep_segments;     /* removes the oldest segments but so many */
    uint32_t level;             /* enum protolog_level: all groups are recorded from it on */
    uint32_t keep;              /* enum protolog_keep */
    uint32_t wait_milliseconds; /* blocks for at most so long where the buffer is full */
    uint32_t without_recording; /* 1: what is not in the file yet ends with the process */
    uint32_t truncate;          /* 1: replaces the file of the last run, which is kept otherwise */
    uint32_t follow_forks;      /* 1: children that are forked go on in traces of their own */
    uint32_t file_mode;         /* permissions of new files, 0600 by default */
};

#define PROTOLOG_OPTIONS_INIT                                                                      \
    { sizeof(struct protolog_options), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* The messages of a session. */
struct protolog_summary {
    uint64_t messages;    /* recorded */
    uint64_t lost;        /* dropped, by whatever cause */
    uint64_t overwritten; /* by newer ones in a ring */
    uint64_t bytes;       /* of the file */
};

struct protolog_session; /* Belongs to the library. */
struct protolog_groups;  /* Of PROTOLOG_DEFINE_GROUPS. */

/* Starts a session. `*session` is for protolog_session_stop, on any thread; NULL after an error. */
int protolog_session_start(const struct protolog_options *options,
                           struct protolog_session **session);

/* Writes what was logged before to the file, or a recording to the disk. */
int protolog_session_flush(struct protolog_session *session);

/* Writes what a session keeps in memory to another file. `summary` may be NULL. */
int protolog_session_snapshot(struct protolog_session *session, const char *path,
                              struct protolog_summary *summary);

/* Writes the path of the recording into `path`, with its terminating zero; an empty one where there
 * is none. PROTOLOG_BAD_ARGUMENT if it takes more than `size` bytes. */
int protolog_session_recording(struct protolog_session *session, char *path, size_t size);

/* Completes the file and frees the session, also after an error. `summary` may be NULL. */
int protolog_session_stop(struct protolog_session *session, struct protolog_summary *summary);

/* ---- The process ----------------------------------------------------------------------------- */

/* Applies the variable PROTOLOG and persistent settings, and listens to
 * `protologtool configuration`. Its text names all problems; the program runs on. */
int protolog_init(void);

/* Makes groups known before they log: operators see and switch them from then on. */
int protolog_register_groups(struct protolog_groups *groups);

/* Prints the messages of a group (SET##_##GROUP) from a level on to standard error as well;
 * PROTOLOG_OFF prints none. */
int protolog_print_group(struct protolog_groups *groups, uint32_t group, uint32_t level);

/* Has SIGINT, SIGTERM and SIGHUP complete the files of all sessions before they end the process. */
int protolog_stop_on_signals(void);

/* Prepares a thread for log calls of signal handlers: it allocates now what it needs. */
int protolog_prepare_thread(void);

/* Returns the text of this thread's last result that was not PROTOLOG_OK, with a line of help;
 * valid until the next one. Never NULL. */
const char *protolog_error(void);

/* Returns the version of the library, such as "0.1.0". */
const char *protolog_version(void);

/* ---- Not for programs ------------------------------------------------------------------------ */

/* The largest page of this architecture's systems: operators map shared memory over the words. */
#if defined(__x86_64__)
#define PROTOLOG__PAGE 4096
#else
#define PROTOLOG__PAGE 65536
#endif

struct protolog__page {
    uint32_t words[PROTOLOG__PAGE / 4];
} __attribute__((aligned(PROTOLOG__PAGE)));

struct protolog_groups {
    uint32_t size;
    uint32_t count;
    struct protolog__page *page;
    const char *name;
    const char *const *names;
    const void **infos; /* filled in when the groups register */
};

/* The ids of a call: zero until its first message. */
struct protolog__site {
    /* Aligned as the atomics that the library makes of them, on 32-bit systems too. */
    uint64_t direct __attribute__((aligned(8)));
    /* The first is for calls whose arguments go into the message as they are */
    uint64_t id;
};

/* The functions for up to three arguments, by their kinds: the first one counts fastest. */
extern void (*const protolog__calls[40])(void);
void protolog__log(const uint64_t *values, const void *note, const void *group_level,
                   struct protolog__site *site);
int protolog__ask(struct protolog_groups *groups, uint32_t group, uint32_t level, const void *note,
                  struct protolog__site *site);
int protolog__may_log(struct protolog_groups *groups, uint32_t group, uint32_t level);

/* The format is checked at a call of this that never runs. */
static inline void protolog__check(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void protolog__check(const char *format, ...) { (void)format; }

static inline uint64_t protolog__signed(long long value) { return (uint64_t)value; }
static inline uint64_t protolog__unsigned(unsigned long long value) { return value; }
static inline uint64_t protolog__pointer(const volatile void *value) {
    return (uint64_t)(uintptr_t)value;
}
static inline uint64_t protolog__float(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline uint64_t protolog__long_float(long double value) {
    return protolog__float((double)value);
}

#ifdef __cplusplus
} /* extern "C" */

/* The kind and the bits of an argument: 0 a text, 1 signed, 2 a float, 3 unsigned or an address. */
template <unsigned Kind> struct protolog__kind {
    static constexpr uint64_t value = Kind;
};
#define PROTOLOG__TYPE(TYPE, KIND, FUNCTION)                                                       \
    protolog__kind<KIND> protolog__kind_of(TYPE);                                                  \
    static inline uint64_t protolog__bits(TYPE value) { return FUNCTION(value); }
PROTOLOG__TYPE(int, 1, protolog__signed)
PROTOLOG__TYPE(long, 1, protolog__signed)
PROTOLOG__TYPE(long long, 1, protolog__signed)
PROTOLOG__TYPE(unsigned, 3, protolog__unsigned)
PROTOLOG__TYPE(unsigned long, 3, protolog__unsigned)
PROTOLOG__TYPE(unsigned long long, 3, protolog__unsigned)
PROTOLOG__TYPE(double, 2, protolog__float)
PROTOLOG__TYPE(long double, 2, protolog__long_float)
PROTOLOG__TYPE(const char *, 0, protolog__pointer)
PROTOLOG__TYPE(const signed char *, 0, protolog__pointer)
PROTOLOG__TYPE(const unsigned char *, 0, protolog__pointer)
PROTOLOG__TYPE(const volatile void *, 3, protolog__pointer)
PROTOLOG__TYPE(decltype(nullptr), 3, protolog__pointer)
#undef PROTOLOG__TYPE
#define PROTOLOG__KIND(X) decltype(protolog__kind_of(X))::value
#define PROTOLOG__BITS(C, X) protolog__bits(X),
/* Temporaries among the arguments live as long as the call: the array is one, too. */
template <size_t Size> struct protolog__list {
    uint64_t values[Size];
};
#define PROTOLOG__ARRAY(COUNT, ...) protolog__list<COUNT + 1>{{__VA_ARGS__}}.values
#else
/* Promoted as an argument of printf is; an array becomes a pointer. */
#define PROTOLOG__OF(X) (0 ? 0 : (X))
#define PROTOLOG__KIND(X)                                                                          \
    (uint64_t) _Generic(PROTOLOG__OF(X), int: 1, long: 1, long long: 1, unsigned: 3,               \
        unsigned long: 3, unsigned long long: 3, float: 2, double: 2, long double: 2, char *: 0,   \
        const char *: 0, signed char *: 0, const signed char *: 0, unsigned char *: 0,             \
        const unsigned char *: 0, default: 3)
#define PROTOLOG__BITS(C, X)                                                                       \
    _Generic(PROTOLOG__OF(X), int: protolog__signed, long: protolog__signed,                       \
        long long: protolog__signed, unsigned: protolog__unsigned,                                 \
        unsigned long: protolog__unsigned, unsigned long long: protolog__unsigned,                 \
        float: protolog__float, double: protolog__float, long double: protolog__long_float,        \
        default: protolog__pointer)(X),
#define PROTOLOG__ARRAY(COUNT, ...) ((const uint64_t[]){__VA_ARGS__})
#endif

#define PROTOLOG__INDEX(SET, GROUP) SET##_##GROUP,
#define PROTOLOG__NAME(SET, GROUP) #GROUP,
/* All levels are on until the group registers with its first call. */
#define PROTOLOG__WORD(SET, GROUP) 0xc03f00bf,

/* What a group's word is tested with: the level's bits for sessions and for text, and the mark of a
 * group with rules for single calls; then that one, and that of a group that is not registered. */
#define PROTOLOG__MASK(LEVEL) (0x101u << (LEVEL) | 0x8000u)
#define PROTOLOG__UNUSUAL 0x8080u

#define PROTOLOG__FIRST(X, ...) X
#define PROTOLOG__STRING(X) #X
#define PROTOLOG__TEXT(X) PROTOLOG__STRING(X)
#define PROTOLOG__JOIN(A, B) A##B
#define PROTOLOG__CAT(A, B) PROTOLOG__JOIN(A, B)

/* A call's note, as docs/design/c.md has it. Every text with its terminating zero. */
#define PROTOLOG__NOTE(SET, GROUP, LEVEL, WIRE, COUNT, TYPES, FORMAT)                              \
    PROTOLOG__STATIC struct __attribute__((packed, aligned(4))) {                                  \
        uint32_t name_size, size, type;                                                            \
        char name[12];                                                                             \
        uint64_t id, types;                                                                        \
        uint32_t group_id, line;                                                                   \
        uint16_t sizes[5];                                                                         \
        uint8_t level, count;                                                                      \
        char place[sizeof(PROTOLOG_PLACE)], format[sizeof(FORMAT)], level_name[sizeof(#LEVEL)];    \
        char group[sizeof(#SET "::" #GROUP)], tag[sizeof(#GROUP)], file[sizeof(__FILE__)];         \
    } protolog__note PROTOLOG__SECTION = {                                                         \
        9, sizeof(protolog__note) - 24, 4, "protolog", 0, (TYPES), 0, __LINE__, {0, 0, 0, 0, 0},   \
        WIRE, COUNT, PROTOLOG_PLACE, FORMAT, #LEVEL, #SET "::" #GROUP, #GROUP, __FILE__}


#if defined(__cplusplus) && !defined(__clang__)
/* gcc forgets the section of a static in a template, and refuses one section for statics of inline
 * and of other functions. So the note's bytes are written by the assembler, 64 at a time, and the
 * static is a copy of it. One of more than PROTOLOG__MOST bytes is refused: no reader would know
 * its text. */
#define PROTOLOG__MOST 16384
#define PROTOLOG__SECTION
#define PROTOLOG__STATIC static constexpr
#define PROTOLOG__EMIT protolog__emit<protolog__note, 0, __COUNTER__>();
template <int32_t Word> struct protolog__constant {
    static constexpr int32_t value = Word;
};
template <class Note> constexpr uint64_t protolog__byte(const Note &note, size_t at) {
    const uint64_t size = (sizeof note + 63) / 64 * 64 - 24;
    if (at < 4) return at == 0 ? 9 : 0;
    if (at < 8) return size >> (8 * (at - 4)) & 255;
    if (at < 12) return at == 8 ? 4 : 0;
    if (at < 24) return static_cast<unsigned char>(note.name[at - 12]);
    if (at >= 32 && at < 40) return note.types >> (8 * (at - 32)) & 255;
    if (at >= 44 && at < 48) return note.line >> (8 * (at - 44)) & 255;
    if (at == 58) return note.level;
    if (at == 59) return note.count;
    if (at < 60) return 0;
    at -= 60;
#define PROTOLOG__PART(TEXT)                                                                       \
    if (at < sizeof note.TEXT) return static_cast<unsigned char>(note.TEXT[at]);                   \
    at -= sizeof note.TEXT;
    PROTOLOG__PART(place)
    PROTOLOG__PART(format)
    PROTOLOG__PART(level_name)
    PROTOLOG__PART(group)
    PROTOLOG__PART(tag)
    PROTOLOG__PART(file)
#undef PROTOLOG__PART
    return 0;
}
template <class Note> constexpr int32_t protolog__long(const Note &note, size_t at) {
    uint32_t word = 0;
    for (size_t byte = 4; byte-- > 0;) {
        word = word << 8 | static_cast<uint32_t>(protolog__byte(note, at + byte));
    }
    return static_cast<int32_t>(word);
}
template <const auto &Note, size_t At, unsigned Unique>
__attribute__((always_inline)) inline void protolog__emit() {
    static_assert(sizeof Note <= PROTOLOG__MOST, "the texts of a log call take more than 16 KiB");
    if constexpr (At < sizeof Note) {
#define PROTOLOG__LONG(N) "i"(protolog__constant<protolog__long(Note, At + 4 * N)>::value)
        __asm__ volatile(".pushsection .note.protolog,\"a\",%%note\n\t.balign 4\n\t"
                         ".long %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7\n\t"
                         ".long %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15\n\t"
                         ".popsection /* %c16 */"
                         :
                         : PROTOLOG__LONG(0), PROTOLOG__LONG(1), PROTOLOG__LONG(2),
                           PROTOLOG__LONG(3), PROTOLOG__LONG(4), PROTOLOG__LONG(5),
                           PROTOLOG__LONG(6), PROTOLOG__LONG(7), PROTOLOG__LONG(8),
                           PROTOLOG__LONG(9), PROTOLOG__LONG(10), PROTOLOG__LONG(11),
                           PROTOLOG__LONG(12), PROTOLOG__LONG(13), PROTOLOG__LONG(14),
                           PROTOLOG__LONG(15), "i"(Unique));
#undef PROTOLOG__LONG
        protolog__emit<Note, At + 64, Unique>();
    }
}
#else
#define PROTOLOG__SECTION __attribute__((section(".note.protolog"), aligned(4)))
#define PROTOLOG__STATIC static const
#define PROTOLOG__EMIT
#endif

#ifdef __OPTIMIZE__
#define PROTOLOG__INLINE static inline __attribute__((always_inline))
#else
#define PROTOLOG__INLINE static inline
#endif

/* Passes a call on. Count and types are constants, so one call of this is left. */
PROTOLOG__INLINE void protolog__send(unsigned count, uint64_t types, const uint64_t *values,
                                     const void *note, const void *group_level,
                                     struct protolog__site *site) {
    uint64_t high = 0; /* numbers above INT64_MAX */
    unsigned index = 0, kind, base = 1, at;
    for (at = 0; at < 3 && at < count; ++at, base *= 3) {
        kind = (unsigned)(types >> (2 * at)) & 3u;
        high |= kind == 3 ? values[at] : 0;
        index += (kind == 3 ? 1 : kind) * base;
    }
    if (count > 3 || high >> 63 != 0) {
        protolog__log(values, note, group_level, site);
        return;
    }
    /* The functions for fewer arguments come before: 1 + 3 + 9. */
    index += (base - 1) / 2;
#define PROTOLOG__FUNCTION(...)                                                                    \
    ((void (*)(__VA_ARGS__ const void *, const void *, struct protolog__site *))                   \
         protolog__calls[index])
    switch (count) {
    case 0: PROTOLOG__FUNCTION()(note, group_level, site); break;
    case 1: PROTOLOG__FUNCTION(uint64_t, )(values[0], note, group_level, site); break;
    case 2:
        PROTOLOG__FUNCTION(uint64_t, uint64_t, )(values[0], values[1], note, group_level, site);
        break;
    default:
        PROTOLOG__FUNCTION(uint64_t, uint64_t, uint64_t, )
        (values[0], values[1], values[2], note, group_level, site);
    }
#undef PROTOLOG__FUNCTION
}

#define PROTOLOG__LOAD(SET, GROUP)                                                                 \
    __atomic_load_n(&SET##__page.words[SET##_##GROUP], __ATOMIC_RELAXED)

/* One load, one test and one branch where the level is off. */
#define PROTOLOG__CALL(SET, GROUP, LEVEL, SEVERITY, WIRE, ...)                                     \
    do {                                                                                           \
        const uint32_t protolog__word = PROTOLOG__LOAD(SET, GROUP);                                \
        if (SEVERITY >= PROTOLOG_MIN_LEVEL &&                                                      \
            __builtin_expect((protolog__word & PROTOLOG__MASK(SEVERITY)) != 0, 0)) {               \
            PROTOLOG__NOTE(SET, GROUP, LEVEL, WIRE, PROTOLOG__COUNT(__VA_ARGS__),                  \
                           PROTOLOG__TYPES(__VA_ARGS__), PROTOLOG__FIRST(__VA_ARGS__, 0));         \
            static struct protolog__site protolog__site;                                           \
            PROTOLOG__EMIT                                                                         \
            if (0) protolog__check(__VA_ARGS__);                                                   \
            if (__builtin_expect((protolog__word & PROTOLOG__UNUSUAL) == 0, 1) ||                  \
                protolog__ask(&SET, SET##_##GROUP, SEVERITY, &protolog__note, &protolog__site)) {  \
                /* The word said that the groups are registered. */                                \
                __atomic_thread_fence(__ATOMIC_ACQUIRE);                                           \
                protolog__send(PROTOLOG__COUNT(__VA_ARGS__), protolog__note.types,                 \
                               PROTOLOG__ARRAY(PROTOLOG__COUNT(__VA_ARGS__),                       \
                                               PROTOLOG__VALUES(__VA_ARGS__) 0),                   \
                               &protolog__note,                                                    \
                               (const char *)SET##__infos[SET##_##GROUP] + SEVERITY,               \
                               &protolog__site);                                                   \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
