//! `\u` escapes, which Java translates before anything else: in names, and even as brackets, quotes
//! and line ends.
//!
//! ```text
//! Proto\u004cog.d(NET, "x") \u007d      is      ProtoLog.d(NET, "x") }
//! ```
//!
//! Files whose tokens are the same either way are read as they are, since literals translate their
//! own escapes. The others are translated as a whole, and findings in the translation are mapped
//! back to the file.

use super::lexer::{self, TokenKind};
use memchr::memmem::{self, Finder};
use std::ops::Range;

/// A text without `\u` escapes, and where its bytes come from.
#[derive(Clone, Debug)]
pub(crate) struct Translated {
    pub(crate) bytes: Vec<u8>,
    stretches: Vec<Stretch>,
}

/// Bytes that correspond one to one, up to the next stretch; of an escape all to its first byte.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    translated: usize,
    original: usize,
    is_escape: bool,
}

impl Translated {
    /// The translation of `text`, if reading it as it is would give other tokens.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        memmem::find(text, b"\\u")?;
        let matters = lexer::tokens(text).any(|token| match token.kind {
            TokenKind::Word => memchr::memchr(b'\\', &text[token.range()]).is_some(),
            TokenKind::Literal | TokenKind::Comment => hides_syntax(&text[token.range()]),
            TokenKind::Punct(_) => false,
        });
        matters.then(|| Self::all(text))
    }

    fn all(text: &[u8]) -> Self {
        let first = Stretch { translated: 0, original: 0, is_escape: false };
        let (mut bytes, mut stretches) = (Vec::with_capacity(text.len()), vec![first]);
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &text[at..]) {
            let escape = at + found;
            bytes.extend_from_slice(&text[at..escape]);
            let Some((char, length)) = char_of(&text[escape..]) else {
                // Only the second of two backslashes could still begin an escape, and must not.
                let kept = if text.get(escape + 1) == Some(&b'\\') { 2 } else { 1 };
                bytes.extend_from_slice(&text[escape..escape + kept]);
                at = escape + kept;
                continue;
            };
            let stretch =
                |translated, original, is_escape| Stretch { translated, original, is_escape };
            stretches.push(stretch(bytes.len(), escape, true));
            bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            at = escape + length;
            stretches.push(stretch(bytes.len(), at, false));
        }
        bytes.extend_from_slice(&text[at..]);
        Self { bytes, stretches }
    }

    /// Where the byte at `offset` of the translation comes from.
    pub(crate) fn origin(&self, offset: usize) -> usize {
        let next = self.stretches.partition_point(|stretch| stretch.translated <= offset);
        let stretch = self.stretches[next - 1];
        if stretch.is_escape {
            stretch.original
        } else {
            stretch.original + offset - stretch.translated
        }
    }

    /// Where the bytes `range` come from.
    pub(crate) fn origins(&self, range: Range<usize>) -> Range<usize> {
        let start = self.origin(range.start);
        start..self.origin(range.end).max(start)
    }
}

/// Looks for a name that is spelt with escapes.
#[derive(Clone, Debug)]
pub(crate) struct Spelling {
    any: Finder<'static>,
    /// The beginnings of escapes of ASCII.
    ascii: [Finder<'static>; 2],
}

impl Spelling {
    /// Made once, since every byte of every file is looked at.
    pub(crate) fn new() -> Self {
        Self { any: Finder::new("\\u"), ascii: [Finder::new("\\u00"), Finder::new("\\uu")] }
    }

