//! The contract between a program that logs and an operator: the switch word of a group ([`switch`]), the forms of
//! names ([`name`]), the syntax of settings ([`setting`]), the directories of sockets ([`place`]), and the protocol on a
//! socket ([`protocol`]).
//!
//! Both ends use this code, so they can't disagree. `docs/design/control.md` describes the whole.

pub mod name;
pub mod place;
pub mod protocol;
pub mod setting;
pub mod switch;
mod words;

use crate::Level;

/// The mark of the kernel on the path of an executable that was removed, or replaced by a new version.
const REMOVED: &str = " (deleted)";

/// The name of a program, from the path of its executable as the kernel has it (`/proc/PID/exe`), or from the name in it: the same after
/// an upgrade in place. Recordings, settings and what operators see have this name.
pub fn program_name(executable: &str) -> &str {
    without_mark(executable).rsplit('/').next().unwrap_or_default()
}

/// The path or name of an executable without the mark of one that was removed, such as one that was updated.
pub fn without_mark(executable: &str) -> &str {
    executable.strip_suffix(REMOVED).unwrap_or(executable)
}

/// The set of levels (bit = [`Level::severity`]) from `level` up; empty for no level.
pub const fn levels_at_least(level: Option<Level>) -> u8 {
    match level {
        Some(level) => switch::ALL_LEVELS as u8 & (u8::MAX << level.severity()),
        None => 0,
    }
}

/// The least severe level of a set that holds that level and all more severe ones; none for any other set.
pub const fn minimum_level(levels: u8) -> Option<Level> {
    let least = Level::from_severity(levels.trailing_zeros() as u8);
    if levels == levels_at_least(least) { least } else { None }
}

/// True if `pattern` matches the group with this full name. `*` matches every group; any other pattern is the full name or
/// a suffix of whole segments (`app::AppLog::Net`, `AppLog::Net`, `Net`; in Java, dots part them). Case does not matter. It
/// may be in [quotation marks](name), and then means no other name than what they hold.
pub fn matches_group(pattern: &str, full_name: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    if !pattern.starts_with('"') {
        let start = full_name.len().checked_sub(pattern.len());
        let parts = start.and_then(|start| full_name.split_at_checked(start));
        return parts.is_some_and(|(before, end)| {
            !pattern.is_empty() && end.eq_ignore_ascii_case(pattern) && ends_segment(before)
        });
    }
    let wanted = name::characters(pattern);
    let length = wanted.clone().map(char::len_utf8).sum();
    let Some(start) = full_name.len().checked_sub(length) else { return false };
    let (Some(before), Some(end)) = (full_name.get(..start), full_name.get(start..)) else {
        return false;
    };
    if length == 0 {
        return full_name.is_empty();
    }
    wanted.zip(end.chars()).all(|(one, other)| one.eq_ignore_ascii_case(&other))
        && ends_segment(before)
}

/// True for all before the last segments of a name.
fn ends_segment(before: &str) -> bool {
    before.is_empty() || before.ends_with("::") || before.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_program_has_its_name_after_an_upgrade_in_place() {
        for (executable, name) in [
            ("/usr/bin/server", "server"),
            ("/usr/bin/server (deleted)", "server"),
            ("server (deleted)", "server"),
            ("/srv (deleted)/server", "server"),
            ("/usr/bin/my server", "my server"),
            ("", ""),
        ] {
            assert_eq!(program_name(executable), name, "{executable}");
        }
    }

    #[test]
    fn a_set_of_levels_has_a_minimum_level() {
        assert_eq!(levels_at_least(Some(Level::Verbose)), 0b11_1111);
        assert_eq!(levels_at_least(Some(Level::Wtf)), 0b10_0000);
        assert_eq!(levels_at_least(None), 0);
        for level in Level::ALL {
            assert_eq!(minimum_level(levels_at_least(Some(level))), Some(level));
        }
        for odd in [0, 1, 0b01_0000, 0b11_0001, 0xff, 0xc0] {
            assert_eq!(minimum_level(odd), None);
        }
    }

    /// The Java runtime reads the same table.
    #[test]
    fn patterns_match_whole_segments_at_the_end() {
        let mut rows = 0;
        for line in include_str!("../testdata/patterns.tsv").lines().skip(1) {
            let line = line.replace("\\\\", "\\");
            let [pattern, group, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            assert_eq!(matches_group(pattern, group), expected == "yes", "{line}");
            rows += 1;
        }
        assert!(rows > 10);
    }
}
