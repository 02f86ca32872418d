package dev.protolog.internal.control;

import dev.protolog.Session;
import dev.protolog.internal.ApiAccess;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.KnownGroups;
import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.groups.GroupPattern;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.SettingsText;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.groups.SwitchPages;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.proto.Utf8;
import dev.protolog.internal.rules.ByteLimit;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.SessionSetting;
import dev.protolog.internal.session.EarlierRuns;
import dev.protolog.internal.session.RunningSession;
import dev.protolog.internal.session.SessionCore;
import dev.protolog.internal.session.SessionLimits;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.session.SettingRange;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.WrittenName;
import dev.protolog.internal.write.Cause;
import dev.protolog.internal.write.EventKey;
import dev.protolog.internal.write.FillPolicy;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Requests of operators, and the answers. {@code docs/design/control.md} lists the requests. Each
 * is answered at once, on the thread that listens; only that thread waits while a trace starts or
 * ends.
 */
final class ControlAnswers {
    private static final BigInteger VERSION = BigInteger.ONE;
    private static final BigInteger MOST_BYTES = BigInteger.valueOf(Long.MAX_VALUE);
    private static final int TYPE = 0170000;
    private static final int PIPE = 0010000;

    /** Errors of the settings file. */
    private volatile List<String> problems = List.of();
    private Trace trace;

    /** The session that an operator started. */
    private record Trace(RunningSession session, String policy, String file) {}

    /** A request that is refused. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        final String help;

        Refusal(String what, String help) {
            super(what, null, false, false);
            this.help = help;
        }
    }

    /** The trace that a request asks for; {@code buffer} is in bytes, 0 for the default. */
    private record TraceStart(FillPolicy policy, BigInteger buffer, String settings, String file) {
        /** Null for a line that is no such request. */
        static TraceStart parse(String line) {
            String[] words = line.split(" ", 5);
            if (words.length < 5 || words[3].isEmpty()) {
                return null;
            }
            FillPolicy policy = FillPolicy.of(words[1]);
            BigInteger buffer = number(words[2], Long.SIZE);
            return policy == null || buffer == null ? null : new TraceStart(policy, buffer, words[3], words[4]);
        }
    }

    void setProblems(List<String> found) {
        problems = found;
    }

    /** Completes the trace that an operator has started, since nobody can stop it any more. */
    void close() {
        Trace ended = trace;
        trace = null;
        try {
            if (ended != null) {
                ended.session.stop();
            }
        } catch (IOException e) {
            LogPrinter.problem("can't complete the trace `" + ended.file + "`: " + e.getMessage(), "run `protologtool recover`");
        }
    }

    /** Answers a line. */
    void answer(ControlConnection.Line line, ControlConnection connection) {
        String help = "ask as docs/design/control.md says, in lines of UTF-8";
        StringBuilder reply = new StringBuilder();
        boolean isLast = false;
        try {
            if (line.problem() != null) {
                isLast = true;
                throw new Refusal(line.problem(), help);
            }
            String[] words = line.text().split(" ", -1);
            BigInteger version = words[0].equals("protolog") && words.length == 2 ? number(words[1], Integer.SIZE) : null;
            boolean isHello = version != null;
            isLast = isHello ? !version.equals(VERSION) : !connection.hasGreeted;
            if (isLast && isHello) {
                throw new Refusal("version " + version + " is not supported",
                        "use a protologtool of the version that the program was built with");
            } else if (isLast) {
                throw new Refusal("no protocol version was agreed upon", help);
            }
            if (isHello) {
                connection.hasGreeted = true;
                add(reply, "protolog " + VERSION + " " + RunningProgram.pid() + " " + RunningProgram.name());
            } else if (!reply(line.text(), words, reply)) {
                throw new Refusal("unknown request `" + line.text() + "`", help);
            }
            add(reply, "ok");
        } catch (Refusal refusal) {
            refuse(reply, refusal.getMessage(), refusal.help);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            refuse(reply, e instanceof IOException io ? SocketPlace.reason(io) : e.toString(), "look at the program's memory and files");
        }
        connection.answer(reply.toString(), isLast);
    }

