//! What a program that logs and an operator agree on: the word of switches of a group ([`switch`]), how wishes are written
//! down ([`setting`]), and what is said over the socket ([`protocol`]).
//!
//! `docs/design/control.md` has the whole of it for people. Both ends use what is here, so that they can't disagree.

pub mod protocol;
pub mod setting;
pub mod switch;
mod words;

use crate::Level;

/// The levels (bit = [`Level::severity`]) from `level` on; none for no level.
pub const fn levels_at_least(level: Option<Level>) -> u8 {
    match level {
        Some(level) => switch::ALL_LEVELS as u8 & (u8::MAX << level.severity()),
        None => 0,
    }
}

/// The least severe level of a set that holds it and all that are more severe; none for any other set.
pub const fn minimum_level(levels: u8) -> Option<Level> {
    let least = Level::from_severity(levels.trailing_zeros() as u8);
    if levels == levels_at_least(least) { least } else { None }
}

/// Whether `pattern` names the group with this full name: `*` names all, otherwise it is the full name or an end of it in
/// whole segments (`app::AppLog::Net`, `AppLog::Net`, `Net`). Case does not matter.
pub fn matches_group(pattern: &str, full_name: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let Some(start) = full_name.len().checked_sub(pattern.len()) else { return false };
    let (Some(before), Some(end)) = (full_name.get(..start), full_name.get(start..)) else {
        return false;
    };
    !pattern.is_empty()
        && end.eq_ignore_ascii_case(pattern)
        && (before.is_empty() || before.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_levels_are_told_by_their_least() {
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

    #[test]
    fn patterns_match_whole_segments_at_the_end() {
        let full = "app::AppLog::Net";
        for pattern in ["*", full, "AppLog::Net", "Net", "net", "APPLOG::net"] {
            assert!(matches_group(pattern, full), "{pattern}");
        }
        for pattern in ["", "et", "Log::Net", "app", "x::app::AppLog::Net", "é", "::Net"] {
            assert!(!matches_group(pattern, full), "{pattern}");
        }
        assert!(!matches_group("t", "é"), "a cut within a character is no end");
    }
}
