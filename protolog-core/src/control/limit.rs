//! Limits of messages by time, in rules of single calls ([`super::site_rule`]).
//!
//! ```text
//! 100/s               at most 100 a second in the long run, and 100 at once
//! 100/s:500           and 500 at once
//! 100/s burst 500     the same
//! 2/m, 2/min          a minute
//! 30/h                an hour
//! ```
//!
//! Invariant: a limit lets at least one message pass, and no more than [`MAX`] a second.
//! `testdata/limits.tsv` has limits, for Java's too.

use core::fmt;

/// The largest number of a limit, and of a burst.
pub const MAX: u32 = 1_000_000;

/// At most so many messages in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    count: u32,
    unit: Unit,
    burst: u32,
}

/// The help line of a text that is no limit.
pub const HELP: &str =
    "write a number up to 1000000 and a time, as in `100/s`, `2/m burst 10` or `30/h`";

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
}

impl Limit {
    /// Parses a limit; none if the text is none.
    pub const fn parse(text: &str) -> Option<Self> {
        let (rate, burst) = parted(text.as_bytes());
        let Some((count, unit)) = split(rate, b"/") else { return None };
        let (Some(count), Some(unit)) = (number(count), Unit::parse(unit)) else { return None };
        let burst = match burst {
            Some(burst) => number(burst),
            None => Some(count),
        };
        match burst {
            Some(burst) => Some(Self { count, unit, burst }),
            None => None,
        }
    }

    /// Returns the number of messages that may come at once.
    pub const fn burst(&self) -> u32 {
        self.burst
    }

    /// Returns the nanoseconds after which one more may come, in the long run.
    pub const fn interval(&self) -> u64 {
        self.unit.nanos() / self.count as u64
    }
}

/// The part before `:` or ` burst `, and the one behind it.
pub(super) const fn parted(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let parts = match split(text, b":") {
        None => split(text, b" burst "),
        parts => parts,
    };
    match parts {
        Some((rate, burst)) => (rate, Some(burst)),
        None => (text, None),
    }
}

/// The text before the first `separator`, and the one behind it.
pub(super) const fn split<'a>(text: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let mut at = 0;
    while at + separator.len() <= text.len() {
        let (before, rest) = text.split_at(at);
        let (found, behind) = rest.split_at(separator.len());
        if is_equal(found, separator) {
            return Some((before, behind));
        }
        at += 1;
    }
    None
}

/// As `==`, which Rust 1.85 does not have in constants.
const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const fn number(text: &[u8]) -> Option<u32> {
    let text = text.trim_ascii();
    let (mut at, mut number) = (0, 0);
    while at < text.len() && text[at].is_ascii_digit() && number <= MAX {
        number = number * 10 + (text[at] - b'0') as u32;
        at += 1;
    }
    if at < text.len() || number == 0 || number > MAX { None } else { Some(number) }
}

impl Unit {
    pub(super) const fn parse(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let mut small = [0; 6];
        if text.len() > small.len() {
            return None;
        }
        let mut at = 0;
        while at < text.len() {
            small[at] = text[at].to_ascii_lowercase();
            at += 1;
        }
        match small.split_at(at).0 {
            b"s" | b"sec" | b"second" => Some(Self::Second),
            b"m" | b"min" | b"minute" => Some(Self::Minute),
            b"h" | b"hour" => Some(Self::Hour),
            _ => None,
        }
    }

    pub(super) const fn letter(self) -> char {
        match self {
            Self::Second => 's',
            Self::Minute => 'm',
            Self::Hour => 'h',
        }
    }

    /// The unit of so many nanoseconds.
    pub(super) const fn of_nanos(nanos: u64) -> Option<Self> {
        match nanos {
            1_000_000_000 => Some(Self::Second),
            60_000_000_000 => Some(Self::Minute),
            3_600_000_000_000 => Some(Self::Hour),
            _ => None,
        }
    }

    pub(super) const fn nanos(self) -> u64 {
        match self {
            Self::Second => 1_000_000_000,
            Self::Minute => 60_000_000_000,
            Self::Hour => 3_600_000_000_000,
        }
    }
}

impl fmt::Display for Limit {
    /// Writes the shortest text that means the same, without spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.unit.letter())?;
        if self.burst == self.count { Ok(()) } else { write!(f, ":{}", self.burst) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::{String, ToString};
    use std::vec::Vec;

    #[test]
    fn limits_are_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../../testdata/limits.tsv").lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [text, shown, interval] = cells[..] else { panic!("three cells: {line}") };
            let limit = Limit::parse(text);
            let found = limit.map_or(String::new(), |limit| limit.to_string());
            assert_eq!(found, shown, "{text:?}");
            let parts = |limit: Limit| format!("{} {}", limit.interval(), limit.burst());
            assert_eq!(limit.map_or(String::new(), parts), interval, "{text:?}");
            rows += 1;
        }
        assert!(rows > 15);
    }
}
