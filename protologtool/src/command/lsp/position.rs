//! Places in a document, as the protocol counts them: lines from 0, and in a line units of the
//! encoding that was agreed on.

use super::protocol::{LspPosition, LspRange};
use crate::source::Source;

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// Bytes if the client can count them, else the units that every client knows.
    pub(super) fn of(known: &[String]) -> Self {
        let knows = known.iter().any(|encoding| encoding == Self::Utf8.name());
        if knows { Self::Utf8 } else { Self::Utf16 }
    }

    /// The `PositionEncodingKind` of the protocol.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }

    fn units(self, char: char) -> usize {
        match self {
            Self::Utf8 => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
        }
    }
}

/// The place of the byte at `offset`.
pub(super) fn position(source: &Source, offset: usize, encoding: Encoding) -> LspPosition {
    let line = source.line(offset.min(source.bytes().len()));
    let before = source.text(source.line_range(line).start..offset);
    let column: usize = before.chars().map(|char| encoding.units(char)).sum();
    LspPosition { line: line as u32 - 1, character: column as u32 }
}

/// The byte at a place; of a place behind a line's end, that end, and behind the last line, the end
/// of all.
pub(super) fn offset(source: &Source, position: LspPosition, encoding: Encoding) -> usize {
    let line = position.line as usize + 1;
    if line > source.lines() {
        return source.bytes().len();
    }
    let range = source.line_range(line);
    let (mut left, mut at) = (position.character as usize, range.start);
    for char in source.text(range).chars() {
        let units = encoding.units(char);
        if left < units {
            break;
        }
        left -= units;
        at += char.len_utf8();
    }
    at
}

/// The places of a range of bytes.
pub(super) fn range(
    source: &Source,
    bytes: &std::ops::Range<usize>,
    encoding: Encoding,
) -> LspRange {
    let [start, end] = [bytes.start, bytes.end].map(|at| position(source, at, encoding));
    LspRange { start, end }
}
