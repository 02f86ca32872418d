package dev.protolog.internal.session;

import dev.protolog.internal.process.BootClock;
import java.io.IOException;

/**
 * The parts of a session that starts. Invariant: after an error nothing is left of those that were
 * made before.
 */
final class SessionStart {
    private SessionStart() {}

    /** The core; {@code own} is the claim on the file that it will be, which ends with an error. */
    static SessionCore core(SessionConfig config, byte[] id, KeptTrace.Own own) throws IOException {
        try {
            return new SessionCore(config, id);
        } catch (IOException | RuntimeException | Error e) {
            if (own != null) {
                own.close();
            }
            throw e;
        }
    }

    /** The stream; with an error the core ends, and its recording goes. */
    static Stream stream(SessionCore core, SessionConfig config, BootClock.Moment started) throws IOException {
        try {
            return new Stream(core, config, started);
        } catch (IOException | RuntimeException | Error e) {
            // Its thread ends.
            core.stop();
            if (core.recording() != null) {
                core.recording().close(true);
            }
            throw e;
        }
    }

    /** Ends all parts after an error, which is the caller's: others are not told. */
    static void abandon(SessionCore core, KeptTrace.Own own, Stream stream) {
        core.stop();
        try {
            Sessions.remove(core);
        } finally {
            close(own, stream, core.recording());
        }
    }

    private static void close(KeptTrace.Own own, Stream stream, Recording recording) {
        try {
            if (own != null) {
                own.close();
            }
            if (stream != null) {
                stream.release();
            }
            if (recording != null) {
                recording.close(true);
            }
        } catch (IOException e) {
            // They are closed.
        }
    }
}
