package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.session.SessionCore;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.write.PageLayout;
import dev.protolog.internal.write.SharedBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls that run out of stack wherever they are, such as between taking and opening a chunk, or
 * after a message was written: each message is recorded once or counted, and no chunk is kept that
 * nobody writes.
 */
final class FullStackCallTest {
    private static final long ID = 0x1122334455667799L;
    private static final long STACK = 256 << 10;
    private static final int ROUNDS = 3;
    /** The deepest calls, which run out of stack before they reach the runtime, end a round. */
    private static final int ENOUGH = 8;
    /** The frames before the deepest one that fits, from which on each depth is tried. */
    private static final int BEFORE = 60;
    private static final int STEP = 4;
    private static final int LONG = 3000;

    private long logged;
    private long failed;
    /** Messages whose call had no stack to begin. */
    private long notBegun;

    private FullStackCallTest() {}

    static void run() throws Exception {
        // In a crowded buffer each message completes its chunk after it was written.
        for (boolean isCrowded : new boolean[] {false, true}) {
            new FullStackCallTest().run(isCrowded);
        }
    }

    private void run(boolean isCrowded) throws Exception {
        Path trace = Files.createTempFile("protolog-stack", ".pftrace");
        try (Session session = Session.builder().file(trace).bufferBytes(256 << 10).enableAll().start()) {
            SessionCore core = Sessions.running().stream().filter(session.running()::isOf).findFirst().orElseThrow();
            List<SharedBuffer.Claim> held = new ArrayList<>();
            while (isCrowded && !core.buffer().isCrowded(false)) {
                SharedBuffer.Claim claim = new SharedBuffer.Claim();
                core.buffer().acquire(claim, SharedBuffer.NONE, PageLayout.ONE, 0);
                held.add(claim);
            }
            Thread thread = new Thread(null, this::search, "full stack", STACK);
            thread.start();
            thread.join();
            check("some calls fail", failed > 0, true);
            held.forEach(core.buffer()::giveBack);
            session.flush();
            // Another writer has threads that have ended looked for.
            core.sweep();
            session.flush();
            check("chunks that somebody writes", chunks(core.buffer(), PageLayout.WRITING), 0);
            check("chunks that nobody reads", chunks(core.buffer(), PageLayout.COMPLETE), 0);
            Summary summary = session.stop();
            long known = summary.messages() + summary.lost();
            check("messages, with those that are lost: " + known, known >= logged - notBegun && known <= logged, true);
            check("some are recorded", summary.messages() > 100, true);
        } finally {
            Files.delete(trace);
        }
    }

    private void search() {
        // Code that is linked now needs no stack of its own later.
        log(0);
        for (int round = 0; round < ROUNDS; round++) {
            int fits = 0;
            for (int step = 4096; step >= STEP; step /= 2) {
                fits += log(fits + step) ? step : 0;
            }
            int depth = fits - BEFORE;
            for (int failures = 0; failures < ENOUGH; depth++) {
                failures = log(depth) ? 0 : failures + 1;
            }
        }
    }

    /** False if the call was not reached. */
    private boolean log(int depth) {
        try {
            descend(depth, "x".repeat((int) (logged % 7) * LONG / 3));
            return true;
        } catch (StackOverflowError e) {
            failed++;
            return false;
        }
    }

    private void descend(int depth, String text) {
        if (depth > 0) {
            descend(depth - 1, text);
            return;
        }
        logged++;
        try {
            ProtoLogImpl.i(LevelsTest.Group.QUIET, ID, 0, text);
        } catch (StackOverflowError e) {
            notBegun++;
            throw e;
        }
    }

    private static int chunks(SharedBuffer buffer, int state) {
        int found = 0;
        for (int page = 0; page < buffer.size() / PageLayout.PAGE; page++) {
            int word = buffer.memory().getInt(page * PageLayout.PAGE);
            for (int index = 0; index < PageLayout.chunks(PageLayout.layout(word)); index++) {
                found += PageLayout.state(word, index) == state ? 1 : 0;
            }
        }
        return found;
    }
}
