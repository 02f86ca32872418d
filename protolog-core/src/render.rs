//! Renders a template with its arguments, for people.
//!
//! The rules are C's printf on 64-bit values, which is also what Perfetto's trace_processor prints
//! for the bare forms: `%x` and `%o` show negative integers in two's complement, `%f` and `%e` have
//! six digits by default, `%g` drops trailing zeros. Unlike in trace_processor, nothing is
//! truncated, and width and precision work.
//!
//! Invariant: no allocation; a missing argument or one of another kind is shown as such and is
//! never an error.

use crate::{Conversion, Piece, Template, Verb, float};
use core::fmt::{self, Write};

/// Placeholder for a missing argument: trace_processor's, from v53 on.
pub const MISSING: &str = "[MISSING_PARAM]";

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    /// Text, for `%s`.
    Str(&'a str),
    /// A signed integer, for `%d %o %x`.
    Int(i64),
    /// An unsigned integer, for `%d %o %x`.
    Uint(u64),
    /// A float, for `%f %e %g`.
    Float(f64),
    /// A boolean, for `%b`.
    Bool(bool),
}

/// Writes `template` to `out`, with the values that `next` returns in place of the conversions. If
/// `next` returns no value, [`MISSING`] is written; a value of another kind is written in its own
/// default form.
pub fn render<'a>(
    out: &mut dyn Write,
    template: &Template<'_>,
    mut next: impl FnMut(&Conversion) -> Option<Arg<'a>>,
) -> fmt::Result {
    template.pieces().try_for_each(|piece| match piece {
        Piece::Text(text) => out.write_str(text),
        Piece::Percent => out.write_char('%'),
        Piece::Conversion(conversion) => match next(&conversion) {
            Some(arg) => render_one(out, &conversion, arg),
            None => out.write_str(MISSING),
        },
    })
}

/// Writes one value as its conversion says, padded to the width.
pub fn render_one(out: &mut dyn Write, conversion: &Conversion, arg: Arg<'_>) -> fmt::Result {
    if conversion.width == 0 {
        return plain(out, conversion, arg);
    }
    let mut measure = Measure::default();
    plain(&mut measure, conversion, arg)?;
    let missing = (conversion.width as usize).saturating_sub(measure.chars);
    let finite = !matches!(arg, Arg::Float(value) if !value.is_finite());
    if !conversion.zero_pad || !finite || matches!(arg, Arg::Str(_) | Arg::Bool(_)) {
        (0..missing).try_for_each(|_| out.write_char(' '))?;
        return plain(out, conversion, arg);
    }
    // Zeros go between the sign and the digits.
    if measure.negative {
        out.write_char('-')?;
    }
    (0..missing).try_for_each(|_| out.write_char('0'))?;
    plain(&mut SkipSign { out, skip: measure.negative }, conversion, arg)
}

/// Writes one argument without padding.
fn plain(out: &mut dyn Write, conversion: &Conversion, arg: Arg<'_>) -> fmt::Result {
    let precision = conversion.precision;
    match (arg, conversion.verb) {
        (Arg::Str(text), _) => match precision {
            Some(chars) => {
                text.chars().take(chars as usize).try_for_each(|char| out.write_char(char))
            }
            None => out.write_str(text),
        },
        (Arg::Int(value), Verb::Octal) => write!(out, "{:o}", value as u64),
        (Arg::Int(value), Verb::Hex) => write!(out, "{:x}", value as u64),
        (Arg::Int(value), _) => write!(out, "{value}"),
        (Arg::Uint(value), Verb::Octal) => write!(out, "{value:o}"),
        (Arg::Uint(value), Verb::Hex) => write!(out, "{value:x}"),
        (Arg::Uint(value), _) => write!(out, "{value}"),
        (Arg::Float(value), Verb::Exponent) => float::exponent(out, value, precision.unwrap_or(6)),
        (Arg::Float(value), Verb::General) => float::general(out, value, precision.unwrap_or(6)),
        (Arg::Float(value), _) => float::fixed(out, value, precision.unwrap_or(6)),
        (Arg::Bool(value), _) => out.write_str(if value { "true" } else { "false" }),
    }
}

/// Counts characters and detects a leading minus sign.
#[derive(Default)]
struct Measure {
    chars: usize,
    negative: bool,
}

