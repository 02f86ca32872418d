//! Rates at which messages are sampled, in rules of single calls ([`super::site_rule`]).
//!
//! ```text
//! 1/100      one of 100
//! 1%         the same
//! 0.25%      one of 400
//! 2/3        two of three
//! 1/100 by arg1, or 1/100:arg1
//!            all messages with one of 100 values of their first argument
//! 1/512KiB   each byte of what is logged by chance, one of 524,288: a message is kept if one of
//!            its bytes is
//! ```
//!
//! With an argument the decision is that of [`crate::randomness`]: the same for all messages with
//! one value, in each program and at each time. Bytes are those of [`crate::volume`].
//!
//! Invariant: at least one message in [`MAX`] is kept, and at most all of them; the fraction is
//! reduced, so that equal rates have equal words.

use super::bytes::{bytes, write_bytes};
use core::fmt;

/// The largest number of messages of which a rate keeps some.
pub const MAX: u32 = 1_000_000_000;

/// The greatest number of an argument by which messages are kept.
pub const MAX_BY: u8 = 15;

/// The digits behind the point of a percentage.
const DECIMALS: usize = 7;

/// In the place of an argument's number: each byte is kept by chance.
const BYTES: u8 = MAX_BY + 1;

/// A number of kept messages that no rate has, in the words of those of bytes.
const KEPT_OF_BYTES: u64 = (1 << 30) - 1;

/// Bits of a word for the argument's number, and for those and a number of messages.
const BY_BITS: u32 = 4;
const OF_BITS: u32 = 30 + BY_BITS;

/// So many messages are kept of so many: each by chance, or all together that have one value of an
/// argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    kept: u32,
    of: u32,
    /// The number of the argument, from 1; 0 for none; or [`BYTES`].
    by: u8,
}

impl Rate {
    /// The rate of so many messages out of so many; none if that is no rate.
    pub const fn new(kept: u32, of: u32) -> Option<Self> {
        if kept == 0 || kept > of || of > MAX {
            return None;
        }
        let (mut divisor, mut rest) = (of, kept);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Some(Self { kept: kept / divisor, of: of / divisor, by: 0 })
    }

    /// The same rate by the argument of this number, from 1 to [`MAX_BY`]; none of another one.
    #[must_use]
    pub const fn by_argument(self, number: u8) -> Option<Self> {
        if number == 0 || number > MAX_BY { None } else { Some(Self { by: number, ..self }) }
    }

    /// The rate of one byte of so many; none if that is no rate.
    pub const fn of_bytes(interval: u32) -> Option<Self> {
        if interval == 0 || interval > MAX {
            return None;
        }
        Some(Self { kept: 1, of: interval, by: BYTES })
    }

    /// Parses a rate; none if the text is none.
    pub const fn parse(text: &str) -> Option<Self> {
        let text = text.trim_ascii().as_bytes();
        if let Some(interval) = interval(text) {
            return Self::of_bytes(interval);
        }
        let mut at = 0;
        while at < text.len() && text[at] != b' ' && text[at] != b':' {
            at += 1;
        }
        let (fraction, by) = text.split_at(at);
        let Some(rate) = Self::parse_fraction(fraction) else { return None };
        if by.is_empty() {
            return Some(rate);
        }
        let Some(number) = argument(by) else { return None };
        rate.by_argument(number)
    }

