//! Floats as C's printf writes them: `%f`, `%e` and `%g`, on top of the exact decimal conversion of
//! `core::fmt`, or for `%f` of [`fixed_digits`], which is several times as fast.
//!
//! Invariant: the digits are exact (round half to even on the binary value), as in glibc.

mod fixed_digits;

pub use fixed_digits::FixedDigits;

use core::fmt::{self, Write};

/// `%f`: `precision` digits after the point.
pub(crate) fn fixed(out: &mut dyn Write, value: f64, precision: u8) -> fmt::Result {
    if let Some(digits) = FixedDigits::new(value, precision) {
        return out.write_str(digits.as_str());
    }
    match special(value) {
        Some(text) => out.write_str(text),
        None => write!(out, "{:.*}", precision as usize, value),
    }
}

/// `%e`: one digit, `precision` digits after the point, and an exponent of at least two digits.
pub(crate) fn exponent(out: &mut dyn Write, value: f64, precision: u8) -> fmt::Result {
    match special(value) {
        Some(text) => out.write_str(text),
        None => {
            let exponent = decimal_exponent(value, precision)?;
            write!(Mantissa { out, done: false }, "{:.*e}", precision as usize, value)?;
            write_exponent(out, exponent)
        }
    }
}

/// `%g`: `precision` significant digits, in the shorter of the two forms, without trailing zeros.
pub(crate) fn general(out: &mut dyn Write, value: f64, precision: u8) -> fmt::Result {
    if let Some(text) = special(value) {
        return out.write_str(text);
    }
    let significant = i32::from(precision.max(1));
    let exponent = decimal_exponent(value, (significant - 1) as u8)?;
    let mut trimmed = TrimZeros { out, held: None };
    if (-4..significant).contains(&exponent) {
        return write!(trimmed, "{:.*}", (significant - 1 - exponent) as usize, value);
    }
    write!(
        Mantissa { out: &mut trimmed, done: false },
        "{:.*e}",
        (significant - 1) as usize,
        value
    )?;
    write_exponent(out, exponent)
}

fn special(value: f64) -> Option<&'static str> {
    match (value.is_nan(), value.is_infinite(), value.is_sign_negative()) {
        (true, _, _) => Some("nan"),
        (_, true, true) => Some("-inf"),
        (_, true, false) => Some("inf"),
        _ => None,
    }
}

fn write_exponent(out: &mut dyn Write, exponent: i32) -> fmt::Result {
    write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// The exponent of `value` in scientific form, after rounding to `precision` digits after the
/// point.
fn decimal_exponent(value: f64, precision: u8) -> Result<i32, fmt::Error> {
    let mut parse = ParseExponent::default();
    write!(parse, "{:.*e}", precision as usize, value)?;
    Ok(if parse.negative { -parse.number } else { parse.number })
}

/// Reads the number after the `e`.
#[derive(Default)]
struct ParseExponent {
    seen: bool,
    negative: bool,
    number: i32,
}

impl Write for ParseExponent {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match byte {
                b'e' => self.seen = true,
                b'-' if self.seen => self.negative = true,
                digit if self.seen => self.number = self.number * 10 + i32::from(digit - b'0'),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Passes on the digits before the `e`.
struct Mantissa<'a> {
    out: &'a mut dyn Write,
    done: bool,
}

impl Write for Mantissa<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.done {
            return Ok(());
        }
        let end = text.find('e');
        self.done = end.is_some();
        self.out.write_str(&text[..end.unwrap_or(text.len())])
    }
}

/// Holds back a decimal point and the zeros after it until another digit follows.
struct TrimZeros<'a> {
    out: &'a mut dyn Write,
    /// Number of zeros after the point that are held back; `Some` once the point was seen. The
    /// point itself is written with the first digit that follows.
    held: Option<Held>,
}

#[derive(Clone, Copy, Default)]
struct Held {
    zeros: usize,
    point_written: bool,
}

impl Write for TrimZeros<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            match (&mut self.held, char) {
                (held @ None, '.') => *held = Some(Held::default()),
                (Some(held), '0') => held.zeros += 1,
                (Some(held), digit) => {
                    if !held.point_written {
                        self.out.write_char('.')?;
                        held.point_written = true;
                    }
                    for _ in 0..core::mem::take(&mut held.zeros) {
                        self.out.write_char('0')?;
                    }
                    self.out.write_char(digit)?;
                }
                (None, char) => self.out.write_char(char)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn text(
        format: fn(&mut dyn Write, f64, u8) -> fmt::Result,
        value: f64,
        precision: u8,
    ) -> String {
        let mut text = String::new();
        format(&mut text, value, precision).unwrap();
        text
    }

    #[test]
    fn exponents_have_at_least_two_digits() {
        let e = |value, precision| text(exponent, value, precision);
        assert_eq!(e(0.5, 6), "5.000000e-01");
        assert_eq!(e(0.0, 6), "0.000000e+00");
        assert_eq!(e(-0.0, 2), "-0.00e+00");
        assert_eq!(e(9.9999999, 2), "1.00e+01");
        assert_eq!(e(1e300, 0), "1e+300");
        assert_eq!(e(f64::MIN_POSITIVE / 4.0, 3), "5.563e-309");
        assert_eq!(e(1.5, 40), "1.5000000000000000000000000000000000000000e+00");
    }

    #[test]
    fn infinite_and_nan_have_names() {
        for format in [exponent, general] {
            let all = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
            let texts = all.map(|value| text(format, value, 3));
            assert_eq!(texts, ["inf", "-inf", "nan", "nan"]);
        }
    }

    #[test]
    fn general_drops_trailing_zeros() {
        let g = |value, precision| text(general, value, precision);
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.6, "0.6"),
            (1e-5, "1e-05"),
            (1e-4, "0.0001"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (999999.5, "1e+06"),
            (0.5, "0.5"),
            (100.0, "100"),
            (1000.1, "1000.1"),
            (1.0000001, "1"),
            (10.05, "10.05"),
            (f64::MAX, "1.79769e+308"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(g(value, 6), expected);
        }
        assert_eq!(
            (g(0.15, 1).as_str(), g(25.0, 0).as_str(), g(1234.5678, 10).as_str()),
            ("0.1", "2e+01", "1234.5678")
        );
    }

    #[test]
    fn fixed_is_exact() {
        assert_eq!(text(fixed, 0.1, 20), "0.10000000000000000555");
        assert_eq!(text(fixed, 2.5, 0), "2");
        assert_eq!(
            text(fixed, 340282346638528859811704183484516925440.0, 6),
            "340282346638528859811704183484516925440.000000"
        );
    }
}
