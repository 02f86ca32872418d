package demo.indexer;

import static demo.indexer.IndexLog.TRACE;

import dev.protolog.ProtoLog;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** The reason for a read error, in words that do not depend on the machine. */
final class Reason {
    private Reason() {}

    static String of(IOException e) {
        ProtoLog.e(TRACE, "an exception: %s", e); // Off: TRACE is compiled out.
        if (e instanceof NoSuchFileException || e instanceof FileNotFoundException)
            return "no such file or directory";
        else if (e instanceof AccessDeniedException)
            return "access denied";
        else if (e instanceof NotDirectoryException)
            return "not a directory";
        else if (e instanceof CharacterCodingException)
            return "not UTF-8";
        else
            ProtoLog.w(TRACE, "no words for %s", e.getClass().getName());
        return e.getClass().getSimpleName();
    }
}