    /// Returns the help line of a text that is no rate, which begins with a verb.
    pub fn help(text: &str) -> &'static str {
        let text = text.trim_ascii();
        let (fraction, _) = text.split_once([' ', ':']).unwrap_or((text, ""));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let of = text.strip_prefix("1/").unwrap_or_default();
        let unit = of.trim_start_matches(|it: char| it.is_ascii_digit()).trim_ascii_start();
        let is_bytes = unit.ends_with(['b', 'B']);
        if is_bytes && bytes(of.as_bytes()).is_some() {
            "keep one of at least 1 and at most 1000000000 bytes, as in `1/512KiB` or `1/900MiB`"
        } else if is_bytes {
            "write bytes in the units B, KiB or MiB, as in `1/512KiB`"
        } else if fraction.split_once('/').is_some_and(|(kept, of)| {
            is_number(kept) && of.parse().map_or(is_number(of), |of: u64| of > MAX.into())
        }) {
            "keep at least one message of 1000000000, as in `1/1000000`"
        } else {
            "write a part of all messages, as in `1/100`, `0.5%` or `1/100 by arg1`, or of all bytes, as in `1/512KiB`"
        }
    }

    const fn parse_fraction(text: &[u8]) -> Option<Self> {
        let (mut at, mut kept, mut of) = (0, 0, 1);
        let mut digits = 0;
        while at < text.len() && text[at].is_ascii_digit() {
            kept = kept * 10 + (text[at] - b'0') as u64;
            (at, digits) = (at + 1, digits + 1);
            if digits > 10 {
                return None;
            }
        }
        if digits == 0 || at == text.len() {
            return None;
        }
        match text[at] {
            b'/' => {
                of = 0;
                digits = 0;
                at += 1;
                while at < text.len() && text[at].is_ascii_digit() && digits <= 10 {
                    of = of * 10 + (text[at] - b'0') as u64;
                    (at, digits) = (at + 1, digits + 1);
                }
                if digits == 0 || at < text.len() {
                    return None;
                }
            }
            b'.' | b'%' => {
                if text[at] == b'.' {
                    at += 1;
                    let begin = at;
                    while at < text.len() && text[at].is_ascii_digit() && at - begin < DECIMALS {
                        kept = kept * 10 + (text[at] - b'0') as u64;
                        of *= 10;
                        at += 1;
                    }
                    if at == begin {
                        return None;
                    }
                }
                if at + 1 != text.len() || text[at] != b'%' {
                    return None;
                }
                of *= 100;
            }
            _ => return None,
        }
        if kept > of || of > MAX as u64 {
            return None;
        }
        Self::new(kept as u32, of as u32)
    }

    /// Returns the number of messages that are kept of [`Self::of`].
    pub const fn kept(self) -> u32 {
        self.kept
    }

    /// Returns the number of messages of which [`Self::kept`] are kept.
    pub const fn of(self) -> u32 {
        self.of
    }

    /// Returns the probability with which a message is kept.
    pub fn probability(self) -> f64 {
        f64::from(self.kept) / f64::from(self.of)
    }

    /// Returns the number of messages that one stands for which was kept.
    pub fn weight(self) -> f64 {
        f64::from(self.of) / f64::from(self.kept)
    }

    /// Returns the number of the argument by which messages are kept, from 1; none of those that
    /// are kept by chance, each for itself.
    pub const fn by(self) -> Option<u8> {
        if self.by == 0 || self.by == BYTES { None } else { Some(self.by) }
    }

    /// Returns the number of bytes of which one is kept; none of a rate of messages.
    pub const fn interval(self) -> Option<u32> {
        if self.by == BYTES { Some(self.of) } else { None }
    }

    /// Returns whether messages are decided by their arguments: the value of one, or their size.
    pub const fn needs_arguments(self) -> bool {
        self.by != 0
    }

    /// Returns whether every message is kept.
    pub const fn keeps_all(self) -> bool {
        self.kept == self.of
    }

    /// Returns the rate in one word, which is not 0.
    pub const fn to_word(self) -> u64 {
        if self.by == BYTES {
            return KEPT_OF_BYTES << OF_BITS | (self.of as u64) << BY_BITS;
        }
        (self.kept as u64) << OF_BITS | (self.of as u64) << BY_BITS | self.by as u64
    }

    /// Returns the rate that has this word; none if that is 0.
    pub const fn from_word(word: u64) -> Option<Self> {
        let (kept, of) = ((word >> OF_BITS) as u32, (word << 30 >> (30 + BY_BITS)) as u32);
        let by = (word & MAX_BY as u64) as u8;
        if kept as u64 == KEPT_OF_BYTES {
            return Self::of_bytes(of);
        }
        if kept == 0 || kept > of { None } else { Some(Self { kept, of, by }) }
    }
}

const _: () = assert!((MAX as u64) < KEPT_OF_BYTES && (MAX_BY as u32) < 1 << BY_BITS);

/// The bytes in `1/512KiB`, also with a space before the unit; none in another text.
const fn interval(text: &[u8]) -> Option<u32> {
    let Some((b"1/", text)) = text.split_at_checked(2) else { return None };
    match bytes(text) {
        Some(bytes) if bytes <= MAX as u64 => Some(bytes as u32),
        _ => None,
    }
}

/// The number of the argument in ` by arg1` or `:arg1`.
const fn argument(text: &[u8]) -> Option<u8> {
    let name = match text.split_first() {
        Some((b':', name)) => name,
        _ => {
            let text = text.trim_ascii_start();
            let Some((word, name)) = text.split_at_checked(2) else { return None };
            // Of letters, as Rust 1.85 has it in constants.
            let is_word = matches!(word, [b'b' | b'B', b'y' | b'Y']);
            let trimmed = name.trim_ascii_start();
            if !is_word || trimmed.len() == name.len() {
                return None;
            }
            trimmed
        }
    };
    let Some((word, digits)) = name.split_at_checked(3) else { return None };
    if !matches!(word, [b'a' | b'A', b'r' | b'R', b'g' | b'G']) {
        return None;
    }
    match digits {
        [one @ b'1'..=b'9'] => Some(*one - b'0'),
        [b'1', two @ b'0'..=b'5'] => Some(10 + *two - b'0'),
        _ => None,
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kept)?;
        if self.by == BYTES {
            return write_bytes(f, self.of.into());
        }
        write!(f, "{}", self.of)?;
        match self.by {
            0 => Ok(()),
            by => write!(f, ":arg{by}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// Java's tests have the same vectors.
    #[test]
    fn rates_are_read_and_shown() {
        let vectors = include_str!("../../testdata/rates.tsv");
        let mut checked = 0;
        for line in vectors.lines().skip(1) {
            let (text, expected) = line.split_once('\t').expect("two cells");
            let rate = Rate::parse(text);
            let shown = rate.map(|rate| rate.to_string()).unwrap_or_default();
            assert_eq!(shown, expected, "{text:?}");
            assert_eq!(rate, rate.and_then(|rate| Rate::from_word(rate.to_word())));
            checked += 1;
        }
        assert!(checked > 30);
        assert_eq!(Rate::from_word(0), None);
        assert_eq!(Rate::parse("1%").and_then(Rate::by), None);
        assert_eq!(Rate::parse("1% by arg15").and_then(Rate::by), Some(15));
        let rate = Rate::parse("2.5%").map(|rate| (rate.probability(), rate.weight()));
        assert_eq!(rate, Some((0.025, 40.0)));
        let bytes = Rate::parse("1/2 MiB").expect("a rate");
        assert_eq!((bytes.interval(), bytes.by()), (Some(2 << 20), None));
        assert_eq!(Rate::parse("1/2 by arg1").and_then(Rate::interval), None);
    }
}
