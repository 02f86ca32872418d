package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.rules.SiteRules;
import dev.protolog.internal.write.Routing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Rates and limits that groups declare: rules from their first message on, before all others. */
final class DeclaredRulesTest {
    private static final int CALLS = 5_000;
    private static final String SAMPLED = "group dev.protolog.DeclaredRulesTest.Group.SAMPLED";
    private static final String LIMITED = "group dev.protolog.DeclaredRulesTest.Group.LIMITED";

    private DeclaredRulesTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        SAMPLED("1/100", null),
        LIMITED(null, "10/h burst 20"),
        BOTH("1/2", "1/h"),
        WRONG("1/0", "fast"),
        PLAIN(null, null),
        ENDED("1/1000", "1/h"),
        THROWS(null, null) {
            @Override
            public String getSample() {
                throw new IllegalStateException("no answer");
            }
        };

        private final String sample;
        private final String limit;

        Group(String sample, String limit) {
            this.sample = sample;
            this.limit = limit;
        }

        @Override
        public String getSample() {
            return sample;
        }

        @Override
        public String getLimit() {
            return limit;
        }
    }

    static void run() throws Exception {
        Path dir = Files.createTempDirectory("protolog-declared");
        try {
            declared(dir.resolve("declared.pftrace"));
        } finally {
            Files.deleteIfExists(dir.resolve("declared.pftrace"));
            Files.delete(dir);
        }
    }

    private static void declared(Path file) throws Exception {
        // Rules that an operator has ended end nothing of what groups declare later.
        apply("\"declared\"=on");
        apply("group OTHER=limit:1/h");
        apply("*=default");
        check("nothing stays", Rules.held().size(), 0);
        // One by its name, as the state file has it, waits for the group.
        apply("ENDED=default");
        check("an operator ends what there is", Rules.held().size(), 0);
        Routing.apply(SiteRules.parse("site ENDED=default").items().stream()
                .map(item -> Rule.of(item, GroupSettings.Source.OTHER).ofStart()).toList());
        check("it stays", Rules.held().size(), 1);
        Session session = Session.builder().file(file).keepNewest().bufferBytes(8 << 20).enableAll().start();
        String said = Captured.lines(() -> {
            for (Group group : Group.values()) {
                log(group);
            }
        });
        check("what is wrong is said once", said, """
                protolog: dev.protolog.DeclaredRulesTest.Group.WRONG declares the invalid rate `1/0`
                  help: write a part of all messages, as in `1/100`, `0.5%` or `1/100 by arg1`, or of all bytes, as in `1/512KiB`
                protolog: dev.protolog.DeclaredRulesTest.Group.WRONG declares the invalid limit `fast`
                  help: write a number up to 1000000 and a time, as in `100/s`, `2/m burst 10` or `30/h`
                """);
        check("rules", held(), List.of("group-limit:1/h,sample:1/1000", "group-limit:1/h,sample:1/2", "group-limit:10/h:20", "sample:1/100"));
        check("and no others", Rules.held().size(), 5);
        // An operator ends one, whatever group is seen again.
        apply(SAMPLED + "=nosample");
        log(Group.SAMPLED);
        apply(SAMPLED + "=default");
        log(Group.SAMPLED);
        check("it stays ended", held(), List.of("group-limit:1/h,sample:1/1000", "group-limit:1/h,sample:1/2", "group-limit:10/h:20"));
        Summary summary = session.stop();
        List<String> passed = summary.passedOver().stream().filter(it -> it.group().contains("DeclaredRulesTest"))
                .map(it -> it.group().replaceAll(".*[.]", "") + " " + it.level()).sorted().toList();
        check("WARN is kept, of " + summary, passed, List.of("BOTH DEBUG", "SAMPLED DEBUG"));
        long sampled = summary.passedOver().stream().filter(it -> it.group().endsWith("SAMPLED")).mapToLong(PassedOver::count).sum();
        check("of one in 100 " + sampled, sampled > CALLS * 9 / 10 && sampled < CALLS, true);
        long each = CALLS + 1;
        // Of the limited group 20, of that with both one, of four others all.
        check("kept", summary.messages(), 3 * each - sampled + 20 + 1 + 4 * each);
        long all = summary.passedOver().stream().mapToLong(PassedOver::count).sum();
        check("each is there or counted", summary.messages() + summary.lost() + all, 9 * each);
        apply(LIMITED + "=default");
        apply("group dev.protolog.DeclaredRulesTest.Group.ENDED=default");
        apply("*=default");
        apply("group dev.protolog.DeclaredRulesTest.Group.BOTH=default");
    }

    private static void log(Group group) {
        for (int i = 0; i < CALLS; i++) {
            ProtoLog.d(group, "declared %d", i);
        }
        ProtoLog.w(group, "declared, and worse");
    }

    /** The words of what groups of this test declare, the newest first. */
    private static List<String> held() {
        return Rules.held().stream().map(Rules.Held::rule).filter(it -> it.source() == GroupSettings.Source.GROUP
                && it.selector().text().contains("DeclaredRulesTest")).map(Rule::words).toList();
    }

    private static void apply(String rule) {
        SiteRules read = SiteRules.parse("site " + rule);
        check("the rule is read", read.problems(), List.of());
        Routing.apply(read.items().stream().map(item -> Rule.of(item, GroupSettings.Source.OTHER)).toList());
    }
}
