package net;

import dev.protolog.IProtoLogGroup;

/** The groups of the program and its library. */
public enum AppLog implements IProtoLogGroup {
    APP("App"),
    NET("Net");

    private final String tag;

    AppLog(String tag) {
        this.tag = tag;
    }

    @Override public String getTag() {
        return tag;
    }
}