impl Write for Measure {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.negative |= self.chars == 0 && text.starts_with('-');
        self.chars += text.chars().count();
        Ok(())
    }
}

/// Passes on everything but, if `skip` is set, the first character.
struct SkipSign<'a> {
    out: &'a mut dyn Write,
    skip: bool,
}

impl Write for SkipSign<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let from = (self.skip && !text.is_empty()) as usize; // The sign is ASCII.
        self.skip &= text.is_empty();
        self.out.write_str(&text[from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamKind;
    use std::string::String;

    fn check(template: &str, args: &[Arg<'_>], expected: &str) {
        let mut text = String::new();
        let mut args = args.iter().copied();
        render(&mut text, &Template::parse(template).unwrap(), |_| args.next()).unwrap();
        assert_eq!(text, expected, "{template}");
    }

    #[test]
    fn bare_forms_print_as_trace_processor_does() {
        let int = Arg::Int;
        check(
            "%b %d %% 0x%x %s",
            &[Arg::Bool(true), int(10000), int(30000), Arg::Str("test")],
            "true 10000 % 0x7530 test",
        );
        check("%s, %d, %o, %x", &[Arg::Str("test"), int(1), int(2), int(3)], "test, 1, 2, 3");
        check(
            "%f, %e, %g, %b",
            &[Arg::Float(0.4), Arg::Float(0.5), Arg::Float(0.6), Arg::Bool(true)],
            "0.400000, 5.000000e-01, 0.6, true",
        );
        check("%x %o", &[int(-1), int(-1)], "ffffffffffffffff 1777777777777777777777");
        check(
            "%d %x",
            &[Arg::Uint(u64::MAX), Arg::Uint(u64::MAX)],
            "18446744073709551615 ffffffffffffffff",
        );
        check("%d", &[int(i64::MIN)], "-9223372036854775808");
    }

    #[test]
    fn width_pads_on_the_left() {
        check(
            "[%5d][%05d][%05d]",
            &[Arg::Int(42), Arg::Int(42), Arg::Int(-42)],
            "[   42][00042][-0042]",
        );
        check("[%2d][%02d]", &[Arg::Int(1234), Arg::Int(-1234)], "[1234][-1234]");
        check(
            "[%6b][%6s][%3s]",
            &[Arg::Bool(true), Arg::Str("größ"), Arg::Str("larger")],
            "[  true][  größ][larger]",
        );
        check(
            "[%8.3f][%08.2f]",
            &[Arg::Float(3.14259), Arg::Float(-3.14259)],
            "[   3.143][-0003.14]",
        );
        check("[%08x][%4x]", &[Arg::Int(0xbeef), Arg::Int(-1)], "[0000beef][ffffffffffffffff]");
        check(
            "[%05f][%06e]",
            &[Arg::Float(f64::NEG_INFINITY), Arg::Float(f64::NAN)],
            "[ -inf][   nan]",
        );
        check("[%255d]", &[Arg::Int(7)], &std::format!("[{:>255}]", 7));
    }

    #[test]
    fn precision_truncates_strings() {
        check(
            "[%.2s][%6.3s][%.0s]",
            &[Arg::Str("größe"), Arg::Str("abcdef"), Arg::Str("x")],
            "[gr][   abc][]",
        );
    }

    #[test]
    fn missing_and_unfitting_arguments_are_shown() {
        check("%d %s", &[Arg::Int(1)], "1 [MISSING_PARAM]");
        check("%s %d %b", &[Arg::Int(1), Arg::Str("x"), Arg::Float(0.5)], "1 x 0.500000");
    }

    #[test]
    fn numbers_are_printed_as_by_another_printf() {
        let mut lines = include_str!("../testdata/numbers.tsv").lines();
        assert_eq!(lines.next(), Some("conversion\tbits\ttext"));
        let mut count = 0;
        for line in lines {
            let fields: std::vec::Vec<&str> = line.split('\t').collect();
            let bits = u64::from_str_radix(fields[1], 16).unwrap();
            let arg = match Template::parse(fields[0]).unwrap().mask().kind(0) {
                Some(ParamKind::Float) => Arg::Float(f64::from_bits(bits)),
                _ => Arg::Int(bits as i64),
            };
            check(fields[0], &[arg], fields[2]);
            count += 1;
        }
        assert!(count > 500);
    }
}
