//! The texts that a thread's chunk has already, so that a message that repeats one names it instead of bringing it again.
//!
//! A small table, direct-mapped by a hash of a text's length, beginning and end. An entry says where in the chunk the text
//! stands; whether it is the same one is told by comparing all of its bytes with those there. So a text in a buffer that is
//! used again and again is never taken for the one before it, equal texts at several addresses are one, and the thread
//! needs no memory for texts but that of the chunk.
//!
//! Invariants
//! - *entries*: an entry that is not [`EMPTY`] names bytes of the chunk that begins at `start`, which this thread has
//!   written: whoever begins a chunk calls [`Texts::begin`] first.
//! - *there*: they are compared only while the chunk is the thread's ([`super`]: *chunk*), so nobody changes them.
#![allow(unsafe_code)] // Committed bytes of the chunk are read through pointers.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

use super::cursor::ends;
use crate::shmem::buffer::MAX_PAYLOAD;

/// Entries of the table: as many as a chunk of 4 KiB has short texts, about; 512 bytes.
const ENTRIES: usize = 64;

// A hash's top bits are the entry's number.
const SHIFT: u32 = u64::BITS - ENTRIES.ilog2();

/// A text in the chunk.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))] // One load.
struct Entry {
    at: u16,
    len: u16,
    iid: u16,
}

/// No text: longer than any that a chunk has room for.
const EMPTY: Entry = Entry { at: 0, len: u16::MAX, iid: 0 };

const _: () = assert!(MAX_PAYLOAD < u16::MAX as usize, "places and lengths take 16 bits");

/// See the module.
#[derive(Debug)]
pub struct Texts {
    start: *const u8,
    entries: [Entry; ENTRIES],
}

/// What the table said of a text.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Whether the chunk has it.
    pub(super) is_known: bool,
    /// Its id there.
    iid: u16,
    /// Its entry; [`NOWHERE`] where it gets none.
    slot: u16,
}

const NOWHERE: u16 = ENTRIES as u16;

impl Seen {
    /// A text that gets an id of its own and is not remembered.
    pub(super) const FRESH: Self = Self { is_known: false, iid: 0, slot: NOWHERE };

    /// What `known` says of `text`, which is at most [`MAX_PAYLOAD`] bytes.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    pub(super) unsafe fn of(text: &str, known: Option<&Texts>) -> Self {
        match known {
            // SAFETY: as the caller's.
            Some(known) => unsafe { known.find(text.as_bytes()) },
            None => Self::FRESH,
        }
    }

    /// The text's id; `next` is that of the next new one.
    #[inline(always)]
    pub(super) fn iid(self, next: u32) -> u32 {
        if self.is_known { self.iid.into() } else { next }
    }
}

impl Texts {
    /// No chunk.
    pub(super) const fn new() -> Self {
        Self { start: std::ptr::null(), entries: [EMPTY; ENTRIES] }
    }

    /// Begins with a chunk whose packets start at `start`.
    pub(super) fn begin(&mut self, start: *const u8) {
        *self = Self { start, ..Self::new() };
    }

    /// See [`Seen::of`].
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    unsafe fn find(&self, text: &[u8]) -> Seen {
        if let Some(ends) = ends::<8>(text) {
            let (first, last) = (u64::from_le_bytes(ends.0), u64::from_le_bytes(ends.1));
            let slot = slot(first.rotate_left(29) ^ last, text.len());
            // SAFETY: as the caller's, here and below.
            unsafe { self.look(slot, text, |there| self::ends(there) == Some(ends)) }
        } else if let Some(ends) = ends::<4>(text) {
            let (first, last) = (u32::from_le_bytes(ends.0), u32::from_le_bytes(ends.1));
            let slot = slot(u64::from(first) << 29 ^ u64::from(last), text.len());
            // SAFETY: as above.
            unsafe { self.look(slot, text, |there| self::ends(there) == Some(ends)) }
        } else {
            let word = text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
            // SAFETY: as above.
            unsafe { self.look(slot(word, text.len()), text, |there| there == text) }
        }
    }

    /// Whether the entry `slot` is that of `text`, whose beginning and end `has_ends` compares.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    unsafe fn look(&self, slot: usize, text: &[u8], has_ends: impl FnOnce(&[u8]) -> bool) -> Seen {
        let Entry { at, len, iid } = self.entries.get(slot).copied().unwrap_or(EMPTY);
        let slot = slot as u16;
        if usize::from(len) != text.len() {
            return Seen { is_known: false, iid, slot };
        }
        // SAFETY: *entries*.
        let place = unsafe { self.start.add(at.into()) };
        // SAFETY: *entries*: so many bytes stand there; *there*.
        let there = unsafe { std::slice::from_raw_parts(place, text.len()) };
        let is_known = has_ends(there) && (text.len() <= 16 || equal(text, there));
        Seen { is_known, iid, slot }
    }

    /// Notes that a text, of which [`Self::find`] said `seen`, was written at `at` under the id `iid`.
    #[inline(always)]
    pub(super) fn note(&mut self, seen: Seen, at: *const u8, len: usize, iid: u32) {
        if let Some(entry) = self.entries.get_mut(usize::from(seen.slot)) {
            let at = (at as usize).wrapping_sub(self.start as usize);
            *entry = Entry { at: at as u16, len: len as u16, iid: iid as u16 };
        }
    }
}

/// The entry of a text: texts that agree in length, beginning and end have the same one.
#[inline(always)]
fn slot(ends: u64, len: usize) -> usize {
    let mixed = (ends ^ len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> SHIFT) as usize
}

/// Whether two texts of the same length, of more than 16 bytes, are equal: for most of them no call.
#[inline(always)]
fn equal(text: &[u8], there: &[u8]) -> bool {
    if text.len() <= 32 {
        ends::<16>(text) == ends(there)
    } else if text.len() <= 64 {
        ends::<32>(text) == ends(there)
    } else {
        text == there
    }
}
