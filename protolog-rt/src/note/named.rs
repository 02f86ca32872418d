//! The note of a call whose arguments have names.
//!
//! Most calls have none, and the compiler pays for each statement of a constant. So names are a
//! part of the template to [`new_note`], and only this function knows of them.

use super::{GroupDef, NoteBytes, new_note};
use protolog_core::Level;
use protolog_core::note::HAS_NAMES_AT;

/// As [`new_note`], for a call with names of arguments: behind the template, after a NUL, stand the
/// names, and `template` counts both.
pub const fn new_named_note<const N: usize>(
    group: &GroupDef,
    level: Level,
    texts: &str,
    template: usize,
    mask: u64,
    file: &str,
    line: u32,
) -> NoteBytes<[u8; N]> {
    let mut note = new_note(group, level, texts, template, mask, file, line);
    if N > 0 {
        note.0[HAS_NAMES_AT] = 1;
    }
    note
}

/// Returns the bytes of a note, for a list of them.
#[cfg(target_family = "wasm")]
pub const fn bytes_of(note: &'static NoteBytes<[u8]>) -> &'static [u8] {
    &note.0
}
