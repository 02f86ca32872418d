//! Wishes for groups, as text: the environment variable `PROTOLOG`, configuration files, the state file, and the request
//! `set` are all written so.
//!
//! ```text
//! net=debug,text;disk=warn            in a variable: items parted by `;`
//!
//! # in a file: one a line, and comments
//! *=info                              every group, for tracing
//! app::AppLog::Net=debug,text:warn    traced from DEBUG on, printed from WARN on
//! Disk=off                            neither
//! Ui=text                             traced as before, printed from VERBOSE on
//! [indexer]                           what follows is for the program `indexer` alone
//! Walk=notext                         not printed, traced as before
//! Sort=notrace                        not traced, printed as before
//! ```
//!
//! Later items win over earlier ones, and each says only what it says: `Ui=text` leaves alone what is traced. What is traced
//! is what running sessions want, as far as it is allowed here.

use super::levels_at_least;
use crate::Level;
use core::fmt;

/// What is wished of a group; none for what shall stay as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Levels that sessions may have.
    pub trace: Option<u8>,
    /// Levels that are printed.
    pub text: Option<u8>,
}

/// An item: what is wished of which groups, in which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSetting<'a> {
    /// The program; none for every one.
    pub program: Option<&'a str>,
    /// As [`super::matches_group`] takes it.
    pub group: &'a str,
    /// What is wished.
    pub setting: Setting,
}

/// What is wrong with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingError<'a> {
    /// The line, from 1.
    pub line: usize,
    /// The text that is meant.
    pub text: &'a str,
    /// What is wrong with it.
    pub problem: SettingProblem,
}

/// What may be wrong with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingProblem {
    /// There is no `=`.
    NoEquals,
    /// A name of a group with characters that none has, or none at all.
    BadGroup,
    /// A word after `=` that means nothing.
    BadWord,
    /// Nothing after `=`, or an empty word.
    NoWord,
    /// A line that begins with `[` and does not end with `]`.
    BadProgram,
}

impl SettingError<'_> {
    /// What to do about it; begins with a verb.
    pub const fn help(&self) -> &'static str {
        self.problem.help()
    }
}

impl SettingProblem {
    /// What to do about it; begins with a verb.
    pub const fn help(self) -> &'static str {
        match self {
            Self::NoEquals => "write GROUP=WORDS, as in `net=debug,text`",
            Self::BadGroup => {
                "write the name of a group, as in `app::AppLog::Net` or `net`, or `*` for all"
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
            SettingProblem::NoEquals => "no `=` in",
            SettingProblem::BadGroup => "no name of a group:",
            SettingProblem::BadWord => "unknown word",
            SettingProblem::NoWord => "nothing is wished in",
            SettingProblem::BadProgram => "no name of a program:",
        };
        if self.line > 1 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{what} `{}`", super::words::Clean(self.text))
    }
}

impl core::error::Error for SettingError<'_> {}

/// The items of a text. What is wrong with one does not keep the others from being read.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    rest: &'a str,
    line: usize,
    program: Option<&'a str>,
}

impl<'a> Settings<'a> {
    /// Of this text.
    pub const fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, program: None }
    }

    /// The next item's text, and its line.
    fn part(&mut self) -> Option<(&'a str, usize)> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        // A comment goes on to the end of its line.
        let comment = self.rest.trim_start_matches([' ', '\t', '\r']).starts_with('#');
        let is_end = |char: char| char == '\n' || char == ';' && !comment;
        let (part, rest) = match self.rest.split_once(is_end) {
            Some((part, rest)) => {
                self.line += usize::from(self.rest.as_bytes()[part.len()] == b'\n');
                (part, rest)
            }
            None => (self.rest, ""),
        };
        self.rest = rest;
        Some((part.trim(), line))
    }
}

