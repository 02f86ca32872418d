package dev.protolog.internal.files;

import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/**
 * Opens files for writing by {@link OutputRules}. Nothing else does.
 *
 * <p>A path may lead elsewhere at any time, so each step is done in the
 * {@linkplain OpenDirectory open directory}, and the rules are tested on the descriptor of the
 * opened file. An entry there by then was not changed.
 *
 * <p>Invariants: nothing here waits for another process. An interrupt of the thread has no effect,
 * and stays set.
 */
public final class Outputs {
    /** The attempts to open a file that is replaced again and again. */
    private static final int ATTEMPTS = 100;
    /**
     * Held while a file is opened and claimed: to close one that another thread has got would
     * release its lock.
     */
    private static final Object OPENING = new Object();

    private Outputs() {}

    /** The use of an existing regular file. */
    private enum Use {
        /** It is changed. */
        WRITE,
        /** It is replaced, renamed or removed. */
        REPLACE
    }

    /**
     * Creates a file, which must not be there. It can be mapped until it is
     * {@linkplain OutputFile#lock locked}.
     *
     * @throws FileAlreadyExistsException if anything is there, also a link that leads nowhere
     */
    public static OutputFile create(Location place) throws IOException {
        return create(place, false);
    }

    /** Creates a file, which must not be there, and locks it. */
    public static OutputFile createNew(Location place) throws IOException {
        return create(place, true);
    }

    private static OutputFile create(Location place, boolean locks) throws IOException {
        synchronized (OPENING) {
            OutputFile file = null;
            try (OpenDirectory directory = OpenDirectory.of(place)) {
                AsynchronousFileChannel channel = directory.channel(place.name(), StandardOpenOption.CREATE_NEW);
                FileStatus made = directory.status(place.name());
                boolean isTaken = false;
                try {
                    file = take(place, directory, made, channel, Use.WRITE);
                    if (file == null) {
                        throw changing(place);
                    } else if (locks) {
                        file.lock();
                    }
                    isTaken = true;
                } finally {
                    if (!isTaken) {
                        removeEmpty(directory, place.name(), made);
                    }
                }
                return file;
            } catch (IOException | RuntimeException | Error e) {
                // Also where the directory can't be closed: its claim would stay for good.
                if (file != null) {
                    file.close();
                }
                throw e;
            }
        }
    }

    /**
     * Removes a file that was just made and can't be used, as where the process may open no more.
     */
    private static void removeEmpty(OpenDirectory directory, String name, FileStatus made) {
        try {
            boolean isOwn = made != null && made.isRegular() && made.owner() == RunningProgram.user();
            if (isOwn && Files.size(directory.at(name)) == 0) {
                directory.remove(name, made.key());
            }
        } catch (IOException e) {
            // It stays, with nothing in it.
        }
    }

