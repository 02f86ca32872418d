package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.rules.KnownCall;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.rules.Selector;
import dev.protolog.internal.rules.SelectorException;
import dev.protolog.internal.rules.SiteRules;
import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Rules of single calls: on, off and limits, of processed calls and others, in what is recorded.
 */
final class RulesTest {
    private static final long SENT = MessageId.of("app/Main.java", "sent %d", LogLevel.DEBUG, MessageId.fullName(Group.WIRE));
    private static final long LOST = MessageId.of("app/Main.java", "lost %d", LogLevel.DEBUG, MessageId.fullName(Group.WIRE));
    private static final String WIRE = "WIRE";

    private RulesTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        WIRE,
        OTHER
    }

    static void run() throws Exception {
        try (DictionaryLoader loader = new DictionaryLoader(dictionary())) {
            Dictionaries.addLoader(loader);
            onWhileTheGroupIsOff();
            offWhileTheGroupIsOn();
            modules();
            byArguments();
            limitedByArguments();
            atRunTime();
            limits();
            limitOfAGroup();
            aLimitBeginsAnew();
            aRuleOfTheFileEnds();
            wrongLimits();
            threads();
            selectorsWithoutCalls();
        } finally {
            apply("site *=default");
        }
    }

    private static void onWhileTheGroupIsOff() throws IOException {
        try (Session session = Session.builder().keepNewest().group("OTHER", LogLevel.INFO).start()) {
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            check("a call whose group is off", messages(session), 0L);
            apply("site Main.java:12=on");
            check("the guard of its group and level", ProtoLogImpl.isEnabled(Group.WIRE, LogLevel.DEBUG), true);
            check("another level's", ProtoLogImpl.isEnabled(Group.WIRE, LogLevel.INFO), false);
            check("another group's", ProtoLogImpl.isEnabled(Group.OTHER, LogLevel.DEBUG), false);
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            ProtoLogImpl.d(Group.WIRE, LOST, 1, 1L);
            check("one call, and no other one of its group", messages(session), 1L);
            apply("site #" + Long.toHexString(SENT) + "=off;site \"lost\" and debug=on");
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            ProtoLogImpl.d(Group.WIRE, LOST, 1, 1L);
            check("the later rule wins", messages(session), 2L);
            apply("site *=default");
            ProtoLogImpl.d(Group.WIRE, LOST, 1, 1L);
            check("as before any rule", messages(session), 2L);
            check("the guard, too", ProtoLogImpl.isEnabled(Group.WIRE, LogLevel.DEBUG), false);
            check("no rule stays", Rules.held().size(), 0);
            clear();
        }
    }

    private static void offWhileTheGroupIsOn() throws IOException {
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            apply("site \"sent\"=off");
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            ProtoLogImpl.d(Group.WIRE, LOST, 1, 1L);
            ProtoLog.d(Group.WIRE, "sent %s", "x");
            ProtoLog.d(Group.WIRE, "lost %s", "x");
            check("calls with this text", messages(session), 2L);
            clear();
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            ProtoLog.d(Group.WIRE, "sent %s", "x");
            check("without a rule", messages(session), 4L);
        }
    }

    /** The module of a call is its package and its class, by the path of its file. */
    private static void modules() throws IOException {
        String[] taking = {"module app.Main", "module Main", "module app", "app.Main and debug"};
        try (Session session = Session.builder().keepNewest().group("OTHER", LogLevel.ERROR).locations().start()) {
            for (String selector : taking) {
                long before = messages(session);
                apply("site " + selector + "=on;site module app.Mai=on;site module Other=on");
                ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
                check(selector, messages(session) - before, 1L);
                clear();
            }
            long before = messages(session);
            // Classes of this package are no callers, so that of these is the list's.
            List<Integer> callers = new ArrayList<>(List.of(1, 2));
            apply("site module java.util.ArrayList=on");
            callers.forEach(number -> ProtoLog.d(Group.OTHER, "of a class %d", number));
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            check("calls that are not rewritten", messages(session) - before, 2L);
            apply("site *=default;site module java.util=off;site module util=on");
            callers.forEach(number -> ProtoLog.e(Group.OTHER, "of a class, and an error %d", number));
            check("the first segments", messages(session) - before, 2L);
            clear();
        }
        check("as it is listed", module("\"sent %d\""), "app.Main");
    }

    private static void byArguments() throws IOException {
        try (Session session = Session.builder().keepNewest().logFrom(LogLevel.ERROR).site("\"sent\" and arg1 == 42", "on").start()) {
            log(40, 45);
            check("messages with this value, of both kinds of calls", messages(session), 2L);
            apply("site \"sent\" and arg1 >= 44=on;site arg1 == 44=off;site \"lost\" and arg1 != 40=on");
            log(40, 45);
            check("the later rule wins", messages(session), 2L + 2 + 4);
            check("switched by arguments", shown("\"lost %d\""), "on,conditional");
            clear();
            log(40, 45);
            check("without a rule", messages(session), 8L);
            apply("site \"sent\" and arg1 <= 41=on");
            try (Span span = ProtoLog.span(Group.WIRE, "sent %d", 42)) {
                check("a span that does not match", span, Span.none());
            }
            apply("site \"sent\" and arg2 == 1=on;site \"name\" and arg1 == 1=on");
            ProtoLog.d(Group.OTHER, "name %s", "1");
            Rules.Held held = Rules.held().get(Rules.held().size() - 2);
            check("what no call has", held.problem(),
                    "no call that `\"sent\" and arg2 == 1` is about has such an integer among its arguments");
            check("nothing more", messages(session), 8L);
            clear();
        }
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            apply("site arg1 < 43=off");
            log(40, 45);
            check("all others", messages(session), 6L);
            check("no losses", session.stop().lost(), 0L);
            clear();
        }
        for (String limit : List.of("limit:1/s", "nosample")) {
            boolean isRefused = false;
            try {
                Session.builder().site("arg1 == 1", limit);
            } catch (IllegalArgumentException e) {
                isRefused = e.getMessage().startsWith("limit, rate or `repeat` of calls by an argument; ");
            }
            check("by an argument: " + limit, isRefused, true);
        }
    }

    /** What does not match is neither limited nor sampled, and no loss. */
    private static void limitedByArguments() throws IOException {
        Path file = Files.createTempFile("protolog-by-arguments", ".pftrace");
        try (Session session = Session.builder().file(file).truncate().reportLosses(false).logFrom(LogLevel.ERROR).start()) {
            apply("site \"sent\"=limit:1/h:5;site \"sent\" and arg1 >= 90=on;site \"lost\"=sample:1/1;site \"lost\" and arg1 < 3=on");
            for (int i = 0; i < 100; i++) {
                ProtoLogImpl.d(Group.WIRE, SENT, 1, i);
                ProtoLogImpl.d(Group.WIRE, LOST, 1, i);
            }
            Summary summary = session.stop();
            check("limited by arguments", summary.messages(), 8L);
            check("what the limit suppressed", summary.lost(), 5L);
            check("what was passed over", summary.passedOver().size(), 0);
            clear();
        }
        Files.delete(file);
    }

    private static void log(int from, int to) {
        for (int i = from; i < to; i++) {
            ProtoLogImpl.d(Group.WIRE, SENT, 1, i);
            ProtoLogImpl.d(Group.WIRE, LOST, 1, i);
            ProtoLog.d(Group.OTHER, "sent at run time %d", i);
        }
    }

    private static String module(String selector) {
        return takenBy(selector).stream().map(Map.Entry::getKey).map(KnownCall::module).distinct().collect(Collectors.joining(" "));
    }

    private static List<Map.Entry<KnownCall, String>> takenBy(String selector) {
        List<Map.Entry<KnownCall, String>> found = new ArrayList<>();
        try {
            Rules.forEachTaken(Selector.parse(selector), (call, words) -> found.add(Map.entry(call, words)));
        } catch (SelectorException e) {
            throw new AssertionError(selector, e);
        }
        return found;
    }

    private static String shown(String selector) {
        return takenBy(selector).stream().map(Map.Entry::getValue).collect(Collectors.joining(" "));
    }

    private static void atRunTime() throws IOException {
        try (Session session = Session.builder().keepNewest().logFrom(LogLevel.ERROR).start()) {
            ProtoLog.d(Group.OTHER, "retry %d", 1);
            apply("site \"retry\"=on");
            ProtoLog.d(Group.OTHER, "retry %d", 1);
            ProtoLog.i(Group.OTHER, "retry %d, again", 1);
            ProtoLog.i(Group.OTHER, "no such text %d", 1);
            check("by a text that comes at run time", messages(session), 2L);
            check("a text that no rule takes is not kept",
                    Routing.of(Group.OTHER).messages[LogLevel.INFO.ordinal()].containsKey("no such text %d"), false);
            clear();
        }
    }

    private static void limits() throws Exception {
        Path file = Files.createTempFile("protolog-limit", ".pftrace");
        long before = System.nanoTime();
        Session session = Session.builder().file(file).truncate().reportLosses(false).enableAll().limit("\"sent\"", "1/h burst 10").start();
        for (int i = 0; i < 1000; i++) {
            ProtoLogImpl.d(Group.WIRE, SENT, 1, i);
            ProtoLogImpl.d(Group.WIRE, LOST, 1, i);
            ProtoLog.d(Group.WIRE, "sent at run time %d", i);
        }
        check("messages so far", recorded(session), List.of(1020L, 1980L));
        session.flush();
        List<Losses.Count> reported = losses(file);
        check("what is suppressed is in the file while the session runs", sum(reported), 1980L);
        for (int i = 0; i < 5; i++) {
            ProtoLogImpl.d(Group.WIRE, SENT, 1, i);
        }
        Summary summary = session.stop();
        check("messages", List.of(summary.messages(), summary.lost()), List.of(1020L, 1985L));
        reported = losses(file);
        check("all is reported, once", sum(reported), 1985L);
        for (Losses.Count count : reported) {
            check("by group", count.group(), MessageId.ofGroup(MessageId.fullName(Group.WIRE)));
            check("with times", count.first() > 0 && count.first() <= count.last() && count.last() - count.first() < System.nanoTime() - before, true);
        }
        clear();
        Files.delete(file);
    }

    private static void limitOfAGroup() throws IOException {
        try (Session session = Session.builder().keepNewest().reportLosses(false).enableAll()
                .groupLimit(WIRE, "1/h:7").limit("lost.java", "1/s").start()) {
            for (int i = 0; i < 100; i++) {
                ProtoLogImpl.d(Group.WIRE, SENT, 1, i);
                ProtoLogImpl.d(Group.WIRE, LOST, 1, i);
                ProtoLogImpl.d(Group.OTHER, 1, 1, i);
            }
            check("all calls of the group together", recorded(session), List.of(107L, 193L));
            SessionStats.OfGroup group = session.running().stats().groups().stream().filter(it -> it.group().endsWith(WIRE)).findAny().orElseThrow();
            check("by cause", group.losses().get(LossCause.LIMITED), 193L);
            apply("site WIRE=nogroup-limit");
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1);
            check("no limit any more", messages(session), 108L);
            clear();
        }
    }

    /**
     * The tokens of a limit that is removed are gone with it, whatever other limits there are;
     * those of one that stays are left as they are. Of calls that are rewritten, and of others.
     */
    private static void aLimitBeginsAnew() throws IOException {
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            for (boolean isProcessed : new boolean[] {true, false}) {
                String one = isProcessed ? "\"sent\"" : "WIRE and \"at run time %d\"";
                Runnable log = () -> {
                    for (int i = 0; i < 10; i++) {
                        if (isProcessed) {
                            ProtoLogImpl.d(Group.WIRE, SENT, 1, (long) i);
                        } else {
                            ProtoLog.d(Group.WIRE, "at run time %d", i);
                        }
                    }
                };
                long before = messages(session);
                apply("site " + one + "=limit:1/h:3;site \"lost\" and debug=limit:1/h:3");
                log.run();
                check("a burst", messages(session) - before, 3L);
                apply("site \"lost\" and debug=limit:2/h:4");
                log.run();
                check("another rule changes: no more", messages(session) - before, 3L);
                apply("site " + one + "=default");
                log.run();
                check("without the rule all of them", messages(session) - before, 13L);
                apply("site " + one + "=limit:1/h:3");
                log.run();
                check("the rule again: a burst again", messages(session) - before, 16L);
                apply("site " + one + "=default;site \"lost\" and debug=default");
            }
        }
    }

    private static void aRuleOfTheFileEnds() throws IOException {
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            Routing.replaceConfigFile(rules("site WIRE=off", GroupSettings.Source.CONFIG_FILE));
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            check("a rule of the file", messages(session), 0L);
            Routing.replaceConfigFile(List.of());
            ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
            check("it has gone with the file's line", messages(session), 1L);
            for (String line : List.of("*=default", "WIRE=default", "*=default,notext")) {
                apply("site WIRE=off");
                Routing.replaceConfigFile(rules("site " + line, GroupSettings.Source.CONFIG_FILE));
                long before = messages(session);
                ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
                check("the file ends an operator's", messages(session), before + 1);
                Routing.replaceConfigFile(List.of());
                ProtoLogImpl.d(Group.WIRE, SENT, 1, 1L);
                check("which holds again without the line", messages(session), before + 1);
            }
            clear();
        }
    }

    private static void wrongLimits() {
        for (List<String> wrong : List.of(List.of("net and", "1/s"), List.of("net", "often"))) {
            try {
                Session.builder().limit(wrong.get(0), wrong.get(1));
                check("a wrong limit is refused", wrong, "");
            } catch (IllegalArgumentException e) {
                check("it says what is wrong: " + e.getMessage(), e.getMessage().contains(wrong.get(0).endsWith("and") ? "missing condition" : "`often`"), true);
            }
        }
    }

    /** Each message is there or counted, by any thread. */
    private static void threads() throws Exception {
        Path file = Files.createTempFile("protolog-limit", ".pftrace");
        Session session = Session.builder().file(file).truncate().reportLosses(false).enableAll().limit("\"lost\"", "1000/s burst 100").start();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(new Thread(() -> {
                for (int call = 0; call < 20_000; call++) {
                    ProtoLogImpl.d(Group.WIRE, LOST, 1, call);
                }
            }));
        }
        long from = System.nanoTime();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        long most = 100 + (System.nanoTime() - from + 10_000_000) / 1_000_000;
        Summary summary = session.stop();
        check("each is there or counted", summary.messages() + summary.lost(), 160_000L);
        boolean isWithin = summary.messages() <= most && summary.messages() > 0;
        check("no more than the limit lets pass: " + summary.messages() + " of " + most, isWithin, true);
        check("and reported once", sum(losses(file)), summary.lost());
        clear();
        Files.delete(file);
    }

    /** They are said once, when the session ends; not those of calls that may come. */
    private static void selectorsWithoutCalls() {
        String said = ended(Session.builder().limit("WIRE and \"sennt\"", "1/s").sample("WIRE and \"sennt\"", "1/2").limit("Main.java:13", "1/s")
                .limit("WIRE and warn", "1/s").sample("no.such.GROUP", "1/2"));
        String line = "protolog: `a session`: no call that is known is taken by `%s`\n  help: look at its names, places and texts\n";
        check("a wrong text, line, level and group", said, List.of("WIRE and \"sennt\"", "Main.java:13", "WIRE and warn", "no.such.GROUP").stream()
                .map(line::formatted).collect(Collectors.joining()));
        check("those that take calls", ended(Session.builder().limit("WIRE", "1/s").sample("Main.java:12", "1/2").limit("\"lost\" and debug", "1/s")), "");
        check("calls that may come: the group has none in a dictionary", ended(Session.builder().limit("OTHER and warn and \"any\"", "1/s")), "");
        check("with a place only where places are asked for", ended(Session.builder().locations().limit("OTHER and any.java:5", "1/s")), "");
        check("one without", ended(Session.builder().limit("OTHER and any.java:5", "1/s")), line.formatted("OTHER and any.java:5"));
        check("where nobody wants lines", ended(Session.builder().reportLosses(false).limit("no.such.GROUP", "1/s")), "");
        for (String selector : List.of("WIRE and \"sennt\"", "Main.java:13", "WIRE and warn", "no.such.GROUP", "WIRE", "Main.java:12",
                "\"lost\" and debug", "OTHER and warn and \"any\"", "OTHER and any.java:5")) {
            apply("site " + selector + "=default");
        }
    }

    private static String ended(Session.Builder builder) {
        return Captured.lines(() -> {
            try {
                builder.keepNewest().start().stop();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static void clear() {
        apply("site \"sent\"=default;site \"lost\" and debug=default;site \"lost\"=default;site \"retry\"=default;site WIRE=default;site *=default");
    }

    static void apply(String text) {
        Routing.apply(rules(text, GroupSettings.Source.OTHER));
    }

    private static List<Rule> rules(String text, GroupSettings.Source source) {
        SiteRules read = SiteRules.parse(text);
        check("rules are read", read.problems(), List.of());
        return read.items().stream().map(item -> Rule.of(item, source)).toList();
    }

    private static long messages(Session session) throws IOException {
        return session.running().stats().messages();
    }

    private static List<Long> recorded(Session session) throws IOException {
        if (session.running().file() != null) {
            session.flush();
        }
        return List.of(messages(session), session.running().stats().lost());
    }

    private static long sum(List<Losses.Count> losses) {
        return losses.stream().filter(it -> it.cause() == LossCause.LIMITED).mapToLong(Losses.Count::count).sum();
    }

    /** The losses that packets of a trace report. */
    static List<Losses.Count> losses(Path file) throws Exception {
        List<Losses.Count> losses = new ArrayList<>();
        ProtoReader trace = new ProtoReader(Files.readAllBytes(file));
        while (trace.next()) {
            ProtoReader packet = trace.message();
            while (packet.next()) {
                if (packet.field() == Losses.LOSS) {
                    losses.add(Losses.Count.read(packet.field(), packet.message()));
                } else {
                    packet.skip();
                }
            }
        }
        return losses;
    }

    private static byte[] dictionary() {
        String group = MessageId.fullName(Group.WIRE);
        long id = Integer.toUnsignedLong(MessageId.ofGroup(group));
        Bytes config = new Bytes().message(2, new Bytes().varint(1, id).string(2, group).string(3, WIRE));
        Map.of("sent %d", SENT, "lost %d", LOST).forEach((text, message) -> config.message(1, new Bytes()
                .fixed64(1, message).string(2, text).varint(3, 1).varint(4, id).string(5, text.startsWith("sent") ? "app/Main.java:12" : "app/Main.java:14")));
        return config.done();
    }
}
