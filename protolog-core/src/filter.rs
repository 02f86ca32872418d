//! The filter of a session, as its traces carry it, and its reason for a trace without messages.
//!
//! A session records levels of groups that it names, and others by default. Where a trace has no
//! message, the reason is mostly here: a name that no group has, or no level enabled. The runtime
//! and the readers of traces use the same words.

use crate::Level;
use crate::control::{levels_at_least, matches_group};
use core::fmt;

/// A name in a session's filter that stands for no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownGroup<'a> {
    /// The name.
    pub name: &'a str,
    /// The full names of the program's groups.
    pub groups: &'a [&'a str],
    /// True where groups may come with their first message, as those of bridges from other loggers
    /// do: then the name may be right.
    pub is_open: bool,
}

/// The most groups that are listed.
const MAX_LISTED: usize = 12;

impl fmt::Display for UnknownGroup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, groups, is_open } = *self;
        let what = if is_open { "nothing was logged to a group" } else { "no group is" };
        write!(f, "{what} named `{name}`")?;
        if groups.is_empty() {
            return f.write_str(" (no group of this program has a log call)");
        }
        f.write_str(" (groups of this program: ")?;
        for (index, group) in groups.iter().take(MAX_LISTED).enumerate() {
            let last = group.rsplit("::").next().unwrap_or(group);
            let is_unique = groups.iter().filter(|other| matches_group(last, other)).count() == 1;
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{}", if is_unique { last } else { group })?;
        }
        match groups.len().saturating_sub(MAX_LISTED) {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

/// The reason why a trace has no message, and has lost none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMessages<'a> {
    /// A name in the filter stands for no group.
    UnknownGroup(UnknownGroup<'a>),
    /// No group was enabled; those that the session was told nothing of have these levels (bit =
    /// [`Level::severity`]).
    NoneEnabled(u8),
    /// Nothing was logged that the session was to record. It ran for so many nanoseconds, where
    /// that is known.
    NothingLogged(Option<u64>),
}

impl NoMessages<'_> {
    /// Returns the reason for a session with these default levels, whose filter has these levels of
    /// groups that it names. It ran for so many nanoseconds, where that is known.
    pub fn without_unknown(default: u8, named: impl Iterator<Item = u8>, ran: Option<u64>) -> Self {
        let levels = named.fold(default, |all, levels| all | levels);
        if levels & !levels_at_least(Some(Level::Wtf)) == 0 {
            Self::NoneEnabled(levels)
        } else {
            Self::NothingLogged(ran)
        }
    }

    /// Returns advice, which begins with a verb.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::UnknownGroup(UnknownGroup { is_open: true, .. }) => {
                "check the name: it is a full name, the end of one, or the beginning of several"
            }
            Self::UnknownGroup(_) => "name a group as the program declares it, with the same case",
            Self::NoneEnabled(_) => {
                "call `enable_all` or `log_from` of the session's builder (in Java `enableAll` or `logFrom`), or `group`"
            }
            Self::NothingLogged(_) => {
                "keep the session open while the program logs: it ends when it is dropped (in Java closed)"
            }
        }
    }
}

impl fmt::Display for NoMessages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnknownGroup(unknown) => unknown.fmt(f),
            Self::NoneEnabled(0) => f.write_str("no group was enabled"),
            Self::NoneEnabled(_) => {
                f.write_str("no group was enabled (a session records WTF unless told otherwise)")
            }
            Self::NothingLogged(None) => f.write_str("nothing was logged at an enabled level"),
            Self::NothingLogged(Some(ran)) => {
                let (seconds, micros) = (ran / 1_000_000_000, ran / 1_000 % 1_000_000);
                write!(
                    f,
                    "nothing was logged at an enabled level in the {seconds}.{micros:06} s that the session ran"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn unknown_groups_come_with_the_known_ones() {
        let unknown = |groups, is_open| UnknownGroup { name: "Nett", groups, is_open }.to_string();
        assert_eq!(
            unknown(&["a::Log::Disk", "a::Log::Net", "b::Log::Net"], false),
            "no group is named `Nett` (groups of this program: Disk, a::Log::Net, b::Log::Net)"
        );
        assert_eq!(
            unknown(&["a::Log::Disk"], true),
            "nothing was logged to a group named `Nett` (groups of this program: Disk)"
        );
        let none = "no group is named `Nett` (no group of this program has a log call)";
        assert_eq!(unknown(&[], false), none);
        let many: Vec<_> = (0..14).map(|index| std::format!("a::G{index}")).collect();
        let many: Vec<&str> = many.iter().map(|name| &**name).collect();
        let text = unknown(&many, false);
        assert!(text.ends_with("G10, G11 and 2 more)"), "{text}");
    }

    #[test]
    fn an_empty_trace_has_a_reason() {
        let reason = |default, named: &[u8], ran| {
            NoMessages::without_unknown(default, named.iter().copied(), ran).to_string()
        };
        let wtf = levels_at_least(Some(Level::Wtf));
        let default = "no group was enabled (a session records WTF unless told otherwise)";
        assert_eq!(reason(wtf, &[], None), default);
        assert_eq!(reason(0, &[0], None), "no group was enabled");
        assert_eq!(reason(wtf, &[0x3f], None), "nothing was logged at an enabled level");
        assert_eq!(
            reason(0x3f, &[], Some(2_000_213_999)),
            "nothing was logged at an enabled level in the 2.000213 s that the session ran"
        );
    }
}
