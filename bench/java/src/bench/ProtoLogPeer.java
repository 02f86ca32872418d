package bench;

import static bench.BenchLog.NET;

import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.IOException;

/** The runtime. {@code cargo xtask bench java} has the tool rewrite this file. */
final class ProtoLogPeer implements Peer {
    private final String file;
    private final Session session;

    ProtoLogPeer(String directory) throws IOException {
        file = directory + "/protolog.pftrace";
        session = Session.builder().file(file).logFrom(LogLevel.INFO).bufferBytes(16 << 20).start();
    }

    @Override
    public void twoInts(int a, int b) {
        ProtoLog.i(NET, "sent %d bytes in %d packets", a, b);
    }

    @Override
    public void intAndString(int a, String b) {
        ProtoLog.i(NET, "sent %d bytes to %s", a, b);
    }

    @Override
    public void twoIntsAndDouble(int a, int b, double c) {
        ProtoLog.i(NET, "sent %d bytes in %d packets, %f ms", a, b, c);
    }

    @Override
    public void sixArguments(int a, String b, int c, double d, boolean e, String f) {
        ProtoLog.i(NET, "sent %d bytes to %s in %d packets, %f ms, again: %b, by %s", a, b, c, d, e, f);
    }

    @Override
    public void off(int a, int b) {
        ProtoLog.d(NET, "received %d bytes in %d packets", a, b);
    }

    @Override
    public void close() throws IOException {
        session.stop();
    }

    @Override
    public String output() {
        return file;
    }
}
