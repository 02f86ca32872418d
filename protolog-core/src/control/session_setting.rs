//! Settings for all sessions of a program, which stand among those of groups ([`super::setting`])
//! wherever these may be.
//!
//! ```text
//! sessions limit:1MiB/s:8MiB     each session writes at most 1 MiB a second, and 8 MiB at once
//! sessions nolimit               without a limit, whatever the program has set
//! sessions default               as the program has set, whatever an earlier setting says
//! ```
//!
//! [`super::byte_limit`] has the forms of limits. Later settings override earlier ones.

use super::byte_limit::{self, ByteLimit};
use super::name::after_sessions;
use super::setting::Settings;
use super::site_rule::value_of;
use super::words::OneLine;
use core::fmt;

/// A setting of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionSetting {
    /// The limit of the bytes of each of them; none for no limit.
    Limit(Option<ByteLimit>),
    /// What the program has set.
    Default,
}

/// A setting of the sessions of one program, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionItem<'a> {
    /// The program; none for all programs.
    pub program: Option<&'a str>,
    /// The setting.
    pub setting: SessionSetting,
}

/// An invalid setting of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettingError<'a> {
    /// The line, from 1.
    pub line: usize,
    /// The offending text.
    pub text: &'a str,
    /// True if it is the limit after `limit:`.
    is_limit: bool,
}

/// Iterator over the settings of sessions in a text with settings. An invalid one does not stop the
/// iteration.
#[derive(Clone, Debug)]
pub struct SessionSettings<'a>(Settings<'a>);

impl<'a> SessionSettings<'a> {
    /// Those in `text`.
    pub const fn new(text: &'a str) -> Self {
        Self(Settings::new(text))
    }
}

impl<'a> Iterator for SessionSettings<'a> {
    type Item = Result<SessionItem<'a>, SessionSettingError<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (text, line) = self.0.part()?;
            if self.0.takes_section(text).is_some() {
                continue;
            }
            let Some(words) = after_sessions(text) else { continue };
            let program = self.0.program();
            let item = SessionSetting::parse(words).map(|setting| SessionItem { program, setting });
            return Some(item.map_err(|(text, is_limit)| SessionSettingError {
                line,
                text,
                is_limit,
            }));
        }
    }
}

impl SessionSetting {
    /// Reads the words after `sessions`; the text that is wrong, and whether that is a limit.
    fn parse(words: &str) -> Result<Self, (&str, bool)> {
        let words = words.trim_ascii();
        if words.eq_ignore_ascii_case("nolimit") {
            Ok(Self::Limit(None))
        } else if words.eq_ignore_ascii_case("default") {
            Ok(Self::Default)
        } else if let Some(limit) = value_of("limit", words) {
            let limit = limit.trim_ascii();
            ByteLimit::parse(limit).map(|it| Self::Limit(Some(it))).ok_or((limit, true))
        } else {
            Err((words, false))
        }
    }
}

impl fmt::Display for SessionSetting {
    /// Writes the shortest words after `sessions` that mean the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(Some(limit)) => write!(f, "limit:{limit}"),
            Self::Limit(None) => f.write_str("nolimit"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl SessionSettingError<'_> {
    /// The help line, which begins with a verb.
    pub const fn help(&self) -> &'static str {
        if self.is_limit {
            byte_limit::HELP
        } else {
            "use limit:1MiB/s, limit:1MiB/s:8MiB, nolimit or default"
        }
    }

    /// The error without the offending text, for readers who may not know the file.
    pub const fn unquoted(&self) -> UnquotedSessionError {
        UnquotedSessionError { line: self.line }
    }
}

/// An invalid setting of sessions, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnquotedSessionError {
    line: usize,
}

impl fmt::Display for UnquotedSessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: invalid setting of sessions", self.line)
    }
}

impl fmt::Display for SessionSettingError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 1 {
            write!(f, "line {}: ", self.line)?;
        }
        let what = if self.is_limit { "invalid limit of bytes" } else { "unknown word" };
        write!(f, "{what} `{}`", OneLine(self.text))
    }
}

impl core::error::Error for SessionSettingError<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::site_rule::SiteRules;
    use std::format;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn read(text: &str) -> Vec<String> {
        let show = |item: Result<SessionItem<'_>, SessionSettingError<'_>>| match item {
            Ok(SessionItem { program, setting }) => {
                program.map_or(String::new(), |name| format!("[{name}] ")) + &setting.to_string()
            }
            Err(error) => format!("{error} / {}", error.help()),
        };
        SessionSettings::new(text).map(show).collect()
    }

    /// The Java runtime reads the same table.
    #[test]
    fn settings_are_read_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../../testdata/session_settings.tsv").lines().skip(1) {
            let (text, expected) = line.split_once('\t').expect("two cells");
            let text = text.replace("\\n", "\n");
            assert_eq!(read(&text).join(" | "), expected, "{text:?}");
            rows += 1;
        }
        assert!(rows > 10);
    }

    #[test]
    fn those_of_groups_and_calls_are_none_of_sessions() {
        let text = "sessions limit:1MiB/s;net=debug;site net=off\nsessions = info;sessions=warn";
        assert_eq!(read(text), ["limit:1MiB/s"]);
        let groups: Vec<_> = Settings::new(text).collect();
        assert!(groups.len() == 3 && groups.iter().all(Result::is_ok), "{groups:?}");
        assert_eq!(SiteRules::new(text).count(), 1);
    }

    #[test]
    fn limits_have_numbers() {
        let limit = ByteLimit::parse("100KiB/m:3MiB").expect("a limit");
        assert_eq!(ByteLimit::from_words(limit.to_words()), Some(limit));
        assert_eq!(ByteLimit::from_words([0; 3]), None);
    }
}
