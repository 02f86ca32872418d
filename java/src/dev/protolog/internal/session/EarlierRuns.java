package dev.protolog.internal.session;

import dev.protolog.internal.files.Claims;
import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.OutputRules;
import dev.protolog.internal.files.Outputs;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.Controls;
import dev.protolog.internal.text.LogPrinter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Files that earlier runs left at the path of a trace: they get other names before the path is
 * written again, by the names and rules of {@code protolog-rt/src/session/earlier/earlier_runs.rs}.
 *
 * <pre>
 * app.pftrace      the run that begins
 * app.1.pftrace    the one before it
 * app.2.pftrace    the one before that, and so on
 * </pre>
 *
 * <p>The trace of a run that crashed is made read-only, which marks it: it stays beside those that
 * are asked for, until all that crashed take more than {@value #CRASH_BYTES} bytes or are more than
 * {@value #CRASHES}. The newest one stays in any case. Its recording stays for
 * {@code protologtool recover}, which completes it under its new name, too.
 *
 * <p>Where others have taken all numbers, a trace is {@code app.run-0123456789abcdef.pftrace};
 * those with such names count as older than those with numbers.
 *
 * <p>Invariants: a file under one of these names is renamed or removed only if it is a trace of
 * this program and user that nobody has. Others keep their names, and their numbers are left out;
 * nothing of another user is read. Files are renamed from the oldest to the newest, each to a name
 * that is free by then. At most one of them is open at a time. All is done in the directory that
 * was found for the place.
 */
public final class EarlierRuns {
    /** The most bytes of traces of crashed runs that are kept beside the others. */
    private static final long CRASH_BYTES = 256L << 20;
    /** The most traces of crashed runs. */
    private static final int CRASHES = 64;
    /**
     * The largest trace that is read to see whether its session was ended; of a larger one the last
     * {@link #TAIL} bytes.
     */
    private static final long MAX_SURVEYED = 64L << 20;
    private static final int TAIL = 512;
    /** The part of a trace that has the id of its session, in bytes. */
    private static final int HEAD = 1 << 20;
    /**
     * The end of the numbers: those of segments have four digits. It stands for those that have
     * none.
     */
    static final int LAST = 1000;
    /** The text in place of a number where all are taken, before 16 hexadecimal digits. */
    private static final String RUN = "run-";
    private static final Pattern RUN_LABEL = Pattern.compile("run-[0-9a-f]{16}");
    private static final int WRITABLE = 0222;
    private static final int READABLE = 0444;
    private final Location place;
    private final OpenDirectory directory;
    private final List<Run> kept = new ArrayList<>();
    private final Set<Integer> foreign = new HashSet<>();

    /**
     * The treatment of the trace that the last run left.
     *
     * @param keep the number of traces that are kept, but for those of runs that crashed
     * @param truncates true if the file is emptied or replaced, as it is
     */
    public record Earlier(int keep, boolean truncates) {
        public static final Earlier DEFAULT = new Earlier(1, false);
    }

    /**
     * A trace of an earlier run under one of the names.
     *
     * @param number {@link #LAST} for none
     * @param time when it was written, in milliseconds
     */
    private record Run(String name, int number, Object key, boolean isCrash, long bytes, long time) {
        Run as(String name, int number) {
            return new Run(name, number, key, isCrash, bytes, time);
        }
    }

    private EarlierRuns(Location place, OpenDirectory directory) {
        this.place = place;
        this.directory = directory;
    }

    /**
     * Gives the file at a place another name, unless {@code earlier} says that it may go, or it is
     * empty. A file that can't get one stays, for the writer there. A line says so, and that the
     * run crashed if it did. {@code own} is a claim of the caller on the name, or null.
     *
     * @throws IOException if somebody writes the file
     */
    static void keep(Location place, Claims.Claim own, Earlier earlier) throws IOException {
        if (earlier.truncates || OutputRules.descriptor(place.path()) >= 0) {
            return;
        }
        FileStatus found;
        long size;
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            found = directory.status(place.name());
            size = isOwn(found) ? Files.size(directory.at(place.name())) : 0;
        } catch (IOException e) {
            // A refused file has its error when it is opened.
            return;
        }
        if (size == 0) {
            return;
        }
        OutputFile held = Outputs.hold(place, own);
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            if (directory.has(place.name(), found.key())) {
                new EarlierRuns(place, directory).keep(found, held, size, earlier);
            }
        } finally {
            close(held);
        }
    }

    private void keep(FileStatus found, OutputFile held, long size, Earlier earlier) {
        byte[] id = {};
        boolean isCrash;
        try {
            id = head(place.name(), held, found.key()).sessionId();
            isCrash = id.length > 0 && !isEnded(held, size, found.key());
        } catch (IOException e) {
            isCrash = true;
        }
        if (earlier.keep == 0 && !isCrash) {
            return;
        }
        try {
            String name = giveName(found, isCrash, size, earlier.keep);
            if (isCrash) {
                reportCrash(place.path().resolveSibling(name), Recording.isThere(id, place));
            }
        } catch (IOException e) {
            LogPrinter.queue("protolog: the trace of the last run, `" + Controls.escaped(place.path().toString())
                    + "`, is overwritten: it can't be renamed: " + Controls.escaped(String.valueOf(e.getMessage())));
        }
    }

    private static void reportCrash(Path path, boolean hasRecording) {
        String shown = Controls.escaped(path.toString());
        LogPrinter.queue("protolog: the last run crashed; its trace is `" + shown + "`"
                + (hasRecording ? ", and `protologtool recover " + shown + "` adds what its recording has" : ""));
    }

    /** True of a regular file of this user with one name. */
    private static boolean isOwn(FileStatus found) throws IOException {
        return found != null && found.isRegular() && found.owner() == RunningProgram.user() && found.links() == 1;
    }

    /** True if the session that wrote a trace was ended, as far as a look tells. */
    private boolean isEnded(OutputFile held, long size, Object key) throws IOException {
        if (size <= MAX_SURVEYED) {
            try (InputStream trace = open(place.name(), held, key)) {
                return TraceSurvey.of(trace, false).hasEnd();
            }
        }
        byte[] tail;
        try (InputStream trace = open(place.name(), held, key)) {
            trace.skipNBytes(size - TAIL);
            tail = trace.readNBytes(TAIL);
        }
        String text = new String(tail, StandardCharsets.ISO_8859_1);
        return text.contains(TraceSurvey.STOPPED) || text.contains(TraceSurvey.ENDED);
    }

    /**
     * Renames the file at the place to the first of the names, and those that are in the way to the
     * next ones. Then removes those that need not be kept.
     */
    private String giveName(FileStatus found, boolean isCrash, long size, int keep) throws IOException {
        find();
        int first = freeFirst();
        // Others have all numbers.
        String number = first > 0 ? Integer.toString(first) : unknownRun();
        String name = numbered(place.name(), number);
        directory.renameToFree(place.name(), name, found.key());
        if (isCrash) {
            mark(name, found);
        }
        for (Run each : needless(isCrash, size, isCrash ? keep : Math.max(0, keep - 1))) {
            try (Held held = new Held(each)) {
                held.remove();
            } catch (IOException e) {
                // That one can't be removed is no reason not to start.
            }
        }
        return name;
    }

    /**
     * Takes all permissions but those to read away. An unmarked one is kept as long as others.
     */
    private void mark(String name, FileStatus found) {
        try {
            if (directory.has(name, found.key())) {
                directory.restrict(name, found.mode() & READABLE);
            }
        } catch (IOException e) {
            // As above.
        }
    }

    /**
     * Renames traces so that the first number is free that nobody else has, and gives it; 0 if all
     * are taken.
     */
    private int freeFirst() throws IOException {
        List<Integer> chain = new ArrayList<>();
        for (int number = 1; number < LAST; number++) {
            if (foreign.contains(number)) {
                continue;
            }
            chain.add(number);
            if (run(number) == null) {
                break;
            }
        }
        if (chain.isEmpty() || run(chain.get(chain.size() - 1)) != null) {
            return 0;
        }
        // From the oldest, up to the first free one.
        for (int i = chain.size() - 2; i >= 0; i--) {
            Run moved = run(chain.get(i));
            int number = chain.get(i + 1);
            String name = numbered(place.name(), Integer.toString(number));
            try (Held held = new Held(moved)) {
                held.rename(name);
            }
            // Not `indexOf`: the JDK's code to compare records keeps the class loader of the
            // last one.
            kept.replaceAll(each -> each == moved ? moved.as(name, number) : each);
        }
        return chain.get(0);
    }

    private Run run(int number) {
        return kept.stream().filter(each -> each.number == number).findFirst().orElse(null);
    }

    /**
     * Those that need not be kept beside {@code keep} ended ones, and beside a newer one of a run
     * of this size, which crashed or not.
     */
    private List<Run> needless(boolean isCrash, long size, int keep) {
        kept.sort(Comparator.comparingInt(Run::number).thenComparing(each -> each.number < LAST ? 0 : -each.time));
        List<Run> needless = new ArrayList<>();
        int crashes = isCrash ? 1 : 0;
        long bytes = isCrash ? size : 0;
        int left = keep;
        for (Run each : kept) {
            if (each.isCrash) {
                crashes++;
                bytes += each.bytes;
                if (crashes > 1 && (crashes > CRASHES || bytes > CRASH_BYTES)) {
                    needless.add(each);
                }
            } else if (left == 0) {
                needless.add(each);
            } else {
                left--;
            }
        }
        return needless;
    }

    /** Finds the traces of earlier runs, and the numbers of other files with such names. */
    private void find() throws IOException {
        for (String name : directory.names("*")) {
            int number = number(place.name(), name);
            if (number < 0) {
                continue;
            }
            Run found = open(name, number);
            if (found != null) {
                kept.add(found);
            } else if (number < LAST) {
                foreign.add(number);
            }
        }
    }

    /** The file of this name, if a trace of this program and user that nobody has; else null. */
    private Run open(String name, int number) {
        OutputFile held = null;
        try {
            FileStatus found = directory.status(name);
            if (!isOwn(found)) {
                return null;
            }
            held = Outputs.hold(place.sibling(name), null);
            TraceSurvey survey = head(name, held, found.key());
            boolean isOfProgram = survey.sessionId().length > 0 && survey.program() != null && base(survey.program()).equals(base(RunningProgram.command()));
            if (!isOfProgram || !directory.has(name, found.key())) {
                return null;
            }
            BasicFileAttributes file = Files.readAttributes(directory.at(name), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return new Run(name, number, found.key(), (found.mode() & WRITABLE) == 0, file.size(), file.lastModifiedTime().toMillis());
        } catch (IOException e) {
            return null;
        } finally {
            close(held);
        }
    }

    /**
     * An earlier run's trace, so that nobody begins to write it; an error if somebody has. One that
     * may not be written is not held.
     */
    private final class Held implements AutoCloseable {
        private final Run run;
        private final OutputFile file;

        Held(Run run) throws IOException {
            this.run = run;
            file = Outputs.hold(place.sibling(run.name), null);
        }

        void rename(String name) throws IOException {
            directory.renameToFree(run.name, name, run.key);
        }

        void remove() throws IOException {
            directory.remove(run.name, run.key);
        }

        @Override
        public void close() {
            EarlierRuns.close(file);
        }
    }

    private TraceSurvey head(String name, OutputFile held, Object key) throws IOException {
        try (InputStream trace = open(name, held, key)) {
            return TraceSurvey.of(new ByteArrayInputStream(trace.readNBytes(HEAD)), true);
        }
    }

    /**
     * Reads a file from its beginning; by the descriptor that has the lock, since to close another
     * one would release it.
     */
    private InputStream open(String name, OutputFile held, Object key) throws IOException {
        return held != null ? held.in() : directory.reader(name, key);
    }

    private static String base(String program) {
        return program.substring(program.lastIndexOf('/') + 1);
    }

    /** The path of a trace of another name than this one, which nobody can know in advance. */
    public static Path unknownSibling(Path file) {
        return file.resolveSibling(numbered(file.getFileName().toString(), unknownRun()));
    }

    private static String unknownRun() {
        return String.format(Locale.ROOT, RUN + "%016x", new SecureRandom().nextLong());
    }

    /** The name of trace {@code number}, which stands before the extension. */
    static String numbered(String name, String number) {
        int dot = name.lastIndexOf('.');
        int end = dot <= 0 ? name.length() : dot;
        return name.substring(0, end) + "." + number + name.substring(end);
    }

    /**
     * The number of a trace of {@code name}, {@link #LAST} of one without; -1 if {@code file} has
     * no such name.
     */
    static int number(String name, String file) {
        int dot = name.lastIndexOf('.');
        int end = dot <= 0 ? name.length() : dot;
        String extension = name.substring(end);
        if (file.length() < name.length() + 2 || !file.startsWith(name.substring(0, end) + ".") || !file.endsWith(extension)) {
            return -1;
        }
        String digits = file.substring(end + 1, file.length() - extension.length());
        if (RUN_LABEL.matcher(digits).matches()) {
            return LAST;
        }
        if (digits.isEmpty() || digits.length() > 3 || digits.charAt(0) == '0' || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return -1;
        }
        return Integer.parseInt(digits);
    }

    private static void close(OutputFile held) {
        try {
            if (held != null) {
                held.close();
            }
        } catch (IOException e) {
            // Nothing was written.
        }
    }
}
