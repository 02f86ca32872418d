//! Patterns of group names: what `PROTOLOG`, operators, the builder of a session and the filters of
//! readers name groups by.
//!
//! A pattern is `*` for all groups, the full name of a group, its last segments (`Net`,
//! `AppLog::Net`) or its first ones (`app`, `com.foo`). Segments are parted by `::` in names of
//! Rust's groups, by dots in those of Java's. Letters of ASCII match in any case, and a pattern may
//! be in [quotation marks](super::name): then it means no other name than what they hold.
//!
//! Where several patterns name a group, a session takes the [closest](Closeness); settings take the
//! last.
//!
//! Invariant: this is the one place that compares patterns in Rust. `testdata/patterns.tsv` has its
//! cases, for Java's too.

use super::name::{self, Characters};

/// The way a pattern names a group. The greater, the closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// It is `*`, which names all groups.
    All,
    /// It has the first segments of the name, of this many bytes.
    Beginning(usize),
    /// It has the last segments of the name.
    End,
    /// It is the full name.
    Whole,
}

/// Returns whether `pattern` names the group with this full name.
pub fn matches_group(pattern: &str, full_name: &str) -> bool {
    closeness(pattern, full_name).is_some()
}

/// Returns how `pattern` names the group with this full name; none if it doesn't.
pub fn closeness(pattern: &str, full_name: &str) -> Option<Closeness> {
    if pattern == "*" {
        return Some(Closeness::All);
    }
    let wanted = name::characters(pattern);
    let length = wanted.clone().map(char::len_utf8).sum();
    if length == 0 {
        return (!pattern.is_empty() && full_name.is_empty()).then_some(Closeness::Whole);
    }
    let (before, end) = full_name.split_at_checked(full_name.len().checked_sub(length)?)?;
    if is_equal(wanted.clone(), end) && ends_segment(before) {
        return Some(if before.is_empty() { Closeness::Whole } else { Closeness::End });
    }
    let (beginning, after) = full_name.split_at_checked(length)?;
    (begins_segment(after) && is_equal(wanted, beginning)).then_some(Closeness::Beginning(length))
}

/// Returns whether the characters are those of `text`, which has as many bytes, but for the case of
/// ASCII letters.
fn is_equal(wanted: Characters<'_>, text: &str) -> bool {
    wanted.zip(text.chars()).all(|(one, other)| one.eq_ignore_ascii_case(&other))
}

/// True for all before the last segments of a name.
fn ends_segment(before: &str) -> bool {
    before.is_empty() || before.ends_with("::") || before.ends_with('.')
}

/// True for all after the first segments of a name.
fn begins_segment(after: &str) -> bool {
    after.starts_with("::") || after.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// The Java runtime reads the same table.
    #[test]
    fn patterns_match_whole_segments() {
        let mut rows = 0;
        for line in include_str!("../../testdata/patterns.tsv").lines().skip(1) {
            let line = line.replace("\\\\", "\\");
            let [pattern, group, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let found = match closeness(pattern, group) {
                Some(Closeness::All) => "all",
                Some(Closeness::Beginning(_)) => "beginning",
                Some(Closeness::End) => "end",
                Some(Closeness::Whole) => "whole",
                None => "no",
            };
            assert_eq!(found, expected, "{line}");
            rows += 1;
        }
        assert!(rows > 40);
    }

    #[test]
    fn a_longer_beginning_is_closer() {
        let of = |pattern| closeness(pattern, "app::net::Log::Tcp");
        let closer = ["*", "app", "APP::net", "app::net::Log", "Tcp", "app::net::log::tcp"];
        assert!(closer.windows(2).all(|pair| of(pair[0]) < of(pair[1])), "{closer:?}");
    }
}