    /** False for an unknown request. */
    private boolean reply(String line, String[] words, StringBuilder reply) throws Refusal, IOException {
        if (words[0].equals("set") && words.length > 1) {
            set(line.substring("set ".length()));
        } else if (words[0].equals("sites") && words.length > 2) {
            BigInteger limit = number(words[1], Integer.SIZE);
            if (limit == null) {
                return false;
            }
            SiteAnswers.list(limit.longValue(), line.split(" ", 3)[2], reply);
        } else if (words[0].equals("trigger") && words.length > 1) {
            trigger(line.substring("trigger ".length()), null);
        } else if (words[0].equals("trigger-at") && words.length > 2) {
            BigInteger nanos = number(words[1], Long.SIZE - 1);
            if (nanos == null) {
                return false;
            }
            String cause = line.split(" ", 3)[2];
            trigger(cause, EventKey.of(nanos.longValue(), cause));
        } else if (words[0].equals("join") && words.length == 4) {
            BigInteger pid = number(words[2], Integer.SIZE);
            if (pid == null) {
                return false;
            }
            join(WrittenName.read(words[1]), pid.longValue(), words[3], null);
        } else if (words[0].equals("join-for") && words.length == 6) {
            BigInteger before = number(words[1], Long.SIZE - 1);
            BigInteger after = number(words[2], Long.SIZE - 1);
            BigInteger pid = number(words[4], Integer.SIZE);
            if (before == null || after == null || pid == null) {
                return false;
            }
            join(WrittenName.read(words[3]), pid.longValue(), words[5], new Cause.Window(before.longValue(), after.longValue()));
        } else if (words[0].equals("trace-start")) {
            TraceStart start = TraceStart.parse(line);
            if (start == null) {
                return false;
            }
            start(start);
        } else if (words.length > 1) {
            return false;
        } else {
            switch (words[0]) {
                case "groups" -> groups(reply);
                case "pages" -> throw new Refusal("a Java program can't pass file descriptors",
                        "ask for `pages-file`, or switch groups by request instead");
                case "pages-file" -> pagesFile(reply);
                case "trace-stop" -> stop(reply);
                case "trace-status" -> status(reply);
                case "stats" -> stats(reply);
                case "sessions" -> sessions(reply);
                case "rules" -> SiteAnswers.rules(reply);
                default -> {
                    return false;
                }
            }
        }
        return true;
    }

    private static void groups(StringBuilder reply) {
        Set<String> known = new HashSet<>();
        boolean isShared = Groups.sharedFile() != null;
        int perPage = SwitchPages.PAGE / Switch.SIZE;
        for (GroupState state : Groups.all()) {
            known.add(state.fullName);
            boolean hasPage = isShared && state.index >= 0;
            String page = hasPage ? Integer.toString(state.index / perPage) : "-";
            int index = hasPage ? state.index % perPage : 0;
            String word = String.format(Locale.ROOT, "%08x", state.word());
            add(reply, "group " + page + " " + index + " " + word + " " + letter(state.isCompiled()) + " "
                    + WrittenName.word(state.fullName) + " " + state.tag);
        }
        new TreeMap<>(Dictionaries.groups()).forEach((name, tag) -> {
            if (!known.contains(name)) {
                String word = String.format(Locale.ROOT, "%08x", Groups.wordBeforeRegistration(name));
                add(reply, "group - 0 " + word + " y " + WrittenName.word(name) + " " + tag);
            }
        });
    }

    private static void pagesFile(StringBuilder reply) throws Refusal {
        Path file = Groups.sharedFile();
        if (file == null) {
            throw new Refusal("there is no memory to share", "switch groups by request instead");
        }
        add(reply, "pages-file " + SwitchPages.PAGES + " " + SwitchPages.PAGE + " " + file.getFileName());
    }

    private static void set(String text) throws Refusal {
        SettingsText read = parse(text);
        List<Rule> rules = SiteAnswers.parse(text);
        SessionSetting.Read ofSessions = SessionSetting.parse(text);
        if (!ofSessions.problems().isEmpty()) {
            throw new Refusal(ofSessions.problems().get(0).message(), ofSessions.problems().get(0).help());
        }
        SessionLimits.apply(ofSessions.settings(), GroupSettings.Source.OTHER);
        Routing.apply(rules);
        Groups.apply(read.items().stream()
                .map(item -> new GroupSettings.Entry(item.pattern(), item.setting(), GroupSettings.Source.OTHER)).toList());
    }

