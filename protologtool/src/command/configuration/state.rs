//! The state file: settings that programs apply when they start.
//!
//! It has the form of all settings (docs/design/control.md). One operator at a time writes it, and
//! the new file replaces the old one as a whole.
//!
//! Invariants
//! - The last setting holds at the next start. A new setting takes the same levels out of earlier
//!   ones of its pattern, and one for `*` out of all, in programs that it covers; and it stands
//!   after all others that it meets. An earlier one of another pattern stays, since that may name
//!   groups that the new one does not: `app::net` has `app::net::Log::Tcp`, which is no `Net`.
//! - Nothing that another user put there is taken over: the file is read by the rule by which
//!   programs read it.

use crate::exit::Failure;
use crate::output::reason;
use crate::system::{Staged, System};
use protolog_control::state_file;
use protolog_core::control::name::characters;
use protolog_core::control::session_setting::{SessionSetting, SessionSettings};
use protolog_core::control::setting::{GroupSetting, Setting, SettingProblem, Settings};
use protolog_core::control::site_rule::{SiteRule, SiteRules, SiteSetting};
use protolog_core::control::{Closeness, closeness};
use protolog_files::Refused;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The largest file that programs read, in bytes.
const MOST: u64 = 1 << 20;

const HEAD: &str = "# Settings that protologtool keeps for programs that start later. Changes made by hand stay; comments do not.\n";

/// A setting for groups (none: all) of programs of these names (none: all).
pub(super) struct Kept {
    pub(super) groups: Vec<String>,
    pub(super) programs: Vec<String>,
    pub(super) setting: Setting,
    /// True if printing changes only where the file has something printed.
    pub(super) only_printed: bool,
}

/// A line of the file: the program, the group and the setting.
type StateLine = (Option<String>, String, Setting);

/// A rule of the file: the program, and the line.
type RuleLine = (Option<String>, String);

/// A rule to keep, and whether one that ends others ends more than the file's own.
type NewRule = (Option<String>, String, bool);

/// Adds settings, each after those before.
pub(super) fn remember(settings: &[Kept], system: &dyn System) -> Result<(), Failure> {
    change(system, &|old, path| merged(old, path, settings, &[]))
}

/// Adds rules of single calls of programs of these names (none: all), each in the place of an
/// earlier one of its selector. `ends_others`: one that only ends others is to end those that
/// groups declare, too, at each start.
pub(super) fn remember_rules(
    rules: &[String],
    programs: &[String],
    ends_others: bool,
    system: &dyn System,
) -> Result<(), Failure> {
    let places: Vec<_> = match programs {
        [] => vec![None],
        programs => programs.iter().cloned().map(Some).collect(),
    };
    let each = |place: &Option<String>| {
        rules.iter().map(|rule| (place.clone(), rule.clone(), ends_others)).collect::<Vec<_>>()
    };
    let new: Vec<NewRule> = places.iter().flat_map(each).collect();
    check(&[], programs)?;
    change(system, &|old, path| merged(old, path, &[], &new))
}

/// Adds a setting of sessions of programs of these names (none: all), in the place of earlier ones.
pub(super) fn remember_limit(
    line: &str,
    programs: &[String],
    system: &dyn System,
) -> Result<(), Failure> {
    remember_rules(&[line.to_owned()], programs, false, system)
}

/// Makes a change of the file, alone.
fn change(
    system: &dyn System,
    change: &dyn Fn(&str, &Path) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let path = state_file();
    let failed = |what: &str, path: &Path, error: &io::Error| {
        let failure = Failure::new(format!("can't {what} `{}`: {}", path.display(), reason(error)));
        match Refused::of(error) {
            // As root with the environment of another user.
            Some(Refused::ForeignDirectory) => failure
                .help("run with the home directory of this user, as with `sudo -H`, or set PROTOLOG_STATE"),
            Some(refused) => failure.help(refused.help()),
            None => failure.help("set PROTOLOG_STATE to a file that can be written"),
        }
    };
    let lock = path.with_extension("lock");
    let _alone = system.lock(&lock).map_err(|error| failed("lock", &lock, &error))?;
    let old = match system.read_own(&path, MOST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read", &path, &error)),
    };
    let text = change(&old, &path)?;
    if text.len() as u64 > MOST {
        let text = format!("`{}` would have more than {MOST} bytes", path.display());
        return Err(Failure::new(text).help("remove settings from it that are not needed"));
    }
    let staged = system.stage(&path, &mut |sink| io::Write::write_all(sink, text.as_bytes()));
    staged.and_then(Staged::commit).map_err(|error| failed("write", &path, &error))
}

