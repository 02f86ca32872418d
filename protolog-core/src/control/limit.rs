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
    pub fn parse(text: &str) -> Option<Self> {
        let (rate, burst) = parted(text);
        let (count, unit) = rate.split_once('/')?;
        let count = number(count)?;
        let burst = burst.map_or(Some(count), number)?;
        Some(Self { count, unit: Unit::parse(unit.trim_ascii())?, burst })
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
pub(super) fn parted(text: &str) -> (&str, Option<&str>) {
    let parts = text.split_once(':').or_else(|| text.split_once(" burst "));
    parts.map_or((text, None), |(rate, burst)| (rate, Some(burst)))
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim_ascii();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().filter(|number| (1..=MAX).contains(number))
}

impl Unit {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
        if is(&["s", "sec", "second"]) {
            Some(Self::Second)
        } else if is(&["m", "min", "minute"]) {
            Some(Self::Minute)
        } else if is(&["h", "hour"]) {
            Some(Self::Hour)
        } else {
            None
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
