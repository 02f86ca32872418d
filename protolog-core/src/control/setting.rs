//! The syntax of settings: levels of groups, as written in the environment variable `PROTOLOG`, in
//! configuration files, in the state file, and in the request `set`.
//!
//! ```text
//! net=debug,text;disk=warn            in a variable: separated by `;`
//!
//! # in a file: one per line, and comments
//! info                                every group, for tracing; the same as *=info
//! app::AppLog::Net=debug,text:warn    traced from DEBUG on, printed from WARN on
//! Disk=off                            neither
//! Ui=text                             traced as before, printed from VERBOSE on
//! [indexer]                           the following lines are for the program `indexer` only
//! Walk=notext                         not printed, traced as before
//! Sort=notrace                        not traced, printed as before
//! "my logger"=debug                   a name with other characters than `_:.$-/`, letters and digits
//! site net.rs:120-180=on              single calls, see [`super::site_rule`]
//! sessions limit:1MiB/s               sessions, see [`super::session_setting`]
//! ```
//!
//! [`super::name`] defines the text between quotation marks.
//!
//! Later settings override earlier ones. A setting changes only what it mentions: `Ui=text` does
//! not change which levels are traced. A level is traced if a running session enables it and the
//! settings allow it.

use super::levels_at_least;
use super::name::{after_keyword, after_sessions, find_unquoted, is_plain, is_quoted, quoted};
use crate::Level;
use core::fmt;

/// The levels that a setting gives a group. None leaves the levels unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The levels that sessions are allowed to record.
    pub trace: Option<u8>,
    /// The levels of the text output.
    pub text: Option<u8>,
}

/// One setting: levels for the groups that a pattern matches, in one program or in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSetting<'a> {
    /// The program; none for all programs.
    pub program: Option<&'a str>,
    /// The pattern, as it is written and as [`super::matches_group`] takes it.
    pub group: &'a str,
    /// The levels.
    pub setting: Setting,
}

/// An invalid setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingError<'a> {
    /// The line, from 1.
    pub line: usize,
    /// The offending text.
    pub text: &'a str,
    /// The problem.
    pub problem: SettingProblem,
}

/// The ways in which a setting can be invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingProblem {
    /// There is no `=`, and it is no level or keyword for all groups either.
    NoEquals,
    /// There is a comma where settings are separated.
    Comma,
    /// The group's name is empty or has characters that no name has.
    BadGroup,
    /// A word after `=` is neither a level nor a keyword.
    BadWord,
    /// There is nothing after `=`, or an empty word.
    NoWord,
    /// A line begins with `[` and does not end with `]`, or names no program.
    BadProgram,
}

impl SettingError<'_> {
    /// The help line, which begins with a verb.
    pub const fn help(&self) -> &'static str {
        self.problem.help()
    }

    /// The error without the offending text, for readers who may not know the file. Always with the
    /// line.
    pub const fn unquoted(&self) -> UnquotedError {
        UnquotedError { line: self.line, problem: self.problem }
    }
}

/// An invalid setting, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnquotedError {
    line: usize,
    problem: SettingProblem,
}

impl fmt::Display for UnquotedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            SettingProblem::NoEquals => "missing `=`",
            SettingProblem::Comma => "`,` between settings",
            SettingProblem::BadGroup => "invalid group name",
            SettingProblem::BadWord => "unknown word",
            SettingProblem::NoWord => "missing level or keyword",
            SettingProblem::BadProgram => "invalid program name",
        };
        write!(f, "line {}: {what}", self.line)
    }
}

impl SettingProblem {
    /// The help line, which begins with a verb.
    pub const fn help(self) -> &'static str {
        match self {
            Self::NoEquals => {
                "write GROUP=WORDS, as in `net=debug,text`, or a level for all groups, as in `debug`"
            }
            Self::Comma => "write `;` between settings, as in `info;net=debug,text`",
            Self::BadGroup => {
                "write the name of a group, as in `app::AppLog::Net` or `net`, one with other characters as in `\"my logger\"`, or `*` for all"
            }
            Self::BadWord | Self::NoWord => {
                "use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between"
            }
            Self::BadProgram => "write the name of a program between brackets, as in `[indexer]`",
        }
    }
}

impl fmt::Display for SettingError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            SettingProblem::NoEquals => "missing `=` in",
            SettingProblem::Comma => "`,` between settings in",
            SettingProblem::BadGroup => "invalid group name",
            SettingProblem::BadWord => "unknown word",
            SettingProblem::NoWord => "missing level or keyword in",
            SettingProblem::BadProgram => "invalid program name",
        };
        if self.line > 1 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{what} `{}`", super::words::OneLine(self.text))
    }
}

