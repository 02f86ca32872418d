//! Systems without ELF notes, where each copy stays apart without knowing of others.

use crate::sys::modules;

/// The first copy of the process, which is not found.
pub(super) struct First {
    pub(super) version: u32,
    pub(super) address: usize,
    pub(super) module: String,
}

pub(super) fn first_copy() -> Option<First> {
    None
}

/// Returns the paths of the modules that have another version of the runtime inside: none is known.
pub(crate) fn modules_apart() -> Vec<String> {
    Vec::new()
}

/// As [`modules::for_each_note_segment`].
pub(crate) fn for_each_reached_note_segment(f: &mut dyn FnMut(&[u8])) {
    modules::for_each_note_segment(f);
}
