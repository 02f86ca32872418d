package dev.protolog;

import dev.protolog.internal.rules.NamedMessages;
import dev.protolog.internal.session.SettingRange;
import dev.protolog.internal.session.TriggerSettings;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.write.CauseCondition;
import dev.protolog.internal.write.Causes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * The events at which a session that keeps the newest messages writes them to a file of their own,
 * for {@link Session.Builder#triggers}.
 *
 * <pre>{@code
 * Triggers triggers = Triggers.to(Path.of("app.pftrace")).onLevel(LogLevel.ERROR).onUncaught();
 * Session session = Session.builder().enableAll().triggers(triggers).start();
 * }</pre>
 *
 * <p>The thread on which it happens only notes it. A thread of the session then copies what is
 * kept, waits for {@link #after}, and writes the file, which appears once it is complete: {@code
 * app.error.20261127T220509.123Z.pftrace}. It has a message of the group {@code trigger} that names
 * the cause, with the time of the event, its thread, and the number of events that were too soon
 * after another one. A file that can't be written is counted ({@link Session#triggerCounts}), and
 * leaves nothing behind. Where the session stops or the program exits before {@link #after} is
 * over, the file is written then.
 */
public final class Triggers {
    private static final int KEPT_FILES = 16;
    private static final long KEPT_BYTES = 256 << 20;
    /** The longest time, so that sums of times stay in their range. */
    private static final long LONGEST = Long.MAX_VALUE / 8;

    private final Path path;
    private final List<Causes.Known> causes = new ArrayList<>();
    private boolean watchesUncaught;
    private Duration before = Duration.ofMinutes(1);
    private long beforeBytes = Long.MAX_VALUE;
    private Duration after = Duration.ofSeconds(1);
    private Duration interval = Duration.ofMinutes(1);
    private int keptFiles = KEPT_FILES;
    private long keptBytes = KEPT_BYTES;
    private String family;

    private Triggers(Path path) {
        this.path = path.toAbsolutePath();
    }

    /**
     * No triggers yet but those by name ({@link Session#trigger}). The files lie beside {@code
     * path}, and begin with its name. The directory has to exist. Give each process a path of its
     * own.
     */
    public static Triggers to(Path path) {
        return new Triggers(path);
    }

    /**
     * Fires at each message of this level and of more severe ones that the session records; the
     * cause is the level's name in lower case.
     */
    public Triggers onLevel(LogLevel level) {
        return on(level.name().toLowerCase(Locale.ROOT), CauseCondition.ofLevels(LevelSet.andAbove(level)));
    }

    /**
     * Fires at each message of this level and of more severe ones of the groups that {@code group}
     * names, as in {@link Session.Builder#group(String, LogLevel)}; the cause is the name.
     */
    public Triggers onGroup(String group, LogLevel level) {
        return on(group, CauseCondition.ofGroup(group, LevelSet.andAbove(level)));
    }

    /**
     * Fires at each message that {@code text} names: the template as in the source, or a selector
     * as in settings of single calls: {@code #} and an id, a place in the sources ({@code
     * Main.java:12}), or {@code net and "retry" and warn}. The cause is the text.
     *
     * @throws IllegalArgumentException if it has a condition on an argument
     */
    public Triggers onMessage(String text) {
        return on(text, CauseCondition.ofMessages(NamedMessages.of(text)));
    }

    /**
     * Fires at an exception that a thread does not catch and that comes to the default handler,
     * which is called as before; the cause is {@code uncaught}.
     */
    public Triggers onUncaught() {
        watchesUncaught = true;
        return on("uncaught", CauseCondition.UNCAUGHT);
    }

    /**
     * Fires where a {@link Request} fails; the cause is {@code failed request}. The file has the
     * messages of the requests that have failed, of all threads, and says how many others it leaves
     * out.
     *
     * <p>What threads log on behalf of a failed request is in its file until that is written.
     * Requests that fail within {@link #interval} of another one are in the next file, which comes
     * when the interval is over, or at the session's stop.
     */
    public Triggers onFailedRequest() {
        return on("failed request", CauseCondition.FAILED_REQUEST);
    }

    /**
     * Sets how far a file goes back before its event: a minute by default, as far as the buffer
     * reaches. Parts of 4 KiB are left out or kept as a whole.
     */
    public Triggers before(Duration time) {
        before = Objects.requireNonNull(time);
        return this;
    }

    /** Sets the most bytes of messages before the event, in parts of 4 KiB; no limit by default. */
    public Triggers beforeBytes(long bytes) {
        beforeBytes = SettingRange.positive("beforeBytes", bytes);
        return this;
    }

    /** Sets how long a file goes on after its event: a second by default. */
    public Triggers after(Duration time) {
        after = Objects.requireNonNull(time);
        return this;
    }

    /**
     * Sets the least time between two events of one cause that make a file, a minute by default.
     * Events between them are counted, and the next file says how many. It is at least
     * {@link #after}.
     */
    public Triggers interval(Duration time) {
        interval = Objects.requireNonNull(time);
        return this;
    }

    /**
     * Keeps at most so many files, 16 by default. The oldest ones of this session are removed once
     * a new one is complete; those of earlier runs stay.
     */
    public Triggers keepFiles(int count) {
        keptFiles = (int) SettingRange.positive("keepFiles", count);
        return this;
    }

    /**
     * Keeps at most so many bytes of files, 256 MiB by default; the newest one stays even if it
     * alone has more.
     */
    public Triggers keepBytes(long bytes) {
        keptBytes = SettingRange.positive("keepBytes", bytes);
        return this;
    }

    /**
     * Makes the program one of a family, by any name that they share: at an event of one of them,
     * all write what they keep of the same time, from {@link #before} to {@link #after} of the
     * program that had it. The files of the others have the same time in their names, and
     * {@code joined} before the cause.
     *
     * <p>It is for programs of one user on one machine, in Java, Rust or C, which find each other
     * as an operator finds them: each listens ({@link Init}). An event is told to the
     * others once, and one that does not answer holds up nothing; standard error says how many did
     * not. {@link ProtoLog#triggerEvent} is the way to other machines.
     */
    public Triggers family(String name) {
        family = Objects.requireNonNull(name);
        return this;
    }

    TriggerSettings settings() {
        return new TriggerSettings(path, List.copyOf(causes), watchesUncaught, nanos(before), beforeBytes, nanos(after), nanos(interval),
                keptFiles, keptBytes, family);
    }

    private static long nanos(Duration time) {
        return Math.max(0, Math.min(SettingRange.nanos(time), LONGEST));
    }

    private Triggers on(String cause, CauseCondition condition) {
        causes.add(new Causes.Known(cause, condition));
        return this;
    }
}
