//! Sources in Java that commands of pages and help texts name.

/// The class of groups, `com.foo.AppLog`.
pub(crate) const GROUPS: &str = "\
package com.foo;

public enum AppLog implements dev.protolog.IProtoLogGroup {
    NET(\"Net\");

    private final String tag;

    AppLog(String tag) { this.tag = tag; }

    public String getTag() { return tag; }
}
";

/// A class with a log call.
pub(crate) const CALLS: &str = "\
package com.foo;

import dev.protolog.ProtoLog;

class Net {
    static void sent(int n, String host) {
        ProtoLog.d(AppLog.NET, \"sent %d bytes to %s\", n, host);
    }
}
";
