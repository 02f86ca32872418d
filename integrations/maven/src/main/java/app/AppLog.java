package app;

import dev.protolog.IProtoLogGroup;

/** The program's groups. */
enum AppLog implements IProtoLogGroup {
    NET("Net"),
    DISK("Disk");

    private final String tag;

    AppLog(String tag) {
        this.tag = tag;
    }

    @Override public String getTag() {
        return tag;
    }
}
