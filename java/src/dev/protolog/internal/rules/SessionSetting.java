package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import dev.protolog.internal.groups.SettingsText;
import dev.protolog.internal.process.RunningProgram;
import java.util.ArrayList;
import java.util.List;

/**
 * A setting for all sessions of a program, as
 * {@code protolog-core/src/control/session_setting.rs} has it: {@code sessions limit:1MiB/s},
 * {@code sessions nolimit}, {@code sessions default}; {@code session_settings.tsv} has vectors.
 *
 * @param program the program that it is for; null for all
 * @param limit the limit of the bytes of each of them; null for none
 * @param isDefault what the program has set holds
 */
public record SessionSetting(String program, ByteLimit limit, boolean isDefault) {
    private static final String LIMIT = "limit";
    private static final String WORDS = "use limit:1MiB/s, limit:1MiB/s:8MiB, nolimit or default";

    /** The settings of sessions in a text, and the problems. */
    public record Read(List<SessionSetting> settings, List<SettingsText.Problem> problems, List<Object> all) {
        /** Those for this program. */
        public List<SessionSetting> forThisProgram() {
            String own = RunningProgram.name();
            return settings.stream().filter(it -> it.program == null || it.program.equals(own)).toList();
        }
    }

    public static Read parse(String text) {
        Read read = new Read(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (SettingParts.Part part : SettingParts.of(text)) {
            String words = part.ofSessions();
            if (words == null) {
                continue;
            }
            SessionSetting setting = of(part.program(), SettingParts.trim(words));
            if (setting != null) {
                read.settings.add(setting);
                read.all.add(setting);
                continue;
            }
            SettingsText.Problem problem = problem(part.line(), SettingParts.trim(words));
            read.problems.add(problem);
            read.all.add(problem);
        }
        return read;
    }

    /** Null for words that are none. */
    private static SessionSetting of(String program, String words) {
        String limit = SiteSetting.valueOf(LIMIT, words);
        ByteLimit read = limit == null ? null : ByteLimit.parse(SettingParts.trim(limit));
        boolean isDefault = SiteSetting.is(words, "default");
        return read != null || isDefault || SiteSetting.is(words, "nolimit") ? new SessionSetting(program, read, isDefault) : null;
    }

    private static SettingsText.Problem problem(int line, String words) {
        String limit = SiteSetting.valueOf(LIMIT, words);
        String what = limit == null ? "unknown word `" + words : "invalid limit of bytes `" + SettingParts.trim(limit);
        String where = line > 1 ? "line " + line + ": " : "";
        return new SettingsText.Problem(where + SettingsText.oneLine(what) + "`", "line " + line + ": invalid setting of sessions",
                limit == null ? WORDS : ByteLimit.HELP);
    }

    @Override
    public String toString() {
        String words = isDefault ? "default" : limit == null ? "nolimit" : "limit:" + limit;
        return (program == null ? "" : "[" + program + "] ") + words;
    }
}
