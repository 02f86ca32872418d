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

/// The most bytes of a text that is compared without a call.
pub(super) const SHORT: usize = 64;

/// A text in the chunk.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
struct Entry {
    at: u16,
    len: u16,
    /// Below 128, so that it takes one byte in a message too.
    iid: u8,
}

/// No text: longer than any that a chunk has room for.
const EMPTY: Entry = Entry { at: 0, len: u16::MAX, iid: 0 };

const _: () = assert!(MAX_PAYLOAD < u16::MAX as usize, "places and lengths take 16 bits");

/// See the module.
#[derive(Debug)]
#[repr(C)]
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
    iid: u8,
    /// Its entry; [`NOWHERE`] where it gets none.
    slot: u8,
}

const NOWHERE: u8 = ENTRIES as u8;

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
            Some(known) => unsafe { known.find::<MAX_PAYLOAD>(text.as_bytes()) },
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

    /// What is known of a text that the chunk has, if it is not long.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    pub(super) unsafe fn known_short(&self, text: &str) -> Option<Seen> {
        // SAFETY: as the caller's.
        let seen = unsafe { self.find::<SHORT>(text.as_bytes()) };
        // Said anew, so that nobody asks for it again.
        seen.is_known.then_some(Seen { is_known: true, iid: seen.iid, slot: NOWHERE })
    }

    /// What the chunk has of a text that is not long.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    pub(super) unsafe fn find_short(&self, text: &str) -> Option<Seen> {
        // SAFETY: as the caller's.
        let seen = unsafe { self.find::<SHORT>(text.as_bytes()) };
        (seen.slot != NOWHERE).then_some(seen)
    }

    /// See [`Seen::of`]; no text of more than `MOST` bytes is known.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    unsafe fn find<const MOST: usize>(&self, text: &[u8]) -> Seen {
        let len = text.len();
        // Short words first.
        if let Some(ends) = ends::<4>(text).filter(|_| len < 8) {
            let (first, last) = (u32::from_le_bytes(ends.0), u32::from_le_bytes(ends.1));
            let slot = slot(u64::from(first) * 4 + u64::from(last), len);
            // SAFETY: as the caller's, here and below.
            let (seen, there) = unsafe { self.look(slot, len) };
            let is_known = seen.is_known && self::ends(there) == Some(ends);
            return Seen { is_known, ..seen };
        }
        if let Some(ends) = ends::<8>(text) {
            if len > MOST {
                return Seen::FRESH;
            }
            let (first, last) = (u64::from_le_bytes(ends.0), u64::from_le_bytes(ends.1));
            // SAFETY: as above.
            let (seen, there) = unsafe { self.look(slot(first.rotate_left(29) ^ last, len), len) };
            let is_known = seen.is_known
                && if len <= 16 { self::ends(there) == Some(ends) } else { equal(text, there) };
            return Seen { is_known, ..seen };
        }
        let word = tiny(text);
        // SAFETY: as above.
        let (seen, there) = unsafe { self.look(slot(word.into(), len), len) };
        Seen { is_known: seen.is_known && tiny(there) == word, ..seen }
    }

    /// The entry `slot` as that of a text of `len` bytes, at most [`MAX_PAYLOAD`], and the bytes of its text; known where that
    /// is as long, and no more is said.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    unsafe fn look(&self, slot: usize, len: usize) -> (Seen, &[u8]) {
        let entry = self.entries.get(slot).copied().unwrap_or(EMPTY);
        let (iid, slot) = (entry.iid, slot as u8);
        if entry.len != len as u16 {
            return (Seen { is_known: false, iid, slot }, &[]);
        }
        // SAFETY: *entries*.
        let place = unsafe { self.start.add(entry.at.into()) };
        // SAFETY: *entries*: so many bytes stand there; *there*.
        let there = unsafe { std::slice::from_raw_parts(place, len) };
        (Seen { is_known: true, iid, slot }, there)
    }

    /// Notes that a text, of which [`Seen::of`] said `seen`, was written at `at` under the id `iid`.
    #[inline(always)]
    pub(super) fn note(&mut self, seen: Seen, at: *const u8, len: usize, iid: u32) {
        if let Some(entry) = self.entries.get_mut(usize::from(seen.slot)).filter(|_| iid < 0x80) {
            let at = (at as usize).wrapping_sub(self.start as usize);
            *entry = Entry { at: at as u16, len: len as u16, iid: iid as u8 };
        }
    }
}

/// The entry of a text: texts that agree in length, beginning and end have the same one.
#[inline(always)]
fn slot(ends: u64, len: usize) -> usize {
    (ends.wrapping_add(len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> SHIFT) as usize
}

/// A text of less than four bytes as a number; those of the same length have different ones.
#[inline(always)]
fn tiny(text: &[u8]) -> u32 {
    match *text {
        [first] => first.into(),
        [first, second] => u16::from_le_bytes([first, second]).into(),
        [first, second, third] => u32::from_le_bytes([first, second, third, 0]),
        _ => 0,
    }
}

/// Whether two texts of the same length, of more than 16 bytes, are equal: for most of them no call.
#[inline(always)]
fn equal(text: &[u8], there: &[u8]) -> bool {
    if text.len() > SHORT {
        text == there
    } else if let (Some(text), Some(there)) = (ends::<32>(text), ends::<32>(there)) {
        differ(halves(text.0), halves(there.0)) | differ(halves(text.1), halves(there.1)) == 0
    } else if let (Some(text), Some(there)) = (ends::<16>(text), ends::<16>(there)) {
        differ(text, there) == 0
    } else {
        false
    }
}

/// Not 0 where two pairs are not the same.
#[inline(always)]
fn differ(one: ([u8; 16], [u8; 16]), other: ([u8; 16], [u8; 16])) -> u128 {
    let (first, last) = (u128::from_ne_bytes(one.0), u128::from_ne_bytes(one.1));
    (first ^ u128::from_ne_bytes(other.0)) | (last ^ u128::from_ne_bytes(other.1))
}

#[inline(always)]
fn halves(bytes: [u8; 32]) -> ([u8; 16], [u8; 16]) {
    ends(&bytes).unwrap_or_default()
}
