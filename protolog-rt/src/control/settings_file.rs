//! Settings files, which are read when the program starts and, if it asks for that, again when they
//! change.
//!
//! A changed file is read as a whole. A setting that is no longer in it goes back to that of
//! another source, or else to the group's own. A file that was removed has no settings; one that
//! can't be read changes nothing. Items with an error are skipped, and reported to operators. A
//! report quotes a file only if it belongs to the user that started the program: in a set-user-id
//! program, it might be one that this user may not read.

use crate::level::rules::{self, Rule};
use crate::level::{self, PatternSetting, SettingSource};
use crate::session::life::byte_limits;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::create::directory;
use crate::sys::file::{open_without_waiting, watch, watch_too};
use crate::sys::process::{program, real_user};
use protolog_core::control::session_setting::{SessionItem, SessionSetting, SessionSettings};
use protolog_core::control::setting::{GroupSetting, Settings};
use protolog_core::control::site_rule::{SiteRule, SiteRules};
use protolog_files::{Location, Status};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The largest settings file, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The most links on the way to a settings file, as the system has it.
const MAX_LINKS: usize = 40;

/// A settings file that is watched, or none.
#[derive(Debug, Default)]
pub(crate) struct WatchedSettings {
    file: Option<PathBuf>,
    watched: Option<CloseOnFork<File>>,
}

impl WatchedSettings {
    /// Watches `file`, which need not be there yet; its directory must. Where it is a link, the
    /// directories on the way are watched, too.
    pub(crate) fn watch(file: PathBuf) -> io::Result<Self> {
        let watched = CloseOnFork::new(|| watch(directory(&file)))?;
        let watched = Self { file: Some(file), watched: Some(watched) };
        watched.follow_links();
        Ok(watched)
    }

    /// Watches the directories that links lead to by now. One that can't be watched is left out.
    fn follow_links(&self) {
        let watched = self.watched.as_ref().and_then(CloseOnFork::if_open);
        let (Some(file), Some(watched)) = (&self.file, watched) else { return };
        let mut place = file.clone();
        for _ in 0..MAX_LINKS {
            let Ok(target) = fs::read_link(&place) else { break };
            place = directory(&place).join(target);
            let _ = watch_too(watched, directory(&place));
        }
        // Directories may be links as well.
        let _ = fs::canonicalize(file).and_then(|real| watch_too(watched, directory(&real)));
    }

    /// The descriptor that can be read when the file may have changed.
    #[cfg(unix)]
    pub(super) fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.watched.as_ref().and_then(CloseOnFork::if_open).map(AsFd::as_fd)
    }

    /// Reads the file again, and returns its errors.
    pub(super) fn reload(&mut self) -> Vec<String> {
        // The events only say that something changed in the directory.
        let mut events = [0; 4096];
        let watched = self.watched.as_mut().and_then(CloseOnFork::if_open_mut);
        if let Some(file) = watched {
            while matches!(file.read(&mut events), Ok(1..)) {}
        }
        // Before the file is read, so that no change in between is missed.
        self.follow_links();
        self.file.as_deref().map_or(Vec::new(), |file| match read_file(file) {
            Ok(text) => apply_text(&text, &file.display().to_string(), SettingSource::ConfigFile),
            Err(error) => vec![error],
        })
    }
}

/// Settings, as they were written.
#[derive(Debug, Default)]
pub(crate) struct SettingsText {
    pub(crate) text: String,
    /// True where the user who started the program may read the text anyway, so that errors may
    /// quote it.
    pub(crate) may_quote: bool,
}

/// Reads a file that the program names; empty where there is none.
pub(crate) fn read_file(path: &Path) -> Result<SettingsText, String> {
    read_with(path, open_without_waiting)
}

/// Reads the state file; empty where there is none. Its path comes from the environment, which may
/// be that of another user, as in `sudo -E`: that user must neither switch the program nor be told
/// by its errors what is in a file of its user.
pub(crate) fn read_state_file(path: &Path) -> Result<SettingsText, String> {
    read_with(path, |path| Location::of(path)?.open_trusted())
}