impl core::error::Error for SettingError<'_> {}

/// Iterator over the settings in a text. An invalid one does not stop the iteration.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    rest: &'a str,
    line: usize,
    program: Option<&'a str>,
}

impl<'a> Settings<'a> {
    /// The settings in `text`.
    pub const fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, program: None }
    }

    /// Returns the program of the section that was read last.
    pub(super) fn program(&self) -> Option<&'a str> {
        self.program
    }

    /// Takes a line with the name of a program, or says that it has none; none for other lines.
    pub(super) fn takes_section(&mut self, text: &'a str) -> Option<bool> {
        let rest = text.strip_prefix('[')?;
        let name = rest.strip_suffix(']').map(str::trim_ascii).filter(|name| !name.is_empty());
        self.program = name.or(self.program);
        Some(name.is_some())
    }

    /// The text of the next setting, and its line.
    pub(super) fn part(&mut self) -> Option<(&'a str, usize)> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        // A comment ends with its line, not at a semicolon.
        let comment = self.rest.trim_start_matches([' ', '\t', '\r']).starts_with('#');
        let is_end = |char: char| char == '\n' || char == ';' && !comment;
        let start = self.rest.trim_start_matches([' ', '\t', '\r']);
        if after_keyword(start).is_some() {
            let skipped = self.rest.len() - start.len();
            let end = find_unquoted(start, is_end).unwrap_or(start.len());
            return Some((self.take(skipped + end), line));
        }
        // Nor does a name in quotation marks end the part.
        let after = quoted(self.rest.trim_start_matches([' ', '\t', '\r']));
        let after = after.map_or(self.rest, |(_, after)| after);
        let end = self.rest.len() - after.len() + after.find(is_end).unwrap_or(after.len());
        Some((self.take(end), line))
    }

    /// Takes so many bytes, and the separator behind them.
    fn take(&mut self, end: usize) -> &'a str {
        let (part, rest) = self.rest.split_at(end);
        self.line += usize::from(rest.starts_with('\n'));
        self.rest = rest.get(1..).unwrap_or_default();
        part.trim_ascii()
    }
}

impl<'a> Iterator for Settings<'a> {
    type Item = Result<GroupSetting<'a>, SettingError<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (text, line) = self.part()?;
            let is_other = after_keyword(text).is_some() || after_sessions(text).is_some();
            if text.is_empty() || text.starts_with('#') || is_other {
                continue;
            }
            let error = |(text, problem)| SettingError { line, text, problem };
            match self.takes_section(text) {
                Some(true) => continue,
                Some(false) => return Some(Err(error((text, SettingProblem::BadProgram)))),
                None => {}
            }
            let program = self.program;
            let item = item(text).map(|(group, setting)| GroupSetting { program, group, setting });
            return Some(item.map_err(error));
        }
    }
}

/// `GROUP=WORD,WORD`, or `WORD,WORD` for all groups.
fn item(text: &str) -> Result<(&str, Setting), (&str, SettingProblem)> {
    let (group, words) = match parted(text) {
        Some((group, words)) => (group.trim_ascii(), words.trim_ascii()),
        None if text.split(',').next().is_some_and(is_word) => ("*", text),
        None => return Err((text, SettingProblem::NoEquals)),
    };
    if group.contains(',') && !is_quoted(group) || words.contains('=') {
        return Err((text, SettingProblem::Comma));
    }
    if !is_group(group) {
        return Err((if group.is_empty() { text } else { group }, SettingProblem::BadGroup));
    }
    Ok((group, setting(text, words)?))
}

/// `WORD,WORD`; `text` is the whole setting.
fn setting<'a>(text: &'a str, words: &'a str) -> Result<Setting, (&'a str, SettingProblem)> {
    let mut setting = Setting::default();
    let (mut prints, mut off, mut own) = (false, false, None);
    for word in words.split(',').map(str::trim_ascii) {
        let (name, level) = match word.split_once(':') {
            Some((name, level)) => (name.trim_ascii(), Some(level.trim_ascii())),
            None => (word, None),
        };
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match level {
            _ if word.is_empty() => return Err((text, SettingProblem::NoWord)),
            None if is("text") => prints = true,
            None if is("notext") => own = Some(0),
            None if is("off") => (setting.trace, off) = (Some(0), true),
            None if is("notrace") => setting.trace = Some(0),
            None => setting.trace = Some(levels_at_least(Some(level_of(word)?))),
            Some(level) if is("text") => own = Some(levels_at_least(Some(level_of(level)?))),
            Some(_) => return Err((word, SettingProblem::BadWord)),
        }
    }
    // `text` without a level prints the levels that are traced, or all levels if the setting says
    // nothing of tracing.
    let printed = setting
        .trace
        .filter(|levels| *levels != 0)
        .unwrap_or(levels_at_least(Some(Level::Verbose)));
    setting.text = own.or(prints.then_some(printed));
    if off && setting.text.is_none() {
        setting.text = Some(0);
    }
    Ok(setting)
}

