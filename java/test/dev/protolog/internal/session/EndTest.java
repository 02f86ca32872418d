package dev.protolog.internal.session;

import static dev.protolog.SelfTest.check;

import dev.protolog.FaultTrace;
import dev.protolog.LevelsTest;
import dev.protolog.LogLevel;
import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.text.Arguments;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.write.Call;
import dev.protolog.internal.write.FillPolicy;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.PageLayout;
import dev.protolog.internal.write.Sequence;
import dev.protolog.internal.write.TraceWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A stream that is complete while the program goes on to end: who comes late is counted, and the
 * stream's own thread changes nothing.
 */
public final class EndTest {
    private static final long ID = 1;

    private EndTest() {}

    public static void run() throws Exception {
        Path file = Files.createTempFile("protolog", ".pftrace");
        Filter filter = new Filter(LevelSet.andAbove(LogLevel.VERBOSE), Map.of(), List.of());
        SessionConfig config = new SessionConfig(file, null, filter, FillPolicy.STREAM, 256 << 10, 4096, false, 0, 0, new Segments.Limits(0, 0, 0),
                EarlierRuns.Earlier.DEFAULT, EndReport.NONE, List.of(), null, null, null);
        SessionCore core = new SessionCore(config, new byte[16]);
        Stream stream = new Stream(core, config, core.clock().moment());
        core.open();
        Sessions.add(core);
        call().end();
        // A thread that is still within a call when the end begins, and finds no chunk.
        Call late = call();
        core.beginEnd();
        core.stop();
        TraceWriter writer = new TraceWriter(core, new Sequence(PageLayout.MAX_WRITER_ID), false);
        check("a message for which the end leaves no room", writer.write(late), false);
        core.lose(writer.sequence, late.group.id, LossCause.BUFFER_FULL);
        lookLate(stream, core);
        call().end();
        Sessions.remove(core);
        FaultTrace trace = FaultTrace.read(List.of(file), Set.of(ID));
        check("the trace", trace.messages + " and " + trace.losses + trace.problems, "1 and {BUFFER_FULL=1, WRITE_FAILED=1}[]");
        Files.delete(file);
    }

    /** The stream's thread, on its way to look at the buffer while the end is written. */
    private static void lookLate(Stream stream, SessionCore core) throws IOException {
        stream.finish(true);
        if (core.recording() != null) {
            core.recording().close(true);
        }
        check("a late look", stream.write(true), true);
        stream.releaseFailed();
        check("its error", String.valueOf(core.failure()), "null");
    }

    private static Call call() {
        return Call.begin(LevelsTest.Group.QUIET, LogLevel.WTF, ID, Arguments.INTEGER).add(1);
    }
}