fn read_with(
    path: &Path,
    open: impl Fn(&Path) -> io::Result<File>,
) -> Result<SettingsText, String> {
    let read = || {
        let file = open(path)?;
        let may_quote = Status::of(&file)?.uid() == real_user();
        let mut text = String::new();
        let size = file.take(MAX_SIZE + 1).read_to_string(&mut text)?;
        if size as u64 > MAX_SIZE {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(SettingsText { text, may_quote })
    };
    match read() {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(SettingsText::default()),
        Err(error) => Err(format!("can't read `{}`: {error}", path.display())),
    }
}

/// Applies the settings in a text from `origin` that are for this program; those of the
/// configuration file replace its earlier ones. Returns the errors, each with a help line.
pub(crate) fn apply_text(
    SettingsText { text, may_quote }: &SettingsText,
    origin: &str,
    source: SettingSource,
) -> Vec<String> {
    let (mut settings, mut problems) = (Vec::new(), Vec::new());
    let own = program();
    for item in Settings::new(text) {
        match item {
            Ok(GroupSetting { program, group, setting }) => {
                if program.is_none_or(|program| program == own) {
                    settings.push(PatternSetting { pattern: group.into(), setting, source });
                }
            }
            Err(error) => {
                let (unquoted, help) = (error.unquoted(), error.help());
                let what: &dyn Display = if *may_quote { &error } else { &unquoted };
                problems.push(format!("{origin}: {what}\nhelp: {help}"));
            }
        }
    }
    let rules = rules_in(text, *may_quote, origin, source, &mut problems);
    let of_sessions = of_sessions_in(text, *may_quote, origin, &mut problems);
    match source {
        SettingSource::ConfigFile => {
            level::replace_config_file_settings(settings);
            rules::replace_config_file_rules(rules);
            byte_limits::replace_config_file(of_sessions);
        }
        SettingSource::Other | SettingSource::Group => {
            level::apply_settings(settings);
            rules::apply(rules);
            byte_limits::apply(of_sessions, source);
        }
    }
    problems
}

/// Returns the rules of single calls in a text that are for this program.
fn rules_in(
    text: &str,
    may_quote: bool,
    origin: &str,
    source: SettingSource,
    problems: &mut Vec<String>,
) -> Vec<Rule> {
    let (mut rules, own) = (Vec::new(), program());
    for item in SiteRules::new(text) {
        match item {
            Ok(SiteRule { program, selector, setting }) => {
                if program.is_none_or(|program| program == own) {
                    rules.push(Rule::of_start(&selector, setting, source));
                }
            }
            Err(error) => {
                let (unquoted, help) = (error.unquoted(), error.help());
                let what: &dyn Display = if may_quote { &error } else { &unquoted };
                problems.push(format!("{origin}: {what}\nhelp: {help}"));
            }
        }
    }
    rules
}

/// Returns the settings of sessions in a text that are for this program.
fn of_sessions_in(
    text: &str,
    may_quote: bool,
    origin: &str,
    problems: &mut Vec<String>,
) -> Vec<SessionSetting> {
    let (mut settings, own) = (Vec::new(), program());
    for item in SessionSettings::new(text) {
        match item {
            Ok(SessionItem { program, setting }) => {
                settings.extend(program.is_none_or(|it| it == own).then_some(setting));
            }
            Err(error) => {
                let (unquoted, help) = (error.unquoted(), error.help());
                let what: &dyn Display = if may_quote { &error } else { &unquoted };
                problems.push(format!("{origin}: {what}\nhelp: {help}"));
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::user;
    use std::os::unix::fs::{chown, lchown, symlink};

    #[test]
    fn the_state_file_is_this_users_and_no_link() {
        let dir = protolog_testkit::temp_dir();
        let at = |name: &str| dir.path().join(name);
        let read = |path: &Path| read_state_file(path).map(|settings| settings.text);
        fs::write(at("settings"), "Net=info\n").expect("write");
        assert_eq!(read(&at("settings")).as_deref(), Ok("Net=info\n"));
        assert_eq!(read(&at("none")).as_deref(), Ok(""));
        assert_eq!(read(&at("none/settings")).as_deref(), Ok(""));
        let refused = |path: &Path, why: &str| {
            let error = read(path).expect_err("refused");
            assert_eq!(error, format!("can't read `{}`: {why}", path.display()));
        };
        symlink(at("settings"), at("link")).expect("a link");
        refused(&at("link"), &format!("it is a link to `{}`", at("settings").display()));
        let others = user().wrapping_add(1);
        if lchown(at("link"), Some(others), None).is_err() {
            return protolog_testkit::skip("files of another user", "only root can make them");
        }
        // Directories of this user, which another one leads to.
        fs::create_dir(at("home")).expect("a directory");
        chown(at("home"), Some(others), None).expect("chown");
        symlink(dir.path(), at("home/state")).expect("a link");
        lchown(at("home/state"), Some(others), None).expect("chown");
        assert!(read(&at("home/state/settings")).is_err());
        // One that another user has given a second name, or moved there.
        fs::create_dir(at("others")).expect("a directory");
        fs::hard_link(at("settings"), at("others/settings")).expect("a link");
        chown(at("others"), Some(others), None).expect("chown");
        refused(&at("others/settings"), "its directory belongs to another user");
        assert_eq!(read(&at("others/none")).as_deref(), Ok(""));
        chown(at("settings"), Some(others), None).expect("chown");
        refused(&at("settings"), "it belongs to another user");
        assert_eq!(read_file(&at("settings")).map(|it| it.may_quote), Ok(false));
    }
}