    /** {@code key}: of an event that others know, too; else null. */
    private static void trigger(String cause, EventKey key) throws Refusal {
        if (cause.isBlank()) {
            throw new Refusal("no cause", "name the cause, as in `trigger slow today`");
        }
        if (!Sessions.haveTriggers()) {
            throw new Refusal("no session has triggers", "start one with `Session.Builder.triggers` in the program");
        }
        boolean isKnown = key != null && Sessions.haveEvent(key);
        int files = key == null ? Sessions.trigger(cause) : Sessions.trigger(cause, key);
        if (files == 0 && !isKnown) {
            throw new Refusal("`" + cause + "` has fired a moment ago, and is counted", "wait for the interval of the triggers, or name another cause");
        }
    }

    private static void join(String family, long pid, String event, Cause.Window window) throws Refusal {
        EventKey key = EventKey.parse(event);
        if (key == null) {
            throw new Refusal("`" + event + "` is no event", "name it by nanoseconds since 1970, a hyphen, and its cause");
        }
        int joined = Sessions.join(family, key, pid, window);
        if (joined < 0) {
            throw new Refusal("no session is of the family `" + family + "`", "start one with triggers of this family in the program");
        } else if (joined == 0) {
            throw new Refusal("`" + event + "` is too long ago, or came a moment after another one", "wait for the interval of the triggers");
        }
    }

    private static SettingsText parse(String text) throws Refusal {
        SettingsText read = SettingsText.parse(text);
        if (!read.problems().isEmpty()) {
            throw new Refusal(read.problems().get(0).message(), read.problems().get(0).help());
        }
        return read;
    }

    private void start(TraceStart start) throws Refusal, IOException {
        String file = start.file;
        if (trace != null) {
            throw new Refusal("a trace is being written to `" + trace.file + "` already", "stop it with `trace stop`");
        }
        Path path = Path.of(file);
        if (!path.isAbsolute()) {
            throw new Refusal("`" + file + "` is no absolute path", "write the path from the root on");
        }
        if (Files.exists(path) && ((Integer) Files.getAttribute(path, "unix:mode") & TYPE) == PIPE) {
            throw new Refusal("`" + file + "` is a pipe", "name a file: a pipe would wait for its reader");
        }
        Session.Builder builder = Session.builder().file(path).enableAll();
        configure(builder, start.settings);
        if (start.policy == FillPolicy.RING_BUFFER) {
            builder.keepNewest();
        } else if (start.policy == FillPolicy.DISCARD) {
            builder.keepFirst();
        }
        if (start.buffer.signum() > 0) {
            builder.bufferBytes(SettingRange.nearestBuffer(start.buffer.min(MOST_BYTES).longValue()));
        }
        trace = new Trace(ApiAccess.get().running(builder.start()), start.policy.text(), file);
    }

    /** Gives a session the levels of settings. Later ones win. */
    private static void configure(Session.Builder builder, String settings) throws Refusal {
        if (settings.equals("-")) {
            return;
        }
        Set<String> known = KnownGroups.names();
        Map<String, Integer> levels = new LinkedHashMap<>();
        for (SettingsText.Item item : parse(settings).items()) {
            Integer given = item.setting().trace();
            if (given == null) {
                continue;
            } else if (item.pattern().equals("*")) {
                levels.clear();
                ApiAccess.get().setLevels(builder, given);
                continue;
            } else if (WrittenName.read(item.pattern()).equals("*")) {
                // In the settings of a session it would be all groups.
                throw new Refusal("the group `\"*\"` can't be chosen for a trace", "leave it out, or trace all groups with `*`");
            }
            List<String> named = known.stream().filter(name -> GroupPattern.matches(item.pattern(), name)).toList();
            if (named.stream().noneMatch(name -> GroupPattern.closeness(item.pattern(), name) >= GroupPattern.END)) {
                // Groups that come later may be under it.
                levels.put(WrittenName.read(item.pattern()), given);
            }
            named.forEach(name -> levels.put(name, given));
        }
        levels.forEach((name, set) -> ApiAccess.get().setLevels(builder, name, set));
    }

    private void stop(StringBuilder reply) throws Refusal, IOException {
        if (trace == null) {
            throw new Refusal("no trace is being written", "start one with `trace start FILE`");
        }
        Trace ended = trace;
        trace = null;
        String file = ended.file;
        try {
            ended.session.stop();
        } catch (IOException e) {
            file = stopElsewhere(ended, e);
        }
        describe(reply, ended.session.stats(), true, ended.policy, file);
    }

