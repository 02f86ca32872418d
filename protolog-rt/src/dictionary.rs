//! The dictionary that the program carries: the notes of its calls, of all images that are loaded.
//!
//! Invariant: what a note says is borrowed for the time of one call, since a library may be unloaded after it.

use crate::site::for_each_note_segment;
use protolog_core::note::{Note, Parsed};

/// Calls `f` with the note of each log call in the program and in the libraries that it has loaded. A call that stands in
/// one image only is named once; the same call in two images is named twice. `f` must not load or unload a library.
pub(crate) fn for_each_note(f: &mut dyn FnMut(&Note<'_>)) {
    for_each_note_segment(&mut |segment| {
        let mut rest = segment;
        while let Some((parsed, after)) = Note::parse(rest) {
            if let Parsed::Note(note) = parsed {
                f(&note);
            }
            rest = after;
        }
    });
}