/// The file with the settings and rules in it.
fn merged(old: &str, path: &Path, settings: &[Kept], rules: &[NewRule]) -> Result<String, Failure> {
    let refuse = |error: &dyn std::fmt::Display, help: &str| {
        let help = format!("correct the file, or remove it: {help}");
        Failure::new(format!("{}: {error}", path.display())).help(help)
    };
    let mut all: Vec<StateLine> = Vec::new();
    for item in Settings::new(old) {
        let GroupSetting { program, group, setting } =
            item.map_err(|error| refuse(&error, error.help()))?;
        all.push((program.map(str::to_owned), group.to_owned(), setting));
    }
    let mut all_rules: Vec<RuleLine> = Vec::new();
    for item in SiteRules::new(old) {
        let SiteRule { program, selector, setting } =
            item.map_err(|error| refuse(&error, error.help()))?;
        let text = format!("site {}={setting}", selector.text());
        all_rules.push((program.map(str::to_owned), text));
    }
    for item in SessionSettings::new(old) {
        let item = item.map_err(|error| refuse(&error, error.help()))?;
        all_rules.push((item.program.map(str::to_owned), format!("sessions {}", item.setting)));
    }
    for kept in settings {
        check(&kept.groups, &kept.programs)?;
        kept.add_to(&mut all);
    }
    for (program, rule, ends_others) in rules {
        if set_limit(&mut all_rules, (program, rule)) {
            continue;
        }
        let Some(new) = SiteRules::new(rule).next().and_then(Result::ok) else { continue };
        // Sections come after the rules for all programs, so theirs would win.
        let is_same = |old: &RuleLine| {
            (program.is_none() || old.0 == *program)
                && selector_of(&old.1) == Some(new.selector.text())
        };
        let has_ended = all_rules.iter().any(|old| is_same(old) && !resets(&old.1))
            && !all_rules.iter().any(|old| is_same(old) && resets(&old.1));
        for old in &mut all_rules {
            if is_same(old) {
                old.1 = left_of(&old.1, new.setting);
            }
        }
        all_rules.retain(|(_, old)| !old.is_empty());
        // One that only ends others has ended the one of its selector, or has something to end, be
        // it what the program itself says.
        if !resets(rule) || !has_ended || *ends_others {
            all_rules.push((program.clone(), rule.clone()));
        }
    }
    // Settings of all programs come first, since a section has no end.
    let lines =
        all.into_iter().map(|(program, group, setting)| (program, format!("{group}={setting}")));
    let mut lines: Vec<_> = lines.chain(all_rules).collect();
    lines.sort_by(|one, other| one.0.cmp(&other.0));
    let mut text = HEAD.to_owned();
    let mut section = None;
    for (program, line) in lines {
        if program != section {
            let _ = writeln!(text, "[{}]", program.as_deref().unwrap_or_default());
            section = program;
        }
        let _ = writeln!(text, "{line}");
    }
    Ok(text)
}

/// Puts a setting of sessions in the place of earlier ones; false for another one.
fn set_limit(all: &mut Vec<RuleLine>, (program, line): (&Option<String>, &str)) -> bool {
    let Some(Ok(new)) = SessionSettings::new(line).next() else { return false };
    let is_other = |of: &Option<String>| program.is_some() && of != program;
    all.retain(|(of, old)| is_other(of) || !old.starts_with("sessions "));
    // What a setting of all programs does for one of them, `default` ends.
    if program.is_some() || new.setting != SessionSetting::Default {
        all.push((program.clone(), line.to_owned()));
    }
    true
}