impl<'a> Iterator for Settings<'a> {
    type Item = Result<GroupSetting<'a>, SettingError<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (text, line) = self.part()?;
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let error = |(text, problem)| SettingError { line, text, problem };
            if let Some(rest) = text.strip_prefix('[') {
                match rest.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty()) {
                    Some(name) => self.program = Some(name),
                    None => return Some(Err(error((text, SettingProblem::BadProgram)))),
                }
                continue;
            }
            let program = self.program;
            let item = item(text).map(|(group, setting)| GroupSetting { program, group, setting });
            return Some(item.map_err(error));
        }
    }
}

/// `GROUP=WORD,WORD`
fn item(text: &str) -> Result<(&str, Setting), (&str, SettingProblem)> {
    let (group, words) = text.split_once('=').ok_or((text, SettingProblem::NoEquals))?;
    let (group, words) = (group.trim(), words.trim());
    if !is_group(group) {
        return Err((if group.is_empty() { text } else { group }, SettingProblem::BadGroup));
    }
    let mut setting = Setting::default();
    let (mut prints, mut off, mut own) = (false, false, None);
    for word in words.split(',').map(str::trim) {
        let (name, level) = match word.split_once(':') {
            Some((name, level)) => (name.trim(), Some(level.trim())),
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
    // Printed are, unless said otherwise, the levels that are traced; with nothing said, all.
    let printed = setting
        .trace
        .filter(|levels| *levels != 0)
        .unwrap_or(levels_at_least(Some(Level::Verbose)));
    setting.text = own.or(prints.then_some(printed));
    if off && setting.text.is_none() {
        setting.text = Some(0);
    }
    Ok((group, setting))
}

/// Whether a group may be called so: what identifiers, paths of them and Java's names are made of.
fn is_group(text: &str) -> bool {
    let is_part =
        |char: char| char.is_alphanumeric() || matches!(char, '_' | ':' | '.' | '$' | '-');
    text == "*" || !text.is_empty() && text.chars().all(is_part)
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
    /// The words after `=`, as short as they can be and still mean the same. Sets of levels that are no level and up are
    /// shown by their least level.
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

/// An ASCII text in small letters.
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
    use std::string::{String, ToString};
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

    #[test]
    fn variables_and_files_are_read() {
        assert_eq!(read("net=debug,text;disk=warn"), ["net=debug,text:debug", "disk=warn"]);
        let file = "# all; of it\n*=info\r\napp::AppLog::Net = debug, text:warn\n\nDisk=off\nUi=text\n[indexer]\nWalk=notext;W=OFF,Text:F\n";
        let expected = [
            "*=info",
            "app::AppLog::Net=debug,text:warn",
            "Disk=off",
            "Ui=text:verbose",
            "[indexer] Walk=notext",
            "[indexer] W=off,text:wtf",
        ];
        assert_eq!(read(file), expected);
        assert_eq!(read(""), Vec::<String>::new());
        assert_eq!(read(" ; ;;\n # a;b"), Vec::<String>::new());
    }

    #[test]
    fn what_is_shown_means_the_same() {
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

    #[test]
    fn errors_teach() {
        let words = "use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between";
        let group = "write the name of a group, as in `app::AppLog::Net` or `net`, or `*` for all";
        assert_eq!(
            read("net;net=debgu\n\nnet=text:loud;a b=info;=info;n=;n=info,,text;[x;n=a:b;good=w"),
            [
                "no `=` in `net` / write GROUP=WORDS, as in `net=debug,text`".to_string(),
                format!("unknown word `debgu` / {words}"),
                format!("line 3: unknown word `loud` / {words}"),
                format!("line 3: no name of a group: `a b` / {group}"),
                format!("line 3: no name of a group: `=info` / {group}"),
                format!("line 3: nothing is wished in `n=` / {words}"),
                format!("line 3: nothing is wished in `n=info,,text` / {words}"),
                "line 3: no name of a program: `[x` / write the name of a program between brackets, as in `[indexer]`".to_string(),
                format!("line 3: unknown word `a:b` / {words}"),
                "good=warn".to_string(),
            ]
        );
    }
}
