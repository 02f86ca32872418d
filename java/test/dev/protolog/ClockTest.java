package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.proto.ProtoReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The clocks of a trace: a session relates them where it starts and where it ends. */
final class ClockTest {
    private ClockTest() {}

    static void run() throws Exception {
        for (boolean isStream : new boolean[] {true, false}) {
            Path trace = Files.createTempFile("protolog", ".pftrace");
            try {
                Session.Builder builder = Session.builder().file(trace).enableAll();
                try (Session session = (isStream ? builder : builder.keepNewest()).start()) {
                    ProtoLogImpl.i(LevelsTest.Group.QUIET, 1, 1, 7L);
                    session.stop();
                }
                List<List<Long>> snapshots = snapshots(Files.readAllBytes(trace));
                check("snapshots of a trace", snapshots.size(), 2);
                for (int clock = 0; clock < 3; clock++) {
                    check("clock " + clock + " goes on", snapshots.get(1).get(clock) > snapshots.get(0).get(clock), true);
                }
            } finally {
                Files.delete(trace);
            }
        }
    }

    /** REALTIME, MONOTONIC and BOOTTIME of each snapshot that has them. */
    private static List<List<Long>> snapshots(byte[] trace) throws ProtoReader.MalformedException {
        List<List<Long>> snapshots = new ArrayList<>();
        ProtoReader packets = new ProtoReader(trace);
        while (packets.next()) {
            ProtoReader packet = packets.message();
            while (packet.next()) {
                if (packet.field() != 6) {
                    packet.skip();
                    continue;
                }
                List<Long> times = times(packet.message());
                if (times.size() == 3) {
                    snapshots.add(times);
                }
            }
        }
        return snapshots;
    }

    private static List<Long> times(ProtoReader snapshot) throws ProtoReader.MalformedException {
        List<Long> times = new ArrayList<>();
        while (snapshot.next()) {
            if (snapshot.field() != 1) {
                snapshot.skip();
                continue;
            }
            ProtoReader clock = snapshot.message();
            while (clock.next()) {
                if (clock.field() == 2) {
                    times.add(clock.varint());
                } else {
                    clock.skip();
                }
            }
        }
        return times;
    }
}
