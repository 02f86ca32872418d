package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.ProtoLogImpl;
import dev.protolog.Session;
import java.nio.file.Path;
import java.util.Arrays;

/** Calls that no compiler has checked; none may throw: {@code Wrong DIRECTORY}. */
public final class Wrong {
    private static final IProtoLogGroup BROKEN = new IProtoLogGroup() {
        @Override
        public String name() {
            throw new IllegalStateException();
        }

        @Override
        public String getTag() {
            return null;
        }
    };

    private Wrong() {}

    public static void main(String[] args) throws Exception {
        Session.Builder builder = Session.builder().file(Path.of(args[0], "wrong.pftrace")).keepNewest();
        try (Session session = builder.group(AppLog.NET, LogLevel.INFO).group("DISK", null).start()) {
            ProtoLog.init((IProtoLogGroup[]) null);
            ProtoLog.init(AppLog.NET, null, BROKEN);
            ProtoLog.i(null, "no group");
            ProtoLog.i(BROKEN, "broken %d", 1);
            ProtoLog.i(AppLog.NET, null);
            ProtoLog.i(AppLog.NET, "%d", "text");
            ProtoLog.i(AppLog.NET, "%d %d", 1);
            ProtoLog.i(AppLog.NET, "%q");
            ProtoLog.i(AppLog.NET, "%s", (Object[]) null);
            ProtoLog.d(AppLog.NET, "below the level");
            ProtoLog.wtf(AppLog.DISK, "off");
            ProtoLogImpl.i(null, 1, 0);
            ProtoLogImpl.i(AppLog.NET, 2, 0, (Object[]) null);
            Object[] many = new Object[40];
            Arrays.fill(many, 1L);
            ProtoLogImpl.i(AppLog.NET, 3, 0x5555_5555_5555_5555L, many);
            deep(0);
            System.out.println(session.stop().messages());
        }
    }

    /** Logs until the stack is full, and then again. */
    private static void deep(int depth) {
        try {
            deep(depth + 1);
        } catch (StackOverflowError e) {
            // Where the stack ends depends on the machine.
        }
        if (depth == 0) {
            ProtoLog.i(AppLog.NET, "unwound");
        } else if (depth > 100 && depth % 64 == 0) {
            ProtoLog.v(AppLog.DISK, "not recorded %d", depth);
        }
    }
}
