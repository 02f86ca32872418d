//! The format strings of C's `printf`, and the templates that they become.
//!
//! Templates know fewer conversions than `printf`. One that both know is kept without its length
//! (`%5ld` becomes `%5d`); `%u` and `%i` become `%d`, `%c` becomes `%s`, and `%p` becomes `0x%x`.
//! Everything else, such as `%-8s`, `%+d`, `%#x`, `%X` or `%*d`, becomes `%s`: the program prints
//! that argument as `printf` does, and passes the text.
//!
//! Invariant: every text has a template; what is no conversion is text.

use core::fmt::{self, Write};

/// A part of a format string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintfPiece<'a> {
    /// Literal text. Never empty; has a per cent sign only if it is nothing else.
    Text(&'a str),
    /// `%%`, which prints one per cent sign.
    Percent,
    /// A conversion.
    Directive(Directive<'a>),
}

/// A conversion of `printf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// From the per cent sign to the letter.
    pub text: &'a str,
    /// The number of its argument, from 1, where it names one: `%2$d`.
    pub position: Option<u8>,
    /// Any of `-+ #0'I`.
    pub flags: &'a str,
    /// The width, if any.
    pub width: Option<Count>,
    /// The precision, if any.
    pub precision: Option<Count>,
    /// Bits of an integer argument after the promotions of C.
    pub bits: u32,
    /// True for `l`, which makes characters and texts wide.
    pub is_long: bool,
    /// The letter.
    pub letter: u8,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// A number.
    Number(u32),
    /// An argument of its own, `*`.
    Argument,
    /// The argument with this number, from 1: `*2$`.
    At(u8),
}

/// The way of a conversion's argument into the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// A signed integer of so many bits.
    Signed(u32),
    /// An unsigned integer of so many bits.
    Unsigned(u32),
    /// A float.
    Float,
    /// A text, of at most so many bytes.
    Text(Option<u32>),
    /// A character, as a text.
    Char,
    /// An address, as an unsigned integer.
    Pointer,
    /// The text of `errno`, which is no argument.
    ErrorText,
    /// An argument that is not printed: `%n`.
    Nothing,
    /// The text that `printf` makes of it.
    Printed,
}

impl Directive<'_> {
    /// Returns the way of the argument into the message.
    pub fn passing(&self) -> Passing {
        let is_small = |count: Option<Count>| match count {
            None => true,
            Some(Count::Number(number)) => u8::try_from(number).is_ok(),
            Some(Count::Argument | Count::At(_)) => false,
        };
        let zeros = self.flags.bytes().all(|flag| flag == b'0');
        let plain = is_small(self.width) && zeros;
        let plain_integer = plain && self.precision.is_none();
        let plain_text = is_small(self.width) && self.flags.is_empty() && !self.is_long;
        match self.letter {
            b'd' | b'i' if plain_integer => Passing::Signed(self.bits),
            b'u' | b'x' | b'o' if plain_integer => Passing::Unsigned(self.bits),
            b'f' | b'e' | b'g' if plain && is_small(self.precision) => Passing::Float,
            b's' if plain_text && is_small(self.precision) => {
                Passing::Text(self.precision.and_then(Count::number))
            }
            b'c' if plain_text && self.precision.is_none() => Passing::Char,
            b'p' if plain_text && self.width.is_none() && self.precision.is_none() => {
                Passing::Pointer
            }
            b'm' => Passing::ErrorText,
            b'n' => Passing::Nothing,
            _ => Passing::Printed,
        }
    }

    /// Writes the conversion of the template.
    fn write_template(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.passing() {
            Passing::Nothing => return Ok(()),
            Passing::Pointer => return to.write_str("0x%x"),
            Passing::Printed | Passing::ErrorText => return to.write_str("%s"),
            Passing::Signed(_) => 'd',
            Passing::Unsigned(_) if self.letter == b'u' => 'd',
            Passing::Text(_) | Passing::Char => 's',
            Passing::Unsigned(_) | Passing::Float => self.letter as char,
        };
        to.write_char('%')?;
        if let Some(width) = self.width.and_then(Count::number).filter(|width| *width > 0) {
            write!(to, "{}{width}", if self.flags.is_empty() { "" } else { "0" })?;
        }
        if let Some(precision) = self.precision.and_then(Count::number) {
            write!(to, ".{precision}")?;
        }
        to.write_char(letter)
    }
}