/// True if this is a level or a keyword.
fn is_word(text: &str) -> bool {
    setting(text, text).is_ok()
}

/// The name and the words: the first `=` parts them, but one between quotation marks.
fn parted(text: &str) -> Option<(&str, &str)> {
    let Some((_, rest)) = quoted(text) else { return text.split_once('=') };
    let (before, words) = rest.split_once('=')?;
    Some((text.get(..text.len() - rest.len() + before.len())?, words))
}

/// True if this stands for groups.
fn is_group(text: &str) -> bool {
    text == "*" || is_plain(text) || is_quoted(text)
}

fn level_of(word: &str) -> Result<Level, (&str, SettingProblem)> {
    let is = |level: &Level| {
        let mut letter = [0; 4];
        word.eq_ignore_ascii_case(level.name())
            || word.eq_ignore_ascii_case(level.letter().encode_utf8(&mut letter))
    };
    Level::ALL.into_iter().find(is).ok_or((word, SettingProblem::BadWord))
}

impl fmt::Display for Setting {
    /// Writes the shortest words after `=` that mean the same. A set with gaps is shown as its
    /// least severe level.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |levels: u8| Level::from_severity(levels.trailing_zeros() as u8);
        let trace = self.trace.map(name);
        match trace {
            Some(Some(level)) => write!(f, "{}", Lower(level.name()))?,
            Some(None) if self.text.is_none() => f.write_str("notrace")?,
            Some(None) => f.write_str("off")?,
            None => {}
        }
        let Some(text) = self.text.map(name) else { return Ok(()) };
        let comma = if trace.is_some() { "," } else { "" };
        match text {
            Some(level) => write!(f, "{comma}text:{}", Lower(level.name())),
            None if trace == Some(None) => Ok(()),
            None => write!(f, "{comma}notext"),
        }
    }
}

/// Displays an ASCII text in lower case.
pub(super) struct Lower(pub(super) &'static str);

impl fmt::Display for Lower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        self.0.chars().try_for_each(|char| f.write_char(char.to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn read(text: &str) -> Vec<String> {
        let show = |item: Result<GroupSetting<'_>, SettingError<'_>>| match item {
            Ok(GroupSetting { program, group, setting }) => {
                format!(
                    "{}{group}={setting}",
                    program.map_or(String::new(), |name| format!("[{name}] "))
                )
            }
            Err(error) => format!("{error} / {}", error.help()),
        };
        Settings::new(text).map(show).collect()
    }

    /// A cell, with the escapes that Java's `translateEscapes` knows of.
    fn unescaped(cell: &str) -> String {
        let mut chars = cell.chars();
        let mut text = String::new();
        while let Some(char) = chars.next() {
            text.push(match char {
                '\\' => match chars.next().expect("what is escaped") {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    same @ '\\' => same,
                    other => panic!("an escape `{other}`"),
                },
                char => char,
            });
        }
        text
    }

    /// The Java runtime reads the same table.
    #[test]
    fn settings_are_read_as_the_vectors_say() {
        let vectors = include_str!("../../testdata/settings.tsv");
        let mut rows = 0;
        for line in vectors.lines().skip(1) {
            let (text, expected) = line.split_once('\t').expect("two cells");
            let (text, expected) = (unescaped(text), unescaped(expected));
            assert_eq!(read(&text).join(" | "), expected, "{text:?}");
            rows += 1;
        }
        assert!(rows > 10);
    }

    #[test]
    fn the_displayed_form_means_the_same() {
        for words in [
            "debug",
            "off",
            "notext",
            "notrace",
            "text:warn",
            "debug,text:debug",
            "off,text:verbose",
            "info,notext",
        ] {
            assert_eq!(read(&format!("g={words}")), [format!("g={words}")]);
        }
    }
}
