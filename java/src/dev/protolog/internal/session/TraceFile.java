package dev.protolog.internal.session;

import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.OutputRules;
import dev.protolog.internal.files.Outputs;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A trace file that a session writes. A segment has another name until it is complete.
 *
 * <p>Invariant: no two sessions write one file.
 */
final class TraceFile {
    /** The name that it gets when it is complete; null where it has that already. */
    private final Location name;
    private final OutputFile file;
    private final TraceOutput out;
    private long beginning;

    private TraceFile(OutputFile file, Location name, int compression) {
        this.name = name;
        this.file = file;
        out = new TraceOutput(file.out(), compression);
    }

    /**
     * Opens the file by the rules of {@link OutputRules}; an existing one is emptied, or replaced
     * if others may read it.
     */
    static TraceFile create(Location place, int compression) throws IOException {
        return of(Outputs.openEmpty(place), null, compression);
    }

    /** Creates a file that is not there yet; it becomes {@code name} when it is complete. */
    static TraceFile createNew(Location place, Location name, int compression) throws IOException {
        return of(Outputs.createNew(place), name, compression);
    }

    /**
     * Takes over a file, which is closed where there is no memory for that: its claim would stay
     * for good.
     */
    private static TraceFile of(OutputFile file, Location name, int compression) throws IOException {
        try {
            return new TraceFile(file, name, compression);
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    Path path() {
        return file.path();
    }

    /** Where the file is, without links. */
    Path realPath() {
        return file.place().real();
    }

    /** The path of the file once it is complete. */
    Path name() {
        return name == null ? file.path() : name.path();
    }

    TraceOutput out() {
        return out;
    }

    /** Says that the file has no message so far, but all that comes before the first one. */
    void setBegun() {
        beginning = out.size();
    }

    /** True if the file has no message. */
    boolean isEmpty() {
        return out.size() == beginning;
    }

    /** Forgets the bytes written after {@code mark}. An error if it is no file. */
    void rewind(TraceOutput.Mark mark) throws IOException {
        if (out.hasMore(mark)) {
            file.truncate(mark.written());
        }
        out.rewind(mark);
    }

    /** Takes the lock of the file again. */
    void keepLock() {
        file.keepLock();
    }

    /** True if nothing leads to the file any more: somebody else has removed it. */
    boolean isRemoved() {
        return file.isRegular() && file.isRemoved();
    }

    /** The remains of it if somebody else has cut it, while nothing is buffered; or null. */
    Remains remainsOfCut(SessionDictionary dictionary) throws IOException {
        boolean isCut = file.isRegular() && file.size() < out.written();
        return isCut ? Remains.read(file.in(), file.size(), dictionary) : null;
    }

    /** Goes on at {@code end}, where a packet ends. */
    void restart(long end) throws IOException {
        file.truncate(end);
        out.rewind(new TraceOutput.Mark(end, out.packetBytes()));
    }

    /** The bytes that were written so far, for other threads. */
    long written() {
        return file.written();
    }

    /** Gives a complete file its name, and leaves it open; null for one that is not regular. */
    OutputFile completeOpen() throws IOException {
        if (!file.isRegular()) {
            return null;
        }
        if (name != null) {
            file.moveToFree(name.name());
        }
        return file;
    }

    /**
     * Closes the file; a complete one gets its name. After an error of the JVM it may be closed
     * again.
     */
    void close(boolean isComplete) throws IOException {
        file.close();
        if (isComplete && name != null) {
            file.moveToFree(name.name());
        }
    }

    /** Closes and removes the file. */
    void remove() throws IOException {
        file.close();
        file.remove();
    }
}
