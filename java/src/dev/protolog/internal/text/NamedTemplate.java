package dev.protolog.internal.text;

import dev.protolog.internal.proto.Utf8;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A template and the names of its arguments, which stand in the dictionary and in the id of a
 * message, never in the message: {@code ,bytes,host} for three arguments of which the first has no
 * name.
 *
 * <p>Invariant: a name has no comma, no space, and no character that controls the output, so
 * readers can print it as it is. {@code protolog-core/testdata/argument_names.tsv} says which names
 * there are.
 *
 * @param text the template
 * @param names the list of the names, empty if there is none
 */
public record NamedTemplate(String text, String names) {
    /** The most bytes of a name: readers print it with each message. */
    private static final int MAX_LENGTH = 128;

    /**
     * A template whose first arguments have no names, and whose others have those in {@code names}.
     * A name that readers would not take, and a second one of the same spelling, is left out.
     */
    static NamedTemplate of(String text, int unnamed, List<String> names) {
        StringBuilder list = new StringBuilder();
        String commas = ",".repeat(unnamed);
        Set<String> known = new HashSet<>();
        for (String name : names) {
            if (isName(name) && known.add(name)) {
                list.append(commas).append(name);
                commas = "";
            }
            commas += ",";
        }
        return new NamedTemplate(text, list.toString());
    }

    /** True for the name of an argument to readers. */
    public static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= MAX_LENGTH
                && Utf8.length(name) <= MAX_LENGTH
                && isLetter(name.codePointAt(0))
                && name.codePoints().allMatch(it -> isLetter(it) || it >= '0' && it <= '9' || it == '.' || it == '-');
    }

    private static boolean isLetter(int it) {
        return it < 0x80 ? it >= 'a' && it <= 'z' || it >= 'A' && it <= 'Z' || it == '_' : WrittenName.isSeen(it);
    }

    /**
     * Spelled out: the code that the JDK makes for records keeps the class loader of the last one
     * that it has compared.
     */
    @Override
    public boolean equals(Object other) {
        return other instanceof NamedTemplate named && text.equals(named.text) && names.equals(named.names);
    }

    @Override
    public int hashCode() {
        return 31 * text.hashCode() + names.hashCode();
    }
}
