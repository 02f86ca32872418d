package dev.protolog.internal.groups;

import dev.protolog.internal.text.WrittenName;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names in the variable that are almost those of the program's groups. A name that is like none of
 * them is no mistake: the variable may be for several programs, and groups come with libraries.
 */
public final class MisspelledGroups {
    private static final Pattern SEPARATOR = Pattern.compile("\\.|::");

    private MisspelledGroups() {}

    /**
     * The problems of a text of settings, each with a help line. {@code known} are the program's
     * groups.
     */
    public static List<String> find(String text, String origin, Set<String> known) {
        Set<String> names = new TreeSet<>();
        SettingsText.parse(text).forThisProgram().forEach(item -> names.add(item.pattern()));
        names.remove("*");
        List<String> problems = new ArrayList<>();
        for (String name : names) {
            String meant = meant(name, known);
            if (meant != null) {
                problems.add(origin + ": no group is named `" + name + "`\nhelp: write `" + WrittenName.of(meant) + "`");
            }
        }
        return problems;
    }

    /**
     * The group that was meant by a name that is almost its name; null if the name is that of a
     * group, or like none.
     */
    public static String meant(String written, Set<String> known) {
        String name = WrittenName.read(written);
        String best = null;
        int least = name.codePointCount(0, name.length()) / 3;
        int segments = starts(name).size();
        for (String full : known) {
            if (GroupPattern.matches(written, full)) {
                return null;
            }
            String end = lastSegments(full, segments);
            int slips = distance(name.toLowerCase(Locale.ROOT), end.toLowerCase(Locale.ROOT));
            if (slips < least || slips == least && (best == null || end.compareTo(best) < 0)) {
                best = end;
                least = slips;
            }
        }
        return best;
    }

    private static String lastSegments(String full, int count) {
        List<Integer> starts = starts(full);
        return full.substring(starts.get(Math.max(0, starts.size() - count)));
    }

    /** Where the segments of a name begin, between which Java has a dot, and Rust {@code ::}. */
    private static List<Integer> starts(String name) {
        List<Integer> starts = new ArrayList<>();
        starts.add(0);
        Matcher separators = SEPARATOR.matcher(name);
        while (separators.find()) {
            starts.add(separators.end());
        }
        return starts;
    }

    /**
     * The number of characters that were inserted, left out, replaced or swapped with the next one.
     */
    private static int distance(String one, String other) {
        int[] a = one.codePoints().toArray();
        int[] b = other.codePoints().toArray();
        int[][] rows = new int[a.length + 1][b.length + 1];
        for (int i = 0; i <= a.length; i++) {
            for (int j = 0; j <= b.length; j++) {
                if (i == 0 || j == 0) {
                    rows[i][j] = i + j;
                    continue;
                }
                boolean isSame = a[i - 1] == b[j - 1];
                int least = Math.min(rows[i - 1][j - 1] + (isSame ? 0 : 1), Math.min(rows[i - 1][j], rows[i][j - 1]) + 1);
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                    least = Math.min(least, rows[i - 2][j - 2] + 1);
                }
                rows[i][j] = least;
            }
        }
        return rows[a.length][b.length];
    }
}