    /// Returns whether `name`, which is ASCII, is spelt with an escape or several somewhere in
    /// `text`.
    pub(crate) fn has(&self, text: &[u8], name: &[u8]) -> bool {
        // Few files have escapes, and most of those are tables of other alphabets.
        let Some(first) = self.any.find(text) else { return false };
        let escapes = self.ascii.iter().flat_map(|escape| escape.find_iter(&text[first..]));
        let mut letters = escapes.filter_map(|after| {
            let at = first + after;
            let (unit, _) = code_unit(&text[at..])?;
            Some((at, u8::try_from(unit).ok()?))
        });
        letters.any(|(at, letter)| {
            // If this is the first escape in the name, the part before it is spelt plainly.
            let places = name.iter().enumerate().filter(|(_, byte)| **byte == letter);
            let mut starts = places.filter_map(|(before, _)| at.checked_sub(before));
            starts.any(|start| is_spelt(&text[start..], name))
        })
    }
}

/// Returns whether `text` begins with `name`, spelt with or without escapes.
fn is_spelt(text: &[u8], name: &[u8]) -> bool {
    let mut rest = text;
    name.iter().all(|byte| {
        let (char, length) = match code_unit(rest) {
            Some((unit, length)) => (u8::try_from(unit).ok(), length),
            None => (rest.first().copied(), rest.len().min(1)),
        };
        rest = &rest[length..];
        char == Some(*byte)
    })
}

/// The character of the escape or the pair of escapes that `text` begins with, and their length.
/// None for half of a surrogate pair.
fn char_of(text: &[u8]) -> Option<(char, usize)> {
    let (first, length) = code_unit(text)?;
    let second = code_unit(&text[length..]);
    let units = [first].into_iter().chain(second.map(|(unit, _)| unit));
    let char = char::decode_utf16(units).next()?.ok()?;
    let rest = second.filter(|_| char.len_utf16() == 2).map_or(0, |(_, length)| length);
    Some((char, length + rest))
}

/// The UTF-16 code unit of the `\u` escape that `text` begins with, and the escape's length.
pub(crate) fn code_unit(text: &[u8]) -> Option<(u16, usize)> {
    let after = text.strip_prefix(b"\\u")?;
    let more = after.iter().take_while(|byte| **byte == b'u').count();
    let digits = after.get(more..more + 4)?;
    let value = digits.iter().try_fold(0, |value, digit| {
        char::from(*digit).to_digit(16).map(|digit| value * 16 + digit as u16)
    });
    value.map(|value| (value, more + 6))
}

/// Returns whether escapes in `text` stand for characters that could end a literal, a comment or a
/// line, or begin one.
pub(crate) fn hides_syntax(text: &[u8]) -> bool {
    memmem::find_iter(text, b"\\u").any(|at| {
        let char = code_unit(&text[at..]).and_then(|(unit, _)| u8::try_from(unit).ok());
        matches!(char, Some(b'"' | b'\'' | b'\\' | b'/' | b'*' | b'\n' | b'\r'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_what_changes_tokens() {
        for (text, expected) in [
            (r"Proto\u004cog", Some("ProtoLog")),
            (r"{ \u007d", Some("{ }")),
            (r#""a\u0022 + b"#, Some(r#""a" + b"#)),
            (r"a // \u000a b", Some("a // \n b")),
            (r"\uuu0061\\u0062 \ud83d\ude00", Some("a\\\\u0062 😀")),
            (r#""\u0041" // \u00e9"#, None),
            (r#""C:\\user""#, None),
            (r"plain", None),
        ] {
            let translated = Translated::of(text.as_bytes());
            let actual = translated.map(|text| String::from_utf8(text.bytes).unwrap());
            assert_eq!(actual.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn names_may_be_spelt_with_escapes() {
        for (text, expected) in [
            (r"Proto\u004cog", true),
            (r"x \u0050rot\uu006f\u004cog.d", true),
            (r"Prot\u0065Log ProtoLo\u0067", true),
            (r"\n \u0100 \u0050\u0072\u006f\u0074\u006f\u004c\u006f\u0067", true),
            (r"ProtoLog \u004c Proto \u004cog", false),
            (r"oto\u004cog", false),
            (r"ProtoL\u006f", false),
        ] {
            assert_eq!(Spelling::new().has(text.as_bytes(), b"ProtoLog"), expected, "{text}");
        }
    }

    #[test]
    fn offsets_lead_back() {
        let text = r"a\u00e9b\u0063d";
        let translated = Translated::of(text.as_bytes()).unwrap();
        assert_eq!(translated.bytes, "aébcd".as_bytes());
        assert_eq!([0, 1, 3, 4, 5, 6].map(|at| translated.origin(at)), [0, 1, 7, 8, 14, 15]);
        assert_eq!(translated.origins(1..5), 1..14);
    }
}
