//! The grammar of templates, the format strings of log calls.
//!
//! ```text
//! template   = { text | "%%" | conversion }
//! conversion = "%" [ "0" ] [ width ] [ "." precision ] verb
//! verb       = "d" | "o" | "x"      integer: decimal, octal, hexadecimal
//!            | "f" | "e" | "g"      float
//!            | "b"                  boolean
//!            | "s"                  string
//! ```
//!
//! A width is 1 to 255, with zero padding for numbers if wanted. A precision is 0 to 255, for
//! floats (digits) and strings (maximum characters). All other conversions of printf or
//! java.util.Formatter are refused, with position and reason. Perfetto's trace_processor
//! understands only the *bare* form, without padding, width and precision; see [`Template::bare`].
//!
//! Invariant: a [`Template`] is valid, so walking its [`Piece`]s cannot fail, and it has at most
//! [`MAX_PARAMS`] conversions.

use crate::{MAX_PARAMS, ParamKind, ParamMask, TemplateError, TemplateProblem};
use core::{fmt, ops::Range};

/// A valid template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template<'a> {
    text: &'a str,
    params: u8,
    mask: ParamMask,
}

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Literal text. Never empty.
    Text(&'a str),
    /// `%%`, which prints one per cent sign.
    Percent,
    /// A conversion, which prints the next argument.
    Conversion(Conversion),
}

/// One conversion, such as `%04d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The letter.
    pub verb: Verb,
    /// True if the conversion pads with zeros up to the width.
    pub zero_pad: bool,
    /// Minimum number of characters; 0 if not given.
    pub width: u8,
    /// Digits after the point (`%f %e`), significant digits (`%g`) or maximum characters (`%s`), if
    /// given.
    pub precision: Option<u8>,
    /// Byte offset in the template of the `%`.
    pub start: usize,
    /// Byte offset in the template of the end of the conversion.
    pub end: usize,
}

impl Conversion {
    /// The range of the conversion in the template, in bytes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// True if the conversion is only a `%` and a verb.
    pub fn is_bare(&self) -> bool {
        self.end - self.start == 2
    }
}

/// The letter of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `%d`
    Decimal,
    /// `%o`
    Octal,
    /// `%x`
    Hex,
    /// `%f`
    Fixed,
    /// `%e`
    Exponent,
    /// `%g`
    General,
    /// `%b`
    Bool,
    /// `%s`
    Str,
}

impl Verb {
    /// The kind of the conversion's argument on the wire.
    pub const fn kind(self) -> ParamKind {
        match self {
            Self::Decimal | Self::Octal | Self::Hex => ParamKind::Int,
            Self::Fixed | Self::Exponent | Self::General => ParamKind::Float,
            Self::Bool => ParamKind::Bool,
            Self::Str => ParamKind::Str,
        }
    }

    /// The letter.
    pub const fn letter(self) -> char {
        match self {
            Self::Decimal => 'd',
            Self::Octal => 'o',
            Self::Hex => 'x',
            Self::Fixed => 'f',
            Self::Exponent => 'e',
            Self::General => 'g',
            Self::Bool => 'b',
            Self::Str => 's',
        }
    }

    const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'd' => Self::Decimal,
            b'o' => Self::Octal,
            b'x' => Self::Hex,
            b'f' => Self::Fixed,
            b'e' => Self::Exponent,
            b'g' => Self::General,
            b'b' => Self::Bool,
            b's' => Self::Str,
            _ => return None,
        })
    }
}

impl<'a> Template<'a> {
    /// Parses `text` as a template.
    pub fn parse(text: &'a str) -> Result<Self, TemplateError> {
        let mut template = Self { text, params: 0, mask: ParamMask::EMPTY };
        let mut at = 0;
        while let Some((piece, next)) = piece(text, at)? {
            if let Piece::Conversion(conversion) = piece {
                let mask = template.mask.with(template.params as usize, conversion.verb.kind());
                template.mask = mask.ok_or(TemplateError::new(
                    TemplateProblem::TooManyConversions,
                    conversion.range(),
                ))?;
                template.params += 1;
            }
            at = next;
        }
        debug_assert!(template.len() <= MAX_PARAMS);
        Ok(template)
    }

