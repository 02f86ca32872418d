package dev.protolog;

import dev.protolog.internal.dictionary.Dictionaries;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

/** Finds a dictionary, which it keeps in a file until it is closed, and nothing else. */
final class DictionaryLoader extends ClassLoader implements AutoCloseable {
    private final Path dictionary;

    DictionaryLoader(byte[] content) throws IOException {
        super(null);
        dictionary = Files.createTempFile("protolog-dictionary", ".pb");
        Files.write(dictionary, content);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        return Collections.enumeration(name.equals(Dictionaries.RESOURCE) ? List.of(dictionary.toUri().toURL()) : List.of());
    }

    @Override
    public void close() throws IOException {
        Files.delete(dictionary);
    }
}
