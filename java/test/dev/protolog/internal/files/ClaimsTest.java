package dev.protolog.internal.files;

import static dev.protolog.SelfTest.check;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Claims that are given up while others have what they were on. */
public final class ClaimsTest {
    private ClaimsTest() {}

    public static void run() throws IOException {
        Path file = Files.createTempFile("protolog-claims", "");
        Object key = FileStatus.at(file).key();
        FileInputStream closed = new FileInputStream(file.toFile());
        Claims.Claim first = Claims.file(file, key);
        // It has closed the file, and not given its claim up yet.
        closed.close();
        FileInputStream open = new FileInputStream(file.toFile());
        Claims.Claim second = Claims.file(file, key);
        first.close();
        FileInputStream third = new FileInputStream(file.toFile());
        check("a third claim", isRefused(file, key), true);
        check("the second one stays", Claims.has(FileStatus.at(file)), true);
        third.close();
        open.close();
        second.close();
        check("all are given up", Claims.has(FileStatus.at(file)), false);
        Files.delete(file);
    }

    private static boolean isRefused(Path file, Object key) throws IOException {
        try {
            Claims.file(file, key).close();
            return false;
        } catch (FileAlreadyExistsException e) {
            return true;
        }
    }
}