    /// The whole text.
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// Number of arguments that the template takes.
    pub const fn len(&self) -> usize {
        self.params as usize
    }

    /// True if the template takes no argument.
    pub const fn is_empty(&self) -> bool {
        self.params == 0
    }

    /// The kinds of the arguments.
    pub const fn mask(&self) -> ParamMask {
        self.mask
    }

    /// The parts of the template, in order.
    pub fn pieces(&self) -> Pieces<'a> {
        Pieces { text: self.text, at: 0 }
    }

    /// The conversions of the template, in order.
    pub fn conversions(&self) -> impl Iterator<Item = Conversion> + use<'a> {
        self.pieces().filter_map(|piece| match piece {
            Piece::Conversion(conversion) => Some(conversion),
            _ => None,
        })
    }

    /// The template with each conversion reduced to its verb, `%04d` to `%d`: the only form that
    /// Perfetto's trace_processor understands. It prints any other conversion literally *and does
    /// not consume the value*.
    pub fn bare(&self) -> impl fmt::Display + use<'a> {
        Bare(*self)
    }

    /// True if the template is its own bare form.
    pub fn is_bare(&self) -> bool {
        self.conversions().all(|conversion| conversion.is_bare())
    }
}

/// Iterator over the [`Piece`]s of a [`Template`].
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        // `Template::parse` accepted the same text, so there is no error here; it would only end
        // the iteration.
        let (piece, next) = piece(self.text, self.at).ok()??;
        self.at = next;
        Some(piece)
    }
}

struct Bare<'a>(Template<'a>);

impl fmt::Display for Bare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.pieces().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Percent => f.write_str("%%"),
            Piece::Conversion(conversion) => write!(f, "%{}", conversion.verb.letter()),
        })
    }
}

/// The piece at `at`, and the offset of the next one.
fn piece(text: &str, at: usize) -> Result<Option<(Piece<'_>, usize)>, TemplateError> {
    let rest = &text[at..];
    match rest.find('%') {
        None if rest.is_empty() => Ok(None),
        None => Ok(Some((Piece::Text(rest), text.len()))),
        Some(0) => conversion(text, at).map(Some),
        Some(length) => Ok(Some((Piece::Text(&rest[..length]), at + length))),
    }
}

/// The conversion, or the escaped per cent sign, that begins at `start`.
fn conversion(text: &str, start: usize) -> Result<(Piece<'_>, usize), TemplateError> {
    let bytes = text.as_bytes();
    let at = |at: usize| bytes.get(at).copied();
    let error = |problem, end: usize| Err(TemplateError::new(problem, start..end));
    if at(start + 1) == Some(b'%') {
        return Ok((Piece::Percent, start + 2));
    }
    let zero_pad = at(start + 1) == Some(b'0');
    let Some((width, width_end)) = number(bytes, start + 1 + zero_pad as usize) else {
        return error(TemplateProblem::TooWide, digits_end(bytes, start + 1));
    };
    let mut end = width_end;
    let mut precision = None;
    if at(end) == Some(b'.') {
        match number(bytes, end + 1) {
            Some((Some(digits), after)) => (precision, end) = (Some(digits), after),
            Some((None, after)) => {
                return error(TemplateProblem::of_point(&text[start..]), after);
            }
            None => return error(TemplateProblem::TooPrecise, digits_end(bytes, end + 1)),
        }
    }
    let Some(letter) = text[end..].chars().next() else {
        return error(TemplateProblem::Unfinished, end);
    };
    let problem_end = end + letter.len_utf8();
    let Some(verb) = u8::try_from(letter).ok().and_then(Verb::from_letter) else {
        return error(
            TemplateProblem::of_letter(letter, end == start + 1, &text[start..]),
            problem_end,
        );
    };
    let numeric = !matches!(verb, Verb::Str | Verb::Bool);
    if zero_pad && (!numeric || width.is_none()) {
        let problem =
            if numeric { TemplateProblem::ZeroWithoutWidth } else { TemplateProblem::ZeroPadsText };
        return error(problem, problem_end);
    }
    if precision.is_some() && matches!(verb.kind(), ParamKind::Int | ParamKind::Bool) {
        return error(TemplateProblem::PrecisionOfInteger, problem_end);
    }
    let width = width.unwrap_or(0);
    let end = problem_end;
    Ok((Piece::Conversion(Conversion { verb, zero_pad, width, precision, start, end }), end))
}

