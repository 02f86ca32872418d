//! The texts that the note of a span's call has, at run time: the names of its slices and their
//! arguments, which are in no other part of the program.

use super::NoteRef;
use protolog_core::note::{HEADER_SIZE, TEXTS_AT, TYPE};

/// The texts of a span's call, as its note has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpanTexts {
    /// The name of its slices.
    pub(crate) name: &'static [u8],
    /// The list of its arguments' names.
    pub(crate) names: &'static [u8],
}

impl NoteRef {
    /// Returns the texts of a span whose name is the first `name` bytes of its template, which has
    /// `template` bytes without the arguments' names. None without a note, or if it was stripped.
    pub(crate) fn span_texts(self, name: usize, template: usize) -> Option<SpanTexts> {
        let note = self.bytes();
        let number =
            |at: usize| note.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
        if note.get(8..12)? != TYPE.to_ne_bytes() {
            return None;
        }
        let start = TEXTS_AT + usize::from(number(HEADER_SIZE + 24)?) + 1;
        let texts = note.get(start..)?.get(..number(HEADER_SIZE + 26)?.into())?;
        let names = texts.get(template + 1..).unwrap_or_default();
        Some(SpanTexts { name: texts.get(..name)?, names })
    }
}
