//! Limits of bytes by time, for all messages of a session.
//!
//! ```text
//! 1MiB/s              at most 1 MiB a second in the long run, and as much at once
//! 1MiB/s:8MiB         and 8 MiB at once
//! 1 MiB/s burst 8 MiB the same
//! 100MiB/h            an hour; `m`, `min` a minute
//! ```
//!
//! Invariant: a limit is of at least one byte, and of no more than [`MAX`], in a time; the same
//! holds for a burst, which is of no more than comes in a hundred years: its time is a number of
//! nanoseconds. `testdata/byte_limits.tsv` has limits.

use super::bytes::{bytes, write_bytes};
use super::limit::{Unit, parted, split};
use core::fmt;

/// The most bytes of a limit, and of a burst.
pub const MAX: u64 = 1 << 40;

/// The help line of a text that is no limit.
pub const HELP: &str = "write bytes and a time, as in `1MiB/s` or `100KiB/m burst 1MiB`; a burst is at most what comes in 100 years";

/// The most nanoseconds in which the bytes of a burst come.
const MAX_NANOS: u64 = 100 * 365 * 24 * 3_600_000_000_000;

/// At most so many bytes in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimit {
    count: u64,
    unit: Unit,
    burst: u64,
}

impl ByteLimit {
    /// Parses a limit; none if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (rate, burst) = parted(text.as_bytes());
        let (count, unit) = split(rate, b"/")?;
        let count = number(count)?;
        let burst = burst.map_or(Some(count), number)?;
        let limit = Self { count, unit: Unit::parse(unit)?, burst };
        Some(limit).filter(|limit| limit.nanos(burst) <= MAX_NANOS)
    }

    /// Returns the limit as numbers, of which none is 0.
    pub const fn to_words(self) -> [u64; 3] {
        [self.count, self.unit.nanos(), self.burst]
    }

    /// Returns the limit that has these numbers; none if any is 0. Those of two limits make one,
    /// too, with a burst that may be longer.
    pub const fn from_words([count, nanos, burst]: [u64; 3]) -> Option<Self> {
        let Some(unit) = Unit::of_nanos(nanos) else { return None };
        if count == 0 || burst == 0 { None } else { Some(Self { count, unit, burst }) }
    }

    /// Returns the bytes that may come at once.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// Returns the nanoseconds in which so many bytes may come, in the long run.
    pub fn nanos(&self, bytes: u64) -> u64 {
        let nanos = u128::from(bytes) * u128::from(self.unit.nanos());
        u64::try_from(nanos.div_ceil(u128::from(self.count))).unwrap_or(u64::MAX)
    }
}

fn number(text: &[u8]) -> Option<u64> {
    bytes(text.trim_ascii()).filter(|bytes| (1..=MAX).contains(bytes))
}

impl fmt::Display for ByteLimit {
    /// Writes the shortest text that means the same, without spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bytes(f, self.count)?;
        write!(f, "/{}", self.unit.letter())?;
        if self.burst == self.count {
            return Ok(());
        }
        f.write_str(":")?;
        write_bytes(f, self.burst)
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
        for line in include_str!("../../testdata/byte_limits.tsv").lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [text, shown, parts] = cells[..] else { panic!("three cells: {line}") };
            let limit = ByteLimit::parse(text);
            let found = limit.map_or(String::new(), |limit| limit.to_string());
            assert_eq!(found, shown, "{text:?}");
            let of = |limit: ByteLimit| format!("{} {}", limit.nanos(4096), limit.burst());
            assert_eq!(limit.map_or(String::new(), of), parts, "{text:?}");
            rows += 1;
        }
        assert!(rows > 20);
    }
}