/// The number of up to 255 at `start` (none if there is no digit), and the offset of its end. None
/// if it is larger.
fn number(bytes: &[u8], start: usize) -> Option<(Option<u8>, usize)> {
    let end = digits_end(bytes, start);
    let add = |sum: u8, digit: &u8| sum.checked_mul(10)?.checked_add(digit - b'0');
    let number = bytes[start..end].iter().try_fold(0u8, add)?;
    Some(((end > start).then_some(number), end))
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, string::ToString, vec::Vec};

    #[test]
    fn pieces_cover_the_text() {
        let template = Template::parse("a %04d%% b%s%10b%8.3f €").unwrap();
        let pieces: Vec<_> = template.pieces().collect();
        assert_eq!(pieces.len(), 8);
        assert_eq!(
            (pieces[0], pieces[2], pieces[3]),
            (Piece::Text("a "), Piece::Percent, Piece::Text(" b"))
        );
        let shown: Vec<_> = template
            .conversions()
            .map(|c| (&template.text()[c.range()], c.width, c.precision))
            .collect();
        assert_eq!(
            shown,
            [("%04d", 4, None), ("%s", 0, None), ("%10b", 10, None), ("%8.3f", 8, Some(3))]
        );
        assert_eq!(template.bare().to_string(), "a %d%% b%s%b%f €");
        assert!(!template.is_bare() && Template::parse("%d %%").unwrap().is_bare());
        let bare: Vec<_> = template.conversions().map(|c| c.is_bare()).collect();
        assert_eq!(bare, [false, true, false, false]);
        assert!(!template.is_empty() && Template::parse("100 %%").unwrap().is_empty());
    }

    #[test]
    fn kinds_make_the_mask() {
        for (text, params, mask) in [
            ("", 0, 0),
            ("%%", 0, 0),
            ("%s", 1, 0),
            ("test %d %f", 2, 9),
            ("%s, %d, %o, %x, %f, %e, %g, %b", 8, 0b1110101001010100),
        ] {
            let template = Template::parse(text).unwrap();
            assert_eq!((template.len(), template.mask().bits()), (params, mask), "{text}");
        }
        let full = "%b".repeat(32);
        assert_eq!(Template::parse(&full).unwrap().mask().bits(), u64::MAX);
    }

    /// Invalid templates, each with the part that the error quotes and the message.
    const REFUSED: &[(&str, &str, &str)] = &[
        ("50%", "%", "unfinished conversion `%`"),
        ("%", "%", "unfinished conversion `%`"),
        ("a %5", "%5", "unfinished conversion `%5`"),
        ("%.3", "%.3", "unfinished conversion `%.3`"),
        ("ab %q c", "%q", "unknown conversion `%q`"),
        ("%D", "%D", "unknown conversion `%D`"),
        ("%é", "%é", "unknown conversion `%é`"),
        ("%ld", "%l", "unknown conversion `%l`"),
        ("%i", "%i", "unknown conversion `%i`"),
        ("100% done %d", "% ", "per cent sign that begins no conversion: `% `"),
        ("100%, done", "%,", "per cent sign that begins no conversion: `%,`"),
        ("(5%)", "%)", "per cent sign that begins no conversion: `%)`"),
        ("5%-ish", "%-", "per cent sign that begins no conversion: `%-`"),
        ("5%. Or", "%.", "per cent sign that begins no conversion: `%.`"),
        ("%-5d", "%-", "flag in conversion `%-`"),
        ("%+d", "%+", "flag in conversion `%+`"),
        ("%5-d", "%5-", "unknown conversion `%5-`"),
        ("%0%", "%0%", "width on `%0%`"),
        ("%.3%", "%.3%", "width on `%.3%`"),
        ("%#x", "%#", "flag in conversion `%#`"),
        ("%,d", "%,", "flag in conversion `%,`"),
        ("%1$s", "%1$", "argument index in conversion `%1$`"),
        ("%*d", "%*", "width from an argument in conversion `%*`"),
        ("%5%", "%5%", "width on `%5%`"),
        ("%0d", "%0d", "zero padding without a width in conversion `%0d`"),
        ("%05s", "%05s", "zero padding of text in conversion `%05s`"),
        ("%03b", "%03b", "zero padding of text in conversion `%03b`"),
        ("%.2d", "%.2d", "precision in conversion `%.2d`"),
        ("%5.1x", "%5.1x", "precision in conversion `%5.1x`"),
        ("%.f", "%.", "no digits after the point in conversion `%.`"),
        ("%256d", "%256", "width over 255 in conversion `%256`"),
        (
            "%99999999999999999999d",
            "%99999999999999999999",
            "width over 255 in conversion `%99999999999999999999`",
        ),
        ("%.256f", "%.256", "precision over 255 in conversion `%.256`"),
    ];

    #[test]
    fn errors_quote_the_offending_part() {
        for (text, part, message) in REFUSED {
            let error = Template::parse(text).expect_err(text);
            assert_eq!(
                (&text[error.range()], error.message(text).to_string().as_str()),
                (*part, *message),
                "{text}"
            );
            let help = error.help(text).to_string();
            assert!(!help.is_empty() && !help.ends_with('.'), "{text}: {help}");
        }
        let many = "%d".repeat(33);
        let error = Template::parse(&many).unwrap_err();
        assert_eq!((error.range(), error.column(&many)), (64..66, 65));
    }

    /// Conversions of other languages, and their replacements.
    #[test]
    fn help_names_the_conversion_that_prints_the_same() {
        let percent = "write `%%` for a per cent sign";
        for (text, expected) in [
            ("%u", "write `%d`, which takes integers of every size"),
            ("%i", "write `%d`, which takes integers of every size"),
            ("%lld", "write `%d`"),
            ("%08lx", "write `%08x`"),
            ("%zu", "write `%d`, which takes integers of every size"),
            ("%z", "write `%d`, which takes integers of every size"),
            ("%lf", "write `%f`"),
            ("%X", "write `%x`, which prints lower case"),
            ("%08X", "write `%08x`, which prints lower case"),
            ("%.3F", "write `%.3f`"),
            ("%c", "write `%s`, which takes everything that can be printed"),
            ("%5v", "write `%5s`, which takes everything that can be printed"),
            ("%p", "write `%x` and the address as an integer, `pointer.addr()`"),
            ("%-8s", "write `%8s`: a width aligns to the right, never to the left"),
            ("%-8.3s|", "write `%8.3s`: a width aligns to the right, never to the left"),
            ("%+d", "write `%d`: only negative numbers have a sign"),
            ("%+.2f", "write `%.2f`: only negative numbers have a sign"),
            ("%,d", "write `%d`: digits are not grouped"),
            ("%(d", "write `%d`: negative numbers have a minus sign"),
            ("%#x", "write `0x%x`: a prefix stands in the template"),
            ("%#010x", "write `0x%08x`: a prefix stands in the template"),
            (
                "%#.3i",
                "write `%d`, which takes integers of every size: a prefix stands in the template",
            ),
            ("100%", "write `%%` for a per cent sign, or add one of `b d o x f e g s`"),
            ("100% done %d", percent),
            ("100% of", percent),
            ("5%-ish", percent),
            ("5%, or 6", percent),
            ("50%. Or", percent),
            ("50%\n", percent),
            ("%.f", "write digits after the point, as in `%.3f`"),
            ("%k", "use one of `%b %d %o %x %f %e %g %s`, or `%%` for a per cent sign"),
            ("50%item", "use one of `%b %d %o %x %f %e %g %s`, or `%%` for a per cent sign"),
        ] {
            let error = Template::parse(text).expect_err(text);
            assert_eq!(error.help(text).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn columns_count_characters() {
        let text = "größe %q";
        let error = Template::parse(text).unwrap_err();
        assert_eq!((error.range().start, error.column(text)), (8, 7));
        assert_eq!(format!("{error}"), "unknown conversion at byte 8 of the template");
    }

    #[test]
    fn leading_zeros_are_padding_then_width() {
        let conversion = Template::parse("%007d").unwrap().conversions().next().unwrap();
        assert_eq!((conversion.zero_pad, conversion.width), (true, 7));
    }
}
