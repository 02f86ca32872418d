package dev.protolog.internal.text;

import dev.protolog.internal.proto.Utf8;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A template and the names of its arguments, which stand in the dictionary and in the id of a
 * message, never in the message: {@code ,bytes,host} for three arguments of which the first has no
 * name. A call gives them as in {@code sent %(bytes)d}.
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
    /** The beginning of a conversion that gives its argument a name. */
    private static final String NAME = "%(";

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

    /**
     * The template that a call has written, and the names in it. {@code
     * protolog-core/testdata/named_templates.tsv} has vectors, for the tool too.
     */
    public static NamedTemplate parse(String written) throws TemplateException {
        if (written == null || !written.contains(NAME)) {
            return new NamedTemplate(written, "");
        }
        StringBuilder text = new StringBuilder();
        List<String> names = new ArrayList<>();
        int taken = 0;
        for (int at = written.indexOf('%'); at >= 0; at = written.indexOf('%', at)) {
            if (written.startsWith("%%", at)) {
                at += 2;
                continue;
            }
            at++;
            String name = "";
            if (written.startsWith(NAME, at - 1)) {
                int end = written.indexOf(')', at);
                name = name(written, at, end, names);
                text.append(written, taken, at);
                at = end + 1;
                taken = at;
            }
            names.add(name);
        }
        boolean hasNames = taken > 0;
        return new NamedTemplate(text.append(written, taken, written.length()).toString(), hasNames ? String.join(",", names) : "");
    }

    /** The template that a call has written; as it is written, where its names are none. */
    public static String withoutNames(String written) {
        try {
            return parse(written).text;
        } catch (TemplateException e) {
            return written;
        }
    }

    /** The name between parentheses, of which none of {@code others} is the same. */
    private static String name(String written, int open, int close, List<String> others) throws TemplateException {
        if (close < 0) {
            throw new TemplateException("unfinished name of an argument `%(`");
        }
        String name = written.substring(open + 1, close);
        if (!isName(name)) {
            throw new TemplateException("`" + name + "` can't be the name of an argument");
        } else if (others.contains(name)) {
            throw new TemplateException("two arguments have the name `" + name + "`");
        } else if (written.startsWith("%", close + 1)) {
            throw new TemplateException("no conversion behind the name `" + name + "`");
        }
        return name;
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
