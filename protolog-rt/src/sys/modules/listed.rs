//! Notes of a program whose sections are not in its memory: each call joins a list before `main`.
//!
//! Invariant: *listed*: a note in the list lives as long as the program, and is in it once.

use super::Found;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

static LIST: AtomicPtr<ListedNote> = AtomicPtr::new(ptr::null_mut());

/// The place of a note in the list.
#[derive(Debug)]
pub struct ListedNote {
    note: &'static [u8],
    next: AtomicPtr<ListedNote>,
}

impl ListedNote {
    /// A note that is in no list yet.
    pub const fn new(note: &'static [u8]) -> Self {
        Self { note, next: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Joins the list; called once.
    pub fn join(&'static self) {
        let own = ptr::from_ref(self).cast_mut();
        let first = LIST.swap(own, Ordering::Relaxed);
        self.next.store(first, Ordering::Relaxed);
    }
}

/// Calls `f` with each note.
pub(crate) fn for_each_note_segment(f: &mut dyn FnMut(&[u8])) {
    for_each_note_segment_at(&mut |_, note| f(note));
}

/// As [`for_each_note_segment`], with the address of the note.
pub(crate) fn for_each_note_segment_at(f: &mut dyn FnMut(usize, &[u8])) {
    let mut next = LIST.load(Ordering::Relaxed);
    // SAFETY: *listed*: null, or a place that lives as long as the program.
    while let Some(listed) = unsafe { next.as_ref() } {
        let note = listed.note;
        if !note.is_empty() {
            f(note.as_ptr().addr(), note);
        }
        next = listed.next.load(Ordering::Relaxed);
    }
}

/// Returns the number of modules that were ever loaded: there is one.
pub(crate) fn load_count() -> Option<u64> {
    Some(1)
}

/// Returns the id of the program's build, which has none.
pub(crate) fn build_id_of_program() -> Option<Vec<u8>> {
    None
}

/// Returns the module that has `address`: addresses of code are not known.
pub(crate) fn find(_: usize) -> Option<Found> {
    None
}