    /**
     * Opens and locks the file at a place, or creates it. An {@linkplain OutputFile#isObstructed
     * obstructed} one is to be replaced.
     */
    public static OutputFile open(Location place) throws IOException {
        int given = OutputRules.descriptor(place.path());
        if (given >= 0) {
            return new OutputFile(place, given);
        }
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            OutputFile file = openExisting(place, null, Use.WRITE);
            if (file != null) {
                return file;
            }
            try {
                return createNew(place);
            } catch (FileAlreadyExistsException e) {
                if (e.getReason() != null) {
                    throw e;
                }
                // Created by somebody else meanwhile.
            }
        }
        throw changing(place);
    }

    /**
     * As {@link #open}, and empties a regular file. One that lets others do more than a new one
     * does is replaced, since they may have it open; where it can't be, it loses these permissions,
     * if nobody else can have put it there.
     */
    public static OutputFile openEmpty(Location place) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            OutputFile file = open(place);
            boolean isKept = false;
            try {
                isKept = !file.isPermissive() || !isRemoved(file);
                if (isKept && file.isObstructed()) {
                    throw OpenFiles.inUse(place.path());
                }
                if (isKept && file.isRegular()) {
                    file.truncate(0);
                }
            } catch (IOException | RuntimeException | Error e) {
                isKept = false;
                throw e;
            } finally {
                if (!isKept) {
                    file.close();
                }
            }
            if (isKept) {
                return file;
            }
        }
        throw changing(place);
    }

    /** False of a file that can't be removed, and has lost the permissions of others. */
    private static boolean isRemoved(OutputFile file) throws IOException {
        try {
            file.remove();
            return true;
        } catch (IOException e) {
            file.restrict();
            return false;
        }
    }

    /**
     * Opens and locks a regular file that is to be replaced, renamed or removed, so that nobody
     * writes it meanwhile; null where nothing is. A file of this user that may not be written is
     * not held, and null as well. {@code own} is a claim of the caller on the name, or null.
     */
    public static OutputFile hold(Location place, Claims.Claim own) throws IOException {
        try {
            OutputFile file = openExisting(place, own, Use.REPLACE);
            if (file != null && !file.isRegular()) {
                file.close();
                throw new FileSystemException(place.path().toString(), null, "it is no regular file");
            }
            return file;
        } catch (AccessDeniedException e) {
            return null;
        }
    }

    /**
     * True if the entry at a place is written as it is, since it is there and no regular file. An
     * error if it is not to be written or replaced; {@code own} is a claim of the caller on the
     * name, or null.
     */
    public static boolean isStream(Location place, Claims.Claim own) throws IOException {
        if (OutputRules.descriptor(place.path()) >= 0) {
            return true;
        }
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            FileStatus found = directory.status(place.name());
            Claims.check(place, found, own);
            if (found != null) {
                OutputRules.check(place, directory, found, true);
            }
            return found != null && !found.isRegular();
        }
    }

    /** Opens and locks the file at a place; null where there is none. */
    private static OutputFile openExisting(Location place, Claims.Claim own, Use use) throws IOException {
        OutputFile file = null;
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                synchronized (OPENING) {
                    FileStatus found = directory.status(place.name());
                    Claims.check(place, found, own);
                    if (found == null) {
                        return null;
                    }
                    OutputRules.check(place, directory, found, use == Use.REPLACE);
                    file = openFound(place, directory, found, use);
                    if (file != null) {
                        return file;
                    }
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            // Also where the directory can't be closed: the claim would stay for good.
            if (file != null) {
                file.close();
            }
            throw e;
        }
        throw changing(place);
    }

    /** Opens and locks the entry found; null if another one is there by now. */
    private static OutputFile openFound(Location place, OpenDirectory directory, FileStatus found, Use use) throws IOException {
        AsynchronousFileChannel channel;
        try {
            channel = directory.channel(place.name());
        } catch (IOException e) {
            if (!directory.has(place.name(), found.key())) {
                return null;
            }
            throw e;
        }
        OutputFile file = take(place, directory, found, channel, use);
        if (file == null) {
            return null;
        }
        boolean isThere = false;
        try {
            file.lock();
            isThere = !file.isRegular() || directory.has(place.name(), found.key());
        } finally {
            if (!isThere) {
                file.close();
            }
        }
        // Else it was removed or replaced before it was locked.
        return isThere ? file : null;
    }

    /**
     * A channel's file, if it is the one that was found and the rules allow it; null if it is
     * another one. Closes the channel unless it is kept.
     */
    private static OutputFile take(Location place, OpenDirectory directory, FileStatus found, AsynchronousFileChannel channel, Use use) throws IOException {
        OutputFile file = null;
        try {
            int descriptor = found == null ? -1 : OpenFiles.descriptor(place.path(), channel, found.key());
            if (descriptor >= 0) {
                FileStatus opened = FileStatus.behind(OpenFiles.path(descriptor));
                OutputRules.check(place, directory, opened, use == Use.REPLACE);
                file = new OutputFile(place, opened, channel, descriptor);
            }
            return file;
        } finally {
            if (file == null) {
                channel.close();
            }
        }
    }

    private static IOException changing(Location place) {
        return new FileSystemException(place.path().toString(), null, "somebody replaces it again and again");
    }
}
