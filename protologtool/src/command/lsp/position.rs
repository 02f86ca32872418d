//! Places in a document, as the protocol counts them: lines from 0, and in a line units of the
//! encoding that was agreed on.

use crate::source::Source;
use lsp_types::{Position, PositionEncodingKind, Range};

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// Bytes if the client can count them, else the units that every client knows.
    pub(super) fn of(known: Option<&[PositionEncodingKind]>) -> Self {
        let knows = known.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8));
        if knows { Self::Utf8 } else { Self::Utf16 }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
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
pub(super) fn position(source: &Source, offset: usize, encoding: Encoding) -> Position {
    let line = source.line(offset.min(source.bytes().len()));
    let before = source.text(source.line_range(line).start..offset);
    let column: usize = before.chars().map(|char| encoding.units(char)).sum();
    Position::new(line as u32 - 1, column as u32)
}

/// The byte at a place; of a place behind a line's end, that end, and behind the last line, the end
/// of all.
pub(super) fn offset(source: &Source, position: Position, encoding: Encoding) -> usize {
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
pub(super) fn range(source: &Source, bytes: &std::ops::Range<usize>, encoding: Encoding) -> Range {
    let [start, end] = [bytes.start, bytes.end].map(|at| position(source, at, encoding));
    Range::new(start, end)
}
