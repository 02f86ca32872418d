//! Rates at which messages are sampled, in rules of single calls ([`super::site_rule`]).
//!
//! ```text
//! 1/100      one of 100
//! 1%         the same
//! 0.25%      one of 400
//! 2/3        two of three
//! ```
//!
//! Invariant: at least one message in [`MAX`] is kept, and at most all of them; the fraction is
//! reduced, so that equal rates have equal words.

use core::fmt;

/// The largest number of messages of which a rate keeps some.
pub const MAX: u32 = 1_000_000_000;

/// The digits behind the point of a percentage.
const DECIMALS: usize = 7;

/// So many messages are kept of so many, each by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    kept: u32,
    of: u32,
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
        Some(Self { kept: kept / divisor, of: of / divisor })
    }

    /// Parses a rate; none if the text is none.
    pub const fn parse(text: &str) -> Option<Self> {
        let text = text.trim_ascii().as_bytes();
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

    /// Returns whether every message is kept.
    pub const fn keeps_all(self) -> bool {
        self.kept == self.of
    }

    /// Returns the rate in one word, which is not 0.
    pub const fn to_word(self) -> u64 {
        (self.kept as u64) << 32 | self.of as u64
    }

    /// Returns the rate that has this word; none if that is 0.
    pub const fn from_word(word: u64) -> Option<Self> {
        let (kept, of) = ((word >> 32) as u32, word as u32);
        if kept == 0 || kept > of { None } else { Some(Self { kept, of }) }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kept, self.of)
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
        let rate = Rate::parse("2.5%").map(|rate| (rate.probability(), rate.weight()));
        assert_eq!(rate, Some((0.025, 40.0)));
    }
}
