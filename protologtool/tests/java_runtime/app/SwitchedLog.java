package app;

import dev.protolog.IProtoLogGroup;

/** Groups to be switched: one that is not printed, one that is, and one that is compiled out. */
enum SwitchedLog implements IProtoLogGroup {
    NET,
    DISK,
    OUT;

    @Override
    public boolean isEnabled() {
        return this != OUT;
    }

    @Override
    public boolean isLogToLogcat() {
        return this != NET;
    }

    @Override
    public String getTag() {
        return name();
    }
}