impl Count {
    /// Returns the number; none if it is an argument.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(number),
            Self::Argument | Self::At(_) => None,
        }
    }
}

/// Returns the template that a format string becomes.
pub fn template(format: &str) -> impl fmt::Display {
    AsTemplate(format)
}

struct AsTemplate<'a>(&'a str);

impl fmt::Display for AsTemplate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pieces(self.0).try_for_each(|piece| match piece {
            PrintfPiece::Text("%") | PrintfPiece::Percent => f.write_str("%%"),
            PrintfPiece::Text(text) => f.write_str(text),
            PrintfPiece::Directive(directive) => directive.write_template(f),
        })
    }
}

/// Iterates over the parts of a format string.
pub fn pieces(format: &str) -> PrintfPieces<'_> {
    PrintfPieces { rest: format }
}

/// Iterates over the conversions of a format string.
pub fn directives(format: &str) -> impl Iterator<Item = Directive<'_>> {
    let mut rest = format;
    core::iter::from_fn(move || {
        loop {
            let at = rest.bytes().position(|byte| byte == b'%')?;
            rest = &rest[at..];
            let is_percent = rest.as_bytes().get(1) == Some(&b'%');
            let found = if is_percent { None } else { directive(rest) };
            let length = found.map_or(1 + usize::from(is_percent), |found| found.text.len());
            rest = &rest[length..];
            if found.is_some() {
                return found;
            }
        }
    })
}

/// Iterator over the parts of a format string.
#[derive(Clone, Debug)]
pub struct PrintfPieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for PrintfPieces<'a> {
    type Item = PrintfPiece<'a>;

    fn next(&mut self) -> Option<PrintfPiece<'a>> {
        let text = self.rest;
        let (piece, length) = match text.find('%') {
            None if text.is_empty() => return None,
            None => (PrintfPiece::Text(text), text.len()),
            Some(0) if text.as_bytes().get(1) == Some(&b'%') => (PrintfPiece::Percent, 2),
            Some(0) => match directive(text) {
                Some(found) => (PrintfPiece::Directive(found), found.text.len()),
                None => (PrintfPiece::Text("%"), 1),
            },
            Some(length) => (PrintfPiece::Text(&text[..length]), length),
        };
        self.rest = &text[length..];
        Some(piece)
    }
}

/// Parses the conversion at the start of `text`; none if there is none.
fn directive(text: &str) -> Option<Directive<'_>> {
    let bytes = text.as_bytes();
    let run = |from: usize, set: &[u8]| {
        bytes.get(from..)?.iter().position(|byte| !set.contains(byte)).map(|length| from + length)
    };
    const DIGITS: &[u8] = b"0123456789";
    let mut at = 1;
    let digits = run(at, DIGITS)?;
    let mut position = None;
    if digits > at && bytes[digits] == b'$' {
        position = Some(text[at..digits].parse().ok().filter(|number| *number > 0)?);
        at = digits + 1;
    }
    let flags_end = run(at, b"-+ #0'I")?;
    let flags = &text[at..flags_end];
    let count = |at: usize| {
        if bytes.get(at) == Some(&b'*') {
            let end = run(at + 1, DIGITS)?;
            if end == at + 1 {
                return Some((Some(Count::Argument), end));
            }
            let number = text[at + 1..end].parse().ok().filter(|number| *number > 0)?;
            return (bytes[end] == b'$').then_some((Some(Count::At(number)), end + 1));
        }
        let end = run(at, DIGITS)?;
        let number = if end > at { Some(Count::Number(text[at..end].parse().ok()?)) } else { None };
        Some((number, end))
    };
    let (width, mut at) = count(flags_end)?;
    let mut precision = None;
    if bytes.get(at) == Some(&b'.') {
        let (number, end) = count(at + 1)?;
        (precision, at) = (Some(number.unwrap_or(Count::Number(0))), end);
    }
    let length_end = run(at, b"hlLqjzt")?;
    let bits = bits(&text[at..length_end])?;
    let is_long = &text[at..length_end] == "l";
    let letter = bytes[length_end];
    b"diouxXcspnmfFeEgGaASCbB".contains(&letter).then(|| Directive {
        text: &text[..=length_end],
        position,
        flags,
        width,
        precision,
        bits,
        is_long,
        letter,
    })
}

