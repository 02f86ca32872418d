package dev.protolog.internal.session;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OpenFiles;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.proto.ProtoReader.MalformedException;
import dev.protolog.internal.proto.ProtoReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The beginning of a trace, which says whether it is a segment, and of which session's name: the
 * number in a file's name may be that of a process, or a date.
 *
 * <p>Invariants: takes any bytes, and reads at most {@link #MOST} of them; its bundles are inflated
 * up to {@link #INFLATED} in all. Nothing of another user is read: a user who may put files there
 * could put any number of them.
 */
final class SegmentHead {
    /** The part of a trace that has the id of its session, in bytes. */
    private static final int MOST = 1 << 20;
    /**
     * The part that has it unless it is behind a long list of groups: there may be thousands of
     * files.
     */
    private static final int FIRST = 1 << 14;

    /** The most bytes of its bundles, all together. */
    private static final int INFLATED = 16 << 20;

    private static final int PACKET = 1;
    private static final int COMPRESSED_PACKETS = 50;
    private static final int SEQUENCE_INFO = 1000;
    private static final int SEGMENTS_OF = 9;

    /** The bytes that bundles may still have. */
    private int left = INFLATED;

    private SegmentHead() {
    }

    /** True if a file of this user is a segment of a session that was given this name. */
    static boolean isOf(String name, OpenDirectory directory, String file) {
        try {
            FileStatus found = directory.status(file);
            // To close one of this process would release its lock.
            if (!isOfUser(found) || OpenFiles.isLocked(found.key())) {
                return false;
            }
            try (InputStream in = directory.reader(file, found.key())) {
                return says(name, file, in);
            }
        } catch (IOException e) {
            return false;
        }
    }

    /** As above, of one that is held. */
    static boolean isOf(String name, OutputFile held) throws IOException {
        return says(name, held.place().name(), held.in());
    }

    private static boolean says(String name, String file, InputStream in) throws IOException {
        byte[] head = in.readNBytes(FIRST);
        if (head.length == 0) {
            return Segments.isPart(file);
        }
        String found = segmentsOf(head);
        if (found == null && head.length == FIRST) {
            byte[] rest = in.readNBytes(MOST - FIRST);
            byte[] all = Arrays.copyOf(head, FIRST + rest.length);
            System.arraycopy(rest, 0, all, FIRST, rest.length);
            found = segmentsOf(all);
        }
        return name.equals(found);
    }

    private static String segmentsOf(byte[] head) {
        return new SegmentHead().segmentsOf(new ProtoReader(head), true);
    }

    /** True of a regular file of this user. */
    private static boolean isOfUser(FileStatus found) throws IOException {
        return found != null && found.isRegular() && found.owner() == RunningProgram.user();
    }

    /**
     * The name in the first packets that have one; null for none. A packet that is cut off is the
     * last one.
     */
    private String segmentsOf(ProtoReader trace, boolean mayBeBundled) {
        try {
            while (trace.next()) {
                if (trace.field() != PACKET) {
                    trace.skip();
                    continue;
                }
                String name = ofPacket(trace.message(), mayBeBundled);
                if (name != null) {
                    return name;
                }
            }
        } catch (MalformedException e) {
            // The rest is not there.
        }
        return null;
    }

    private String ofPacket(ProtoReader packet, boolean mayBeBundled) throws MalformedException {
        while (packet.next()) {
            String name = null;
            if (packet.field() == SEQUENCE_INFO) {
                name = ofInfo(packet.message());
            } else if (packet.field() == COMPRESSED_PACKETS && mayBeBundled) {
                name = segmentsOf(new ProtoReader(inflated(packet.bytes())), false);
            } else {
                packet.skip();
            }
            if (name != null) {
                return name;
            }
        }
        return null;
    }

    private static String ofInfo(ProtoReader info) throws MalformedException {
        String name = null;
        while (info.next()) {
            if (info.field() == SEGMENTS_OF) {
                name = info.string();
            } else {
                info.skip();
            }
        }
        return name;
    }

    private byte[] inflated(byte[] bundle) {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(bundle);
            ByteArrayOutputStream packets = new ByteArrayOutputStream();
            byte[] part = new byte[1 << 13];
            while (packets.size() < MOST && left > 0) {
                int count = inflater.inflate(part);
                if (count == 0) {
                    break;
                }
                left -= count;
                packets.write(part, 0, count);
            }
            return packets.toByteArray();
        } catch (DataFormatException e) {
            return new byte[0];
        } finally {
            inflater.end();
        }
    }
}
