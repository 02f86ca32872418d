// Calls where C++ has them: inline functions, templates, members, lambdas, static objects.
#include <protolog.h>

#include <cstdio>
#include <string>

PROTOLOG_GROUPS(AppLog, Net, Disk)

inline void inlined(int number) { protolog_d(AppLog, Net, "inline %d", number); }

template <class T> void generic(T value) {
    protolog_d(AppLog, Net, "template %s", std::to_string(value).c_str());
}

struct Object {
    const char *name;
    enum Kind { One = 1 };
    void member() const { protolog_d(AppLog, Disk, "member of %s, %d", name, One); }
    ~Object() { protolog_w(AppLog, Disk, "destructor of %s", name); }
};

static Object late{"a static"};

inline void never_called() { protolog_e(AppLog, Net, "never %d", 1); }
void (*volatile unused)() = never_called;

int main(int count, char **args) {
    if (count < 2) return 2;
    protolog_options options = PROTOLOG_OPTIONS_INIT;
    options.file = args[1];
    protolog_session *session = nullptr;
    if (protolog_session_start(&options, &session) != PROTOLOG_OK) return 1;
    for (int turn = 0; turn < 2; ++turn) {
        inlined(turn);
        generic(turn);
        generic(0.5);
        Object{"a temporary"}.member();
        auto lambda = [](auto value) { protolog_d(AppLog, Net, "lambda %d", value); };
        lambda(turn);
        if (count > 5) protolog_wtf(AppLog, Net, "unreached %d", turn);
    }
    protolog_i(AppLog, Net, "no %p", nullptr);
    // The session is left to the end of the process, after the destructors of statics.
}