/// The selector of a rule.
fn selector_of(rule: &str) -> Option<&str> {
    Some(SiteRules::new(rule).next()?.ok()?.selector.text())
}

/// The rest of a rule before a newer one of its selector, as in programs: the parts that this does
/// not mention; empty if there are none.
fn left_of(rule: &str, new: SiteSetting) -> String {
    let Some(Ok(SiteRule { selector, mut setting, .. })) = SiteRules::new(rule).next() else {
        return rule.to_owned();
    };
    setting = setting.before(new);
    if new.resets || setting == SiteSetting::default() {
        return String::new();
    }
    format!("site {}={setting}", selector.text())
}

/// Returns whether a rule only ends others.
fn resets(rule: &str) -> bool {
    let setting = SiteRules::new(rule).next().and_then(Result::ok).map(|rule| rule.setting);
    setting == Some(SiteSetting { resets: true, ..SiteSetting::default() })
}

impl Kept {
    fn add_to(&self, all: &mut Vec<StateLine>) {
        let every = ["*".to_owned()];
        let groups = if self.groups.is_empty() { &every[..] } else { &self.groups };
        let programs: Vec<_> = if self.programs.is_empty() {
            vec![None]
        } else {
            self.programs.iter().cloned().map(Some).collect()
        };
        for program in &programs {
            for group in groups {
                self.add(program.as_ref(), group, all);
            }
        }
    }

    fn add(&self, program: Option<&String>, group: &str, all: &mut Vec<StateLine>) {
        let Setting { trace, text } = self.setting;
        let is_of_program =
            |(whose, ..): &&mut StateLine| program.is_none() || whose.as_ref() == program;
        for (_, name, old) in all.iter_mut().filter(is_of_program) {
            let named = closeness(group, &characters(name).collect::<String>());
            let replaces = group == "*" || name != "*" && named == Some(Closeness::Whole);
            old.trace = old.trace.filter(|_| trace.is_none() || !replaces);
            old.text = match old.text {
                // A later line would also switch it on where it is off, so the change is made here,
                // for all that this pattern names.
                Some(levels) if self.only_printed && levels > 0 && named.is_some() => {
                    text.or(Some(levels))
                }
                levels if self.only_printed || text.is_none() || !replaces => levels,
                _ => None,
            };
        }
        all.retain(|(.., setting)| *setting != Setting::default());
        let new = Setting { trace, text: text.filter(|_| !self.only_printed) };
        if new == Setting::default() {
            return;
        }
        // Sections come after the settings for all programs, so theirs would win.
        let meets = |old: &Setting| {
            old.trace.is_some() && new.trace.is_some() || old.text.is_some() && new.text.is_some()
        };
        let others = all.iter().filter(|(whose, _, old)| whose.is_some() && meets(old));
        let mut places = BTreeSet::from([program.cloned()]);
        if program.is_none() {
            places.extend(others.map(|(whose, ..)| whose.clone()));
        }
        all.extend(places.into_iter().map(|place| (place, group.to_owned(), new)));
    }
}

