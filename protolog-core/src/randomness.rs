//! Consistent sampling: all messages with one value of an argument are kept, or none, the same in
//! each program, language and reader, as OpenTelemetry's consistent probability sampling has it
//! (its specification of `TraceState`, "Probability sampling").
//!
//! ```text
//! value ──> randomness R, 56 bits ──> kept if R >= T        rate p ──> threshold T = (1 - p) * 2^56
//! ```
//!
//! A trace id of W3C's Trace Context, 32 hexadecimal digits, has its randomness in its last 14
//! digits; so has the header `traceparent`. Of each other value it is the last 56 bits of the
//! XXH3-64 of its text: an integer has its decimal digits, so that one program may pass it as a
//! number and another one as a text.
//!
//! Invariant: *nested*: what a rate keeps, each greater one keeps.

use crate::control::rate::Rate;
use crate::{Arg, hash};

/// The number of different values of a randomness: 2^56.
const VALUES: u64 = 1 << 56;

/// Digits of a trace id.
const TRACE_ID: usize = 32;

/// The most bytes of an integer's text.
const MAX_DIGITS: usize = 20;

/// Returns the randomness of an argument's value, below 2^56.
pub fn randomness(value: Arg<'_>) -> u64 {
    match value {
        Arg::Str(text) => of_text(text),
        Arg::Int(number) => of_integer(number.unsigned_abs(), number < 0),
        Arg::Uint(number) => of_integer(number, false),
        Arg::Float(number) => of_bytes(&number.to_bits().to_le_bytes()),
        Arg::Bool(value) => of_bytes(if value { b"true" } else { b"false" }),
    }
}

/// Returns the threshold of a rate: messages whose randomness is less are passed over.
pub const fn threshold(rate: Rate) -> u64 {
    let (kept, of) = (rate.kept() as u128, rate.of() as u128);
    // To the nearest number.
    VALUES - (((VALUES as u128 * kept * 2) + of) / (of * 2)) as u64
}

fn of_text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    trace_id(bytes).unwrap_or_else(|| of_bytes(bytes))
}

/// The randomness of a trace id, alone or in a `traceparent`.
fn trace_id(bytes: &[u8]) -> Option<u64> {
    let id = match bytes {
        // version-trace id-parent id-flags
        [_, _, b'-', rest @ ..] if bytes.len() == 55 => {
            let (id, rest) = rest.split_at_checked(TRACE_ID)?;
            let [b'-', parent @ .., b'-', _, _] = rest else { return None };
            number(parent)?;
            id
        }
        _ if bytes.len() == TRACE_ID => bytes,
        _ => return None,
    };
    let (high, low) = id.split_at_checked(TRACE_ID / 2)?;
    number(high)?;
    Some(number(low)? % VALUES)
}

/// The number of up to 16 hexadecimal digits.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number: u64, digit| {
        Some(number << 4 | u64::from(char::from(*digit).to_digit(16)?))
    })
}

fn of_integer(mut rest: u64, is_negative: bool) -> u64 {
    let mut text = [0; MAX_DIGITS];
    let mut begin = MAX_DIGITS;
    loop {
        begin -= 1;
        text[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if is_negative {
        begin -= 1;
        text[begin] = b'-';
    }
    of_bytes(&text[begin..])
}

fn of_bytes(bytes: &[u8]) -> u64 {
    hash(bytes) % VALUES
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    /// Java's tests have the same vectors.
    #[test]
    fn values_have_the_randomness_of_the_vectors() {
        let mut checked = 0;
        for line in include_str!("../testdata/randomness.tsv").lines().skip(1) {
            let [kind, value, expected] = line.split('\t').collect::<std::vec::Vec<_>>()[..] else {
                panic!("three cells: {line:?}");
            };
            let value = match kind {
                "text" => Arg::Str(value),
                "integer" => value.parse().map_or_else(
                    |_| Arg::Uint(value.parse().expect("an unsigned integer")),
                    Arg::Int,
                ),
                "float" => Arg::Float(value.parse().expect("a float")),
                _ => Arg::Bool(value == "true"),
            };
            assert_eq!(format!("{:014x}", randomness(value)), expected, "{line:?}");
            checked += 1;
        }
        assert!(checked > 30);
        assert_eq!(randomness(Arg::Uint(7)), randomness(Arg::Int(7)));
        assert_eq!(randomness(Arg::Str("-7")), randomness(Arg::Int(-7)));
    }

    /// The table of thresholds in OpenTelemetry's specification, which rounds them to 3, 4 or 5
    /// digits behind those that are `f`.
    #[test]
    fn thresholds_are_those_of_the_specification() {
        let rounded = |threshold: u64, precision: u32| {
            let leading = (!(threshold << 8)).leading_zeros() / 4;
            let unit = 1_u64 << (56 - 4 * (precision + leading));
            let digits = format!("{:014x}", (threshold + unit / 2) / unit * unit);
            String::from(digits.trim_end_matches('0'))
        };
        let mut checked = 0;
        for line in include_str!("../testdata/thresholds.tsv").lines().skip(1) {
            let mut cells = line.split('\t');
            let rate = cells.next().and_then(Rate::parse).expect("a rate");
            for (precision, expected) in (3..).zip(cells) {
                let found = rounded(threshold(rate), precision);
                assert_eq!(found, expected.trim_end_matches('0'), "{rate} in {precision} digits");
                checked += 1;
            }
        }
        assert_eq!(checked, 13 * 3);
        // Its example of the decision: a quarter of all traces.
        let trace = Arg::Str("4bf92f3577b34da6a3ce929d0e0e4736");
        let quarter = Rate::new(1, 4).expect("a rate");
        assert_eq!(randomness(trace), 0xce_929d_0e0e_4736);
        assert_eq!(threshold(quarter), 0xc0_0000_0000_0000);
        assert!(randomness(trace) >= threshold(quarter));
    }

    #[test]
    fn each_rate_keeps_its_part_and_what_lower_ones_keep() {
        const VALUES: u32 = 200_000;
        let rates = ["1/1", "99%", "1/2", "1/3", "10%", "1%", "1/1000", "1/1000000000"];
        let rates = rates.map(|rate| Rate::parse(rate).expect("a rate"));
        let mut kept = [0_u32; 8];
        for value in 0..VALUES {
            let randomness = randomness(Arg::Uint(value.into()));
            let keeps = rates.map(|rate| randomness >= threshold(rate));
            assert!(keeps.is_sorted_by(|greater, lower| greater >= lower), "{value}: {keeps:?}");
            kept.iter_mut().zip(keeps).for_each(|(kept, keeps)| *kept += u32::from(keeps));
        }
        for (rate, kept) in rates.into_iter().zip(kept) {
            let (chance, all) = (rate.probability(), f64::from(VALUES));
            let error = (all * chance * (1.0 - chance)).max(0.0).sqrt();
            assert!(
                (f64::from(kept) - all * chance).abs() <= 4.0 * error + 0.001,
                "{rate}: {kept}"
            );
        }
    }
}
