//! The state file: settings that programs apply when they start.
//!
//! It has the form of all settings (docs/design/control.md). One operator at a time writes it, and the new file replaces the
//! old one as a whole. A new setting replaces an earlier one for the same groups of the same program, as far as both set the
//! same levels.

use crate::exit::Failure;
use crate::output::reason;
use crate::system::{Staged, System};
use protolog_control::state_file;
use protolog_core::control::setting::{GroupSetting, Setting, SettingProblem, Settings};
use protolog_files::Refused;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

const HEAD: &str = "# Settings that protologtool keeps for programs that start later. Changes made by hand stay; comments do not.\n";

/// Adds a setting for groups (none: all) of programs of these names (none: all).
pub(super) fn remember(
    groups: &[String],
    setting: Setting,
    programs: &[String],
    system: &dyn System,
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
    let old = match system.read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read", &path, &error)),
    };
    let text = merged(&old, &path, groups, setting, programs)?;
    let staged = system.stage(&path, &mut |sink| io::Write::write_all(sink, text.as_bytes()));
    staged.and_then(Staged::commit).map_err(|error| failed("write", &path, &error))
}

/// The file with the setting in it.
fn merged(
    old: &str,
    path: &Path,
    groups: &[String],
    setting: Setting,
    programs: &[String],
) -> Result<String, Failure> {
    let mut all: Vec<(Option<String>, String, Setting)> = Vec::new();
    for item in Settings::new(old) {
        let GroupSetting { program, group, setting } = item.map_err(|error| {
            let help = format!("correct the file, or remove it: {}", error.help());
            Failure::new(format!("{}: {error}", path.display())).help(help)
        })?;
        all.push((program.map(str::to_owned), group.to_owned(), setting));
    }
    check(groups, programs)?;
    let every = ["*".to_owned()];
    let groups = if groups.is_empty() { &every[..] } else { groups };
    let programs: Vec<_> =
        if programs.is_empty() { vec![None] } else { programs.iter().cloned().map(Some).collect() };
    for program in &programs {
        for group in groups {
            let mut new = setting;
            if let Some(at) =
                all.iter().position(|(whose, name, _)| whose == program && name == group)
            {
                let (.., old) = all.remove(at);
                new = Setting { trace: new.trace.or(old.trace), text: new.text.or(old.text) };
            }
            all.push((program.clone(), group.clone(), new));
        }
    }
    // Settings of all programs come first, since a section has no end.
    all.sort_by(|one, other| one.0.cmp(&other.0));
    let mut text = HEAD.to_owned();
    let mut section = None;
    for (program, group, setting) in all {
        if program != section {
            let _ = writeln!(text, "[{}]", program.as_deref().unwrap_or_default());
            section = program;
        }
        let _ = writeln!(text, "{group}={setting}");
    }
    Ok(text)
}

/// Refuses names that can't be written down: a file that can't be read again would block every later change.
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

    fn add(old: &str, groups: &[&str], words: &str, programs: &[&str]) -> String {
        let own = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let item = format!("g={words}");
        let setting = Settings::new(&item).next().unwrap().unwrap().setting;
        let text = merged(old, Path::new("settings"), &own(groups), setting, &own(programs));
        text.map_or_else(|failure| failure.to_string(), |text| text.replacen(HEAD, "", 1))
    }

    #[test]
    fn settings_are_merged() {
        let one = add("", &["Net", "Disk"], "text:warn", &[]);
        assert_eq!(one, "Net=text:warn\nDisk=text:warn\n");
        let two = add(&one, &["Net"], "debug", &[]);
        assert_eq!(two, "Disk=text:warn\nNet=debug,text:warn\n");
        let three = add(&two, &["Net"], "notext", &["b", "a"]);
        assert_eq!(
            three,
            "Disk=text:warn\nNet=debug,text:warn\n[a]\nNet=notext\n[b]\nNet=notext\n"
        );
        let four = add(&three, &[], "off", &["a"]);
        assert_eq!(
            four,
            "Disk=text:warn\nNet=debug,text:warn\n[a]\nNet=notext\n*=off\n[b]\nNet=notext\n"
        );
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
