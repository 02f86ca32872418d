package dev.protolog.internal.session;

import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.proto.Xxh3;
import dev.protolog.internal.write.BufferStats;
import dev.protolog.internal.write.SequenceState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;

/**
 * The packets of a session's own sequence: process, clocks, instants.
 * {@code docs/design/wire-format.md} has their fields.
 */
public final class TracePackets {
    private static final int REALTIME = 1;
    private static final int MONOTONIC = 3;

    private TracePackets() {}

    /**
     * The process, and the session with its filter; {@code segmentsOf} is the name that a session
     * with segments was given, or null.
     */
    static byte[] process(int pid, byte[] sessionId, Filter filter, String segmentsOf) {
        String name = RunningProgram.command();
        ProtoWriter process = new ProtoWriter().varint(1, pid);
        List<String> arguments = commandLine();
        arguments.forEach(argument -> process.string(2, argument));
        process.string(6, name);
        ProtoWriter sequence = new ProtoWriter().varint(1, pid);
        byte[] boot = bootId();
        if (boot.length == 16) {
            sequence.bytes(5, boot);
        }
        Long fingerprint = fingerprint();
        if (fingerprint != null) {
            sequence.fixed64(6, fingerprint);
        }
        sequence.bytes(7, sessionId).message(8, filter.describe());
        if (segmentsOf != null) {
            sequence.string(9, segmentsOf);
        }
        return new ProtoWriter()
                .message(60, new ProtoWriter().varint(1, track(pid)).message(3, process))
                .message(1000, sequence)
                .done();
    }

    public static byte[] clocks(BootClock.Moment moment) {
        Function<long[], ProtoWriter> clock = it -> new ProtoWriter().varint(1, it[0]).varint(2, it[1]);
        ProtoWriter snapshot = new ProtoWriter()
                .message(1, clock.apply(new long[] {REALTIME, moment.realtime()}))
                .message(1, clock.apply(new long[] {MONOTONIC, moment.monotonic()}))
                .message(1, clock.apply(new long[] {SequenceState.BOOTTIME, moment.boottime()}))
                .varint(2, SequenceState.BOOTTIME);
        return new ProtoWriter().message(6, snapshot).done();
    }

    /**
     * Statistics of a buffer, in Perfetto's fields and in ours, and before it of that of pinned
     * messages, null for none: readers take the last one.
     */
    static byte[] stats(BufferStats buffer, BufferStats pinned) {
        ProtoWriter all = new ProtoWriter();
        if (pinned != null) {
            all.message(1, describe(pinned));
        }
        return new ProtoWriter().message(35, all.message(1, describe(buffer))).done();
    }

    private static ProtoWriter describe(BufferStats buffer) {
        return new ProtoWriter()
                .varint(1, buffer.bytesWritten())
                .varint(2, buffer.written())
                .varint(3, buffer.overwritten())
                .varint(12, buffer.size())
                .varint(14, buffer.bytesRead())
                .varint(17, buffer.read())
                .varint(1000, buffer.highWater());
    }

    /**
     * An instant on the process's track: Perfetto takes a trace with nothing but messages for
     * empty.
     */
    static byte[] instant(int pid, long nanos, String name) {
        return new ProtoWriter()
                .varint(8, nanos)
                .message(11, new ProtoWriter().varint(9, 3).varint(11, track(pid)).string(23, name))
                .done();
    }

    /** The kernel's id of the machine's boot, 16 bytes; empty if it is not known. */
    static byte[] bootId() {
        try {
            String text = Files.readString(Path.of("/proc/sys/kernel/random/boot_id"));
            return HexFormat.of().parseHex(text.strip().replace("-", ""));
        } catch (IOException | RuntimeException e) {
            return new byte[0];
        }
    }

    /** The id of a process's track, as in {@code protolog-core/src/id.rs}. */
    private static long track(int pid) {
        byte[] bytes = "protolog process    \0".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 4; i++) {
            bytes[bytes.length - 1 - i] = (byte) (pid >>> 8 * i);
        }
        return Xxh3.hash(bytes) | 1;
    }

    private static List<String> commandLine() {
        try {
            String all = Files.readString(Path.of("/proc/self/cmdline"), StandardCharsets.ISO_8859_1);
            String text = new String(all.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
            return List.of(text.split("\0"));
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * A number that tells the process apart from others of this boot with the same id, as Rust's
     * programs have it.
     */
    private static Long fingerprint() {
        try {
            String status = Files.readString(Path.of("/proc/self/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = status.substring(status.lastIndexOf(')') + 1).strip().split("\\s+");
            String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
            return Xxh3.hash((fields[22 - 3] + " " + namespace).getBytes(StandardCharsets.UTF_8));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }
}