/// Refuses names that can't be written down: a file that can't be read again would block every
/// later change.
fn check(groups: &[String], programs: &[String]) -> Result<(), Failure> {
    let is_read_as = |text: &str, program: Option<&str>, group: &str| {
        let mut items = Settings::new(text).map(|item| item.map(|item| (item.program, item.group)));
        items.next() == Some(Ok((program, group))) && items.next().is_none()
    };
    let refuse = |what: &str, name: &str, problem: SettingProblem| {
        let name = name.escape_debug();
        Err(Failure::new(format!("invalid {what} name `{name}`")).help(problem.help()))
    };
    let is_group = |group: &&String| is_read_as(&format!("{group}=off"), None, group);
    let is_program = |name: &&String| is_read_as(&format!("[{name}]\n*=off"), Some(name), "*");
    if let Some(group) = groups.iter().find(|group| !is_group(group)) {
        return refuse("group", group, SettingProblem::BadGroup);
    }
    match programs.iter().find(|name| !is_program(name)) {
        Some(name) => refuse("program", name, SettingProblem::BadProgram),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::Level;
    use protolog_core::control::levels_at_least;
    use protolog_core::control::selector::Selector;

    fn add(old: &str, groups: &[&str], words: &str, programs: &[&str]) -> String {
        let own = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let item = format!("g={words}");
        let setting = Settings::new(&item).next().unwrap().unwrap().setting;
        let kept =
            Kept { groups: own(groups), programs: own(programs), setting, only_printed: false };
        let text = merged(old, Path::new("settings"), &[kept], &[]);
        text.map_or_else(|failure| failure.to_string(), |text| text.replacen(HEAD, "", 1))
    }

    #[test]
    fn settings_are_merged() {
        let one = add("", &["Net", "Disk"], "text:warn", &[]);
        assert_eq!(one, "Net=text:warn\nDisk=text:warn\n");
        let two = add(&one, &["Net"], "debug", &[]);
        assert_eq!(two, "Net=text:warn\nDisk=text:warn\nNet=debug\n");
        let three = add(&two, &["Net"], "notext", &["b", "a"]);
        let general = "Net=text:warn\nDisk=text:warn\nNet=debug\n";
        assert_eq!(three, format!("{general}[a]\nNet=notext\n[b]\nNet=notext\n"));
        let four = add(&three, &[], "off", &["a"]);
        assert_eq!(four, format!("{general}[a]\n*=off\n[b]\nNet=notext\n"));
    }

    #[test]
    fn rules_of_calls_are_kept_and_replaced() {
        let add_rule = |old: &str, program: Option<&str>, rule: &str| {
            let rule = (program.map(str::to_owned), rule.to_owned(), false);
            let text = merged(old, Path::new("settings"), &[], &[rule]);
            text.map_or_else(|failure| failure.to_string(), |text| text.replacen(HEAD, "", 1))
        };
        let old = "Net=warn\nsite net.rs:1-9=on\n[a]\nsite \"x;y\"=off\n";
        assert_eq!(add(old, &["Net"], "debug", &[]), old.replace("warn", "debug"));
        let two = add_rule(old, None, "site net.rs:1-9=off");
        assert_eq!(two, old.replace("1-9=on", "1-9=off"));
        let three = add_rule(&two, Some("a"), "site #7=on,text");
        assert_eq!(three, format!("{two}site #7=on,text\n"));
        assert_eq!(add_rule(&three, Some("a"), "site #7=default"), two);
        let other = add_rule(&two, Some("a"), "site #8=default");
        assert_eq!(other, format!("{two}site #8=default\n"));
        // The rule of a program, which no line of the file ends by itself.
        for times in 1..3 {
            let again = add_rule(&"site net=default\n".repeat(times - 1), None, "site net=default");
            assert_eq!(again, "site net=default\n", "{times} times");
        }
        let declared = (None, "site net=default".to_owned(), true);
        let kept = merged("site net=sample:1/2\n", Path::new("settings"), &[], &[declared]);
        let kept =
            kept.map_or_else(|failure| failure.to_string(), |text| text.replacen(HEAD, "", 1));
        assert_eq!(kept, "site net=default\n");
        let refused = add_rule("site net\n", None, "site net=on");
        assert!(refused.starts_with("error: settings: missing `=` in `site net`"), "{refused}");
    }

    /// Each selector, whatever is in its quotation marks, leaves a file that is read again.
    #[test]
    fn a_rule_of_any_selector_leaves_a_file_that_is_read() {
        let vectors = include_str!("../../../../protolog-core/testdata/selectors.tsv");
        let texts = vectors.lines().skip(1).filter_map(|row| row.split('\t').next());
        let more =
            ["\"a\nb\"", "group \"a\nsite *=off\"", "\"a;b=c # d\"", "x=on;site y", "a\u{1b}[2J"];
        let (mut kept, mut refused) = (0, 0);
        for text in texts.chain(more) {
            // As on the command line.
            let Ok(selector) = Selector::parse(text) else {
                refused += 1;
                continue;
            };
            let rule = (None, format!("site {}=off", selector.text()), false);
            let one = merged("Net=warn\n", Path::new("settings"), &[], &[rule]);
            let one = one.expect("the old file is right");
            let again = merged(&one, Path::new("settings"), &[], &[]).expect(text);
            assert_eq!(again, one, "{text:?}");
            let rules: Vec<_> = SiteRules::new(&one).flatten().collect();
            assert_eq!(Settings::new(&one).flatten().count(), 1, "{text:?}");
            let found: Vec<_> = rules.iter().map(|rule| rule.selector.text()).collect();
            assert_eq!(found, [selector.text()]);
            kept += 1;
        }
        assert!(kept > 20 && refused > 20, "{kept} and {refused}");
    }

    #[test]
    fn what_was_said_last_holds() {
        let old = "x::Net=text:warn\n*=notext\n[a]\nNet=debug,notext\n[b]\n*=off\n";
        assert_eq!(
            add(old, &["Net"], "text", &[]),
            "x::Net=text:warn\n*=notext\nNet=text:verbose\n[a]\nNet=debug\n[b]\n*=off\nNet=text:verbose\n"
        );
        assert_eq!(add(old, &[], "text", &[]), "*=text:verbose\n[a]\nNet=debug\n[b]\n*=notrace\n");
    }

    #[test]
    fn a_name_that_may_have_other_groups_stays() {
        // `app::net::Log::Tcp` is no `Net`, and `app::NetLog::Tcp` is under no `NetLog`.
        for (old, group) in
            [("app::net=debug", "Net"), ("NetLog::Tcp=debug", "netlog"), ("*=off", "\"*\"")]
        {
            assert_eq!(add(old, &[group], "warn", &[]), format!("{old}\n{group}=warn\n"));
        }
        assert_eq!(add("app::net=debug", &["APP::Net"], "warn", &[]), "APP::Net=warn\n");
    }

    #[test]
    fn levels_of_what_is_printed_stay_where_they_are() {
        let old = "Net=text:verbose\nDisk=notext\n[a]\nx::Net=info,text\n";
        let levels = levels_at_least(Some(Level::Warn));
        let setting = Setting { trace: Some(levels), text: Some(levels) };
        let kept = Kept { groups: Vec::new(), programs: Vec::new(), setting, only_printed: true };
        let text = merged(old, Path::new("settings"), &[kept], &[]).unwrap().replacen(HEAD, "", 1);
        assert_eq!(text, "Net=text:warn\nDisk=notext\n*=warn\n[a]\nx::Net=text:warn\n");
    }

    #[test]
    fn names_that_can_t_be_written_are_refused() {
        for (group, program, expected) in [
            ("a b", "app", "error: invalid group name `a b`\nhelp: write the name of a group"),
            ("#a", "app", "error: invalid group name `#a`\n"),
            ("a=off\nb", "app", "error: invalid group name `a=off\\nb`\n"),
            (
                "a",
                "app\n*=off",
                "error: invalid program name `app\\n*=off`\nhelp: write the name of a",
            ),
            ("a", "", "error: invalid program name ``\n"),
        ] {
            let actual = add("", &[group], "text", &[program]);
            assert!(actual.starts_with(expected), "{actual}");
        }
        assert_eq!(add("", &["a"], "text", &["my app"]), "[my app]\na=text:verbose\n");
        let quoted = add("", &["\"my logger\"", "\"a;b=c\""], "text", &[]);
        assert_eq!(quoted, "\"my logger\"=text:verbose\n\"a;b=c\"=text:verbose\n");
        let replaced = "\"a;b=c\"=text:verbose\n\"MY \\u{6c}ogger\"=notext\n";
        assert_eq!(add(&quoted, &["\"MY \\u{6c}ogger\""], "notext", &[]), replaced);
    }

    #[test]
    fn what_can_t_be_read_is_not_overwritten() {
        let actual = add("Net=warn\nNet\n", &["Net"], "text", &[]);
        assert!(
            actual.starts_with(
                "error: settings: line 2: missing `=` in `Net`\nhelp: correct the file"
            ),
            "{actual}"
        );
    }
}