    /**
     * Writes the messages that a session has kept to a file of another name: somebody may have
     * taken its own since the start, as anybody can in {@code /tmp}.
     */
    private String stopElsewhere(Trace ended, IOException error) throws IOException {
        FileStatus found = FileStatus.at(Path.of(ended.file));
        // A device that takes nothing has its name by right, and nothing belongs beside it.
        if (ended.policy.equals(FillPolicy.STREAM.text()) || found != null && found.isDevice()) {
            throw error;
        }
        Path other = EarlierRuns.unknownSibling(Path.of(ended.file));
        try {
            ended.session.snapshot(other);
        } catch (IOException e) {
            // It can be stopped again.
            trace = ended;
            throw error;
        }
        return other.toString();
    }

    private void status(StringBuilder reply) throws IOException {
        if (trace != null) {
            describe(reply, trace.session.stats(), true, trace.policy, trace.file);
            Sessions.running().stream().filter(this::isOfOperator).forEach(core -> limited(reply, core));
        }
    }

    private void stats(StringBuilder reply) throws IOException {
        status(reply);
        for (SessionCore core : Sessions.running()) {
            if (!isOfOperator(core)) {
                describe(reply, core.stats(), false, core.policy(), core.file());
                limited(reply, core);
            }
        }
        problems.forEach(problem -> add(reply, "problem " + problem));
    }

    private void sessions(StringBuilder reply) {
        Map<String, Boolean> groups = new TreeMap<>();
        Dictionaries.groups().keySet().forEach(name -> groups.put(name, true));
        Groups.all().forEach(state -> groups.put(state.fullName, state.isCompiled()));
        for (SessionCore core : Sessions.running()) {
            add(reply, "tracing " + letter(isOfOperator(core)) + " " + core.policy() + " " + core.file());
            limited(reply, core);
            groups.forEach((name, isCompiled) -> {
                int levels = isCompiled ? core.filter().levels(name) : 0;
                if (levels != 0) {
                    add(reply, String.format(Locale.ROOT, "levels %02x %s", levels, WrittenName.word(name)));
                }
            });
        }
    }

    /** Adds the line of its limit of bytes, if it has one. */
    private static void limited(StringBuilder reply, SessionCore core) {
        ByteLimit limit = core.bytes().limit();
        if (limit != null) {
            add(reply, "limited " + limit);
        }
    }

    private boolean isOfOperator(SessionCore core) {
        return trace != null && trace.session.isOf(core);
    }

    /** Adds the lines that describe a session. */
    private static void describe(StringBuilder reply, SessionStats stats, boolean isOfOperator, String policy, String file) {
        add(reply, "session " + letter(isOfOperator) + " " + policy + " " + stats.messages() + " " + stats.lost() + " " + stats.bytes()
                + " " + file);
        for (SessionStats.OfGroup of : stats.groups()) {
            String group = of.group().isEmpty() ? "" : WrittenName.word(of.group());
            add(reply, "written " + of.messages() + " " + of.lost() + " " + of.bytes() + " " + group);
            of.losses().forEach((cause, count) -> {
                if (!cause.isPassedOver()) {
                    add(reply, "lost " + count + " " + cause.text() + " " + group);
                }
            });
        }
    }

    private static void refuse(StringBuilder reply, String what, String help) {
        reply.setLength(0);
        add(reply, "help " + help);
        add(reply, "error " + what);
    }

    /** A number of at most so many bits, without a sign; null for a text that is none. */
    private static BigInteger number(String word, int bits) {
        BigInteger number = word.matches("[0-9]+") ? new BigInteger(word) : null;
        return number != null && number.bitLength() <= bits ? number : null;
    }

    private static String letter(boolean yes) {
        return yes ? "y" : "n";
    }

    /**
     * Adds exactly one line of any text. An operator gives up a program that sends longer ones. A
     * name that is cut off is none, so the line of its group is left out; a text is cut.
     */
    static void add(StringBuilder reply, String line) {
        String one = SettingsText.oneLine(line);
        if (Utf8.length(one) < ControlConnection.MAX_LINE) {
            reply.append(one).append('\n');
        } else if (!one.matches("(?s)(group|levels|written|lost) .*")) {
            byte[] cut = new byte[ControlConnection.MAX_LINE - 1];
            int length = Utf8.put(one, cut, 0, cut.length, true);
            reply.append(new String(cut, 0, length, StandardCharsets.UTF_8)).append('\n');
        }
    }
}
