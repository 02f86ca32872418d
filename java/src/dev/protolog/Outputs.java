package dev.protolog;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Set;

/**
 * Opens files for writing, and renames older ones, by {@link OutputRules}. Nothing else does.
 *
 * <p>A path may lead elsewhere at any time, so the rules are tested on the descriptor of what was opened, and what is there by then is
 * nothing that was changed.
 *
 * <p>Invariants: nothing here waits for another process. An interrupt of the thread has no effect, and stays set.
 */
final class Outputs {
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    /** The attempts to open what is replaced again and again. */
    private static final int ATTEMPTS = 100;
    /** Held while a file is opened and claimed: to close one that another thread has got would release its lock. */
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
     * Creates a file, which must not be there. It can be mapped until it is {@linkplain OutputFile#lock locked}.
     *
     * @throws FileAlreadyExistsException if anything is there, also a link that leads nowhere
     */
    static OutputFile create(Path path) throws IOException {
        Path place = OutputRules.place(path);
        synchronized (OPENING) {
            AsynchronousFileChannel channel = channel(place, StandardOpenOption.CREATE_NEW);
            OutputFile file = take(path, place, FileStatus.at(place), channel, Use.WRITE);
            if (file == null) {
                throw changing(path);
            }
            return file;
        }
    }

    /** Creates a file, which must not be there, and locks it. */
    static OutputFile createNew(Path path) throws IOException {
        synchronized (OPENING) {
            return create(path).lock();
        }
    }

    /** Opens and locks what is at {@code path}, or creates it. */
    static OutputFile open(Path path) throws IOException {
        int given = OutputRules.descriptor(path);
        if (given >= 0) {
            return new OutputFile(path, given);
        }
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            OutputFile file = openExisting(path, null, Use.WRITE);
            if (file != null) {
                return file;
            }
            try {
                return createNew(path);
            } catch (FileAlreadyExistsException e) {
                if (e.getReason() != null) {
                    throw e;
                }
                // Created by somebody else meanwhile.
            }
        }
        throw changing(path);
    }

    /**
     * Opens and locks a regular file that is to be replaced, renamed or removed, so that nobody writes it meanwhile; null where nothing is. A file of
     * this user that may not be written is not held, and null as well. {@code own} is a claim of the caller on the name, or null.
     */
    static OutputFile hold(Path path, Claims.Claim own) throws IOException {
        try {
            OutputFile file = openExisting(path, own, Use.REPLACE);
            if (file != null && !file.isRegular()) {
                file.close();
                throw new FileSystemException(path.toString(), null, "it is no regular file");
            }
            return file;
        } catch (AccessDeniedException e) {
            return null;
        }
    }

    /** Gives a file that nobody has open another name, which may replace a file. */
    static void rename(Path from, Path to) throws IOException {
        Files.move(OutputRules.place(from), OutputRules.place(to), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Opens and locks what is at {@code path}; null where nothing is. */
    private static OutputFile openExisting(Path path, Claims.Claim own, Use use) throws IOException {
        Path place = OutputRules.place(path);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            synchronized (OPENING) {
                FileStatus found = FileStatus.at(place);
                Claims.check(path, found, own);
                if (found == null) {
                    return null;
                }
                OutputRules.check(place, found, use == Use.REPLACE);
                OutputFile file = openFound(path, place, found, use);
                if (file != null) {
                    return file;
                }
            }
        }
        throw changing(path);
    }

    /** Opens and locks what was found; null if something else is there by now. */
    private static OutputFile openFound(Path path, Path place, FileStatus found, Use use) throws IOException {
        AsynchronousFileChannel channel;
        try {
            channel = channel(place);
        } catch (IOException e) {
            FileStatus there = FileStatus.at(place);
            if (there == null || !there.key().equals(found.key())) {
                return null;
            }
            throw e;
        }
        OutputFile file = take(path, place, found, channel, use);
        if (file == null) {
            return null;
        }
        file.lock();
        if (file.isRegular() && !file.isThere()) {
            // Removed or replaced before it was locked.
            file.close();
            return null;
        }
        return file;
    }

    private static AsynchronousFileChannel channel(Path place, OpenOption... more) throws IOException {
        // For reading, too: then no pipe waits for a reader. The kind of channel that interrupts don't close.
        Set<OpenOption> options = new HashSet<>(Set.of(more));
        options.addAll(Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        return AsynchronousFileChannel.open(place, options, null, PRIVATE);
    }

    /** A channel's file, if it is the one that was found and the rules allow it; null if it is another one. Closes the channel unless it is kept. */
    private static OutputFile take(Path path, Path place, FileStatus found, AsynchronousFileChannel channel, Use use) throws IOException {
        OutputFile file = null;
        try {
            int descriptor = found == null ? -1 : OpenFiles.descriptor(path, channel, found.key());
            if (descriptor >= 0 && OpenFiles.name(descriptor).equals(place)) {
                FileStatus opened = FileStatus.behind(OpenFiles.path(descriptor));
                OutputRules.check(place, opened, use == Use.REPLACE);
                file = new OutputFile(path, place, opened, channel, descriptor);
            }
            return file;
        } finally {
            if (file == null) {
                channel.close();
            }
        }
    }

    private static IOException changing(Path path) {
        return new FileSystemException(path.toString(), null, "somebody replaces it again and again");
    }
}
