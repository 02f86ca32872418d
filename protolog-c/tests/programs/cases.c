/* A program for the tests in cases.rs: `cases CASE FILE [MORE]`. */
#define _GNU_SOURCE
#include <protolog.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

PROTOLOG_GROUPS(AppLog, Net, Disk)

static struct protolog_session *session;
static volatile int is_over;

static void check(int result) {
    if (result == PROTOLOG_OK) return;
    fprintf(stderr, "%d %s\n", result, protolog_error());
    exit(1);
}

static void start(const char *file, uint32_t keep, uint32_t follow_forks) {
    struct protolog_options options = PROTOLOG_OPTIONS_INIT;
    options.file = file;
    options.keep = keep;
    options.follow_forks = follow_forks;
    check(protolog_session_start(&options, &session));
}

static void stop(void) {
    struct protolog_summary summary;
    check(protolog_session_stop(session, &summary));
    printf("%llu messages, %llu lost, %llu overwritten\n", (unsigned long long)summary.messages,
           (unsigned long long)summary.lost, (unsigned long long)summary.overwritten);
}

static void *work(void *number) {
    int turn;
    for (turn = 0; turn < 10000; ++turn) {
        protolog_d(AppLog, Net, "thread %d turn %d", *(int *)number, turn);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[8];
    int numbers[8], at;
    for (at = 0; at < 8; ++at) {
        numbers[at] = at;
        pthread_create(&all[at], NULL, work, &numbers[at]);
    }
    for (at = 0; at < 8; ++at) pthread_join(all[at], NULL);
}

static void *log_on(void *nothing) {
    while (!is_over) {
        protolog_v(AppLog, Disk, "busy %p", nothing);
        usleep(10);
    }
    return NULL;
}

/* Children of a process whose threads log must be able to log, each time. */
static void forks(void) {
    pthread_t all[3];
    int at, status;
    for (at = 0; at < 3; ++at) pthread_create(&all[at], NULL, log_on, NULL);
    for (at = 0; at < 100; ++at) {
        pid_t child = fork();
        if (child == 0) {
            protolog_i(AppLog, Net, "child %d", at);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0) exit(1);
    }
    is_over = 1;
    for (at = 0; at < 3; ++at) pthread_join(all[at], NULL);
    protolog_i(AppLog, Net, "parent");
}

static void child(void) {
    int status;
    pid_t pid;
    protolog_i(AppLog, Net, "before the fork");
    pid = fork();
    if (pid == 0) {
        protolog_i(AppLog, Net, "in the child");
        exit(0);
    }
    waitpid(pid, &status, 0);
    protolog_i(AppLog, Net, "in the parent");
    if (status != 0) exit(1);
}

static void plugin(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    int (*greet)(int);
    if (library == NULL) {
        fputs(dlerror(), stderr);
        exit(1);
    }
    *(void **)&greet = dlsym(library, "greet");
    if (greet(3) != 3) exit(1);
    dlclose(library);
    protolog_i(AppLog, Net, "the plugin was closed");
}

/* Texts that end where the readable memory ends. */
static void edges(void) {
    long page = sysconf(_SC_PAGESIZE);
    char *start =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *end = start + page;
    int length, turn;
    if (start == MAP_FAILED || mprotect(end, page, PROT_NONE) != 0) exit(1);
    memset(start, 'x', page);
    for (turn = 0; turn < 2; ++turn) {
        for (length = 0; length < 20; ++length) {
            protolog_i(AppLog, Net, "%.*s", length, end - length); /* no zero */
        }
        protolog_i(AppLog, Net, "%.8s", end - 8);
        end[-1] = 0;
        for (length = 0; length < 20; ++length) {
            protolog_i(AppLog, Net, "%s", end - 1 - length);
        }
        end[-1] = 'x';
        protolog_i(AppLog, Net, "%s %s", (char *)NULL, "after null");
        protolog_i(AppLog, Net, "%.3s|%10s", (char *)NULL, (char *)NULL);
        protolog_i(AppLog, Net, "latin %s %s", "gr\xfc\xdf", "\xff");
        protolog_i(AppLog, Net, "gr\xf6\xdf %d %-3s|", turn, "x");
    }
}

static void errors_of_arguments(void) {
    struct protolog_options options = PROTOLOG_OPTIONS_INIT, small = PROTOLOG_OPTIONS_INIT;
    struct protolog_session *none = NULL;
    char path[4];
#define PRINT(CALL)                                                                                \
    do {                                                                                           \
        int result = CALL;                                                                         \
        printf("%d %s\n", result, protolog_error());                                               \
    } while (0)
    PRINT(protolog_session_start(NULL, &none));
    PRINT(protolog_session_start(&options, NULL));
    PRINT(protolog_session_start(&options, &none));
    small.size = 8;
    PRINT(protolog_session_start(&small, &none));
    options.file = "/no/such/directory/app.pftrace";
    PRINT(protolog_session_start(&options, &none));
    options.level = 7;
    PRINT(protolog_session_start(&options, &none));
    options.level = PROTOLOG_OFF;
    options.keep = 9;
    PRINT(protolog_session_start(&options, &none));
    options.keep = PROTOLOG_NEWEST;
    options.recording = "app.rec";
    PRINT(protolog_session_start(&options, &none));
    options.recording = NULL;
    options.levels = "Net=loud";
    PRINT(protolog_session_start(&options, &none));
    PRINT(protolog_session_flush(NULL));
    PRINT(protolog_session_stop(NULL, NULL));
    PRINT(protolog_session_snapshot(NULL, NULL, NULL));
    PRINT(protolog_register_groups(NULL));
    PRINT(protolog_print_group(&AppLog, 2, PROTOLOG_INFO));
    PRINT(protolog_print_group(&AppLog, AppLog_Net, 9));
    PRINT(protolog_session_flush(session));
    PRINT(protolog_session_recording(session, path, sizeof path));
    PRINT(protolog_session_snapshot(session, "other.pftrace", NULL));
}

static void kept_errno(void) {
    long turn;
    for (turn = 0; turn < 300000; ++turn) {
        errno = 77;
        protolog_d(AppLog, Net, "turn %ld", turn);
        protolog_d(AppLog, Net, "%s %-5d", "printed", 5);
        if (errno != 77) exit(1);
    }
    /* Standard error that can't be written. */
    if (dup2(open("/dev/null", O_RDONLY), STDERR_FILENO) < 0) exit(1);
    check(protolog_print_group(&AppLog, AppLog_Net, PROTOLOG_VERBOSE));
    for (turn = 0; turn < 3; ++turn) {
        errno = 77;
        protolog_d(AppLog, Net, "printed %ld", turn);
        if (errno != 77) exit(1);
        protolog_d(AppLog, Net, "printed %ld %ld %ld %ld", turn, 2L, 3L, 4L);
        if (errno != 77) exit(1);
        protolog_d(AppLog, Net, "printed %lu", ~0UL);
        if (errno != 77) exit(1);
    }
}

static void handler(int signal) {
    int kept = errno;
    protolog_w(AppLog, Disk, "signal %d", signal);
    errno = kept;
}

static void signals(void) {
    int turn;
    signal(SIGUSR1, handler);
    check(protolog_prepare_thread());
    for (turn = 0; turn < 1000; ++turn) {
        protolog_d(AppLog, Net, "turn %d", turn);
        raise(SIGUSR1);
    }
}

static int counted;

static int evaluated(void) { return ++counted; }

int main(int count, char **args) {
    const char *name = args[1];
    if (count < 3) return 2;
    if (strcmp(name, "init") == 0) {
        check(protolog_init());
        check(protolog_register_groups(&AppLog));
        puts("ready");
        fflush(stdout);
        while (getchar() != EOF) protolog_d(AppLog, Net, "asked %d", 1);
        return 0;
    }
    start(args[2], strcmp(name, "ring") == 0 ? PROTOLOG_NEWEST : PROTOLOG_STREAM,
          strcmp(name, "child") == 0);
    if (strcmp(name, "threads") == 0) threads();
    if (strcmp(name, "forks") == 0) forks();
    if (strcmp(name, "child") == 0) child();
    if (strcmp(name, "plugin") == 0) plugin(args[3]);
    if (strcmp(name, "edges") == 0) edges();
    if (strcmp(name, "errors") == 0) errors_of_arguments();
    if (strcmp(name, "errno") == 0) kept_errno();
    if (strcmp(name, "signals") == 0) signals();
    if (strcmp(name, "off") == 0) {
        protolog_v(AppLog, Net, "on %d", evaluated());
        check(protolog_session_stop(session, NULL));
        protolog_wtf(AppLog, Net, "off %d", evaluated());
        printf("%d %d\n", counted, protolog_is_enabled(AppLog, Net, PROTOLOG_WTF));
        return 0;
    }
    if (strcmp(name, "ring") == 0) {
        int turn;
        for (turn = 0; turn < 300000; ++turn) protolog_d(AppLog, Net, "turn %d", turn);
        check(protolog_session_snapshot(session, args[3], NULL));
    }
    if (strcmp(name, "killed") == 0) {
        int turn;
        for (turn = 0; turn < 5000; ++turn) protolog_d(AppLog, Net, "turn %d %s", turn, "é");
        kill(getpid(), SIGKILL);
    }
    stop();
    return 0;
}
