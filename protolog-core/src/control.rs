//! The contract between a program that logs and an operator:
//!
//! - the switch word of a group ([`switch`])
//! - the forms of names ([`name`]) and of patterns for them ([`matches_group`])
//! - the syntax of settings ([`setting`]), of selectors of single calls ([`selector`]), of rules
//!   for them ([`site_rule`]), of limits ([`limit`]) and of rates of sampling ([`rate`])
//! - the directories of sockets ([`place`])
//! - the protocol on a socket ([`protocol`])
//!
//! Both ends use this code, so they can't disagree. `docs/design/control.md` describes the whole.

pub mod byte_limit;
mod bytes;
pub mod limit;
pub mod name;
mod pattern;
pub mod place;
pub mod protocol;
pub mod rate;
pub mod selector;
pub mod session_setting;
pub mod setting;
pub mod site_rule;
pub mod switch;
mod words;

pub use pattern::{Closeness, closeness, matches_group};

use crate::Level;

/// The mark of the kernel on the path of an executable that was removed, or replaced by a new
/// version.
const REMOVED: &str = " (deleted)";

/// The name of a program, from the path of its executable as the kernel has it (`/proc/PID/exe`),
/// or from the name in it: the same after an upgrade in place. Recordings, settings and lists for
/// operators have this name.
pub fn program_name(executable: &str) -> &str {
    without_mark(executable).rsplit('/').next().unwrap_or_default()
}

/// The path or name of an executable without the mark of one that was removed, such as one that was
/// updated.
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

/// The least severe level of a set that holds that level and all more severe ones; none for any
/// other set.
pub const fn minimum_level(levels: u8) -> Option<Level> {
    let least = Level::from_severity(levels.trailing_zeros() as u8);
    if levels == levels_at_least(least) { least } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