/// Returns the bits of an integer argument with this length.
fn bits(length: &str) -> Option<u32> {
    Some(match length {
        "" => 32,
        "hh" => 8,
        "h" => 16,
        "l" | "z" | "t" => usize::BITS,
        "ll" | "j" | "q" | "L" => 64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Template as CoreTemplate;
    use std::string::ToString;

    #[test]
    fn formats_become_templates() {
        for (format, expected) in [
            ("", ""),
            ("100%% of %s", "100%% of %s"),
            ("%d %i %u %ld %lld %lu %zu %jd %td %hhu", "%d %d %d %d %d %d %d %d %d %d"),
            ("%5d|%05lx|%o|%08llx", "%5d|%05x|%o|%08x"),
            ("%f %.3f %8.2e %g %Lf %lf %.f", "%f %.3f %8.2e %g %f %f %.0f"),
            ("%s %10s %.5s %c %3c", "%s %10s %.5s %s %3s"),
            ("%p", "0x%x"),
            ("%-8s|%+d|% d|%#x|%X|%.3d|%*d|%.*f", "%s|%s|%s|%s|%s|%s|%s|%s"),
            ("%E %G %a %F %ls %lc %S %256d %'d", "%s %s %s %s %s %s %s %s %s"),
            ("%m and %n.", "%s and ."),
            ("%2$s %1$d", "%s %d"),
            ("%1$*2$d %1$.*2$f %*2d", "%s %s %%*2d"),
            ("50% yes", "50%% yes"),
            ("50% sure", "50%sure"),
            ("%", "%%"),
            ("%5", "%%5"),
            ("%y %lly %", "%%y %%lly %%"),
            ("größe %d €", "größe %d €"),
            ("%0d", "%d"),
            ("%05s", "%s"),
        ] {
            let made = template(format).to_string();
            assert_eq!(made, expected, "{format}");
            assert!(CoreTemplate::parse(&made).is_ok(), "{format}");
        }
    }

    #[test]
    fn a_directive_has_its_parts() {
        let Some(PrintfPiece::Directive(it)) = pieces("%2$-+8.*hhd").next() else { panic!() };
        assert_eq!((it.position, it.flags, it.width), (Some(2), "-+", Some(Count::Number(8))));
        assert_eq!((it.precision, it.bits, it.letter), (Some(Count::Argument), 8, b'd'));
        assert_eq!((it.passing(), it.text), (Passing::Printed, "%2$-+8.*hhd"));
        let Some(PrintfPiece::Directive(it)) = pieces("%.7s").next() else { panic!() };
        assert_eq!(it.passing(), Passing::Text(Some(7)));
    }

    #[test]
    fn any_text_has_a_template() {
        let letters = "%*.$-+ 0123lhzLdsxn\u{e9}";
        let mut state = 1_u32;
        for _ in 0..20_000 {
            let mut text = std::string::String::new();
            for _ in 0..state % 9 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (state >> 16) as usize % letters.chars().count();
                text.extend(letters.chars().nth(at));
            }
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) | 1;
            let made = template(&text).to_string();
            assert!(CoreTemplate::parse(&made).is_ok(), "`{text}` became `{made}`");
            let of_pieces = pieces(&text).filter_map(|piece| match piece {
                PrintfPiece::Directive(directive) => Some(directive),
                _ => None,
            });
            assert!(of_pieces.eq(directives(&text)), "`{text}`");
        }
    }
}
