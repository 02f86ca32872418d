//! The intern table of a chunk: which strings it has, so that a message that repeats one names it by its interned id (iid).
//!
//! A small table, direct-mapped by a hash of a string's length, beginning and end. An entry says where in the chunk the string
//! stands, and all of its bytes are compared with those there. So a buffer that is used again and again is never taken for
//! the string that it held before, equal strings at several addresses are one, and a thread needs no memory for strings but
//! that of the chunk.
//!
//! Invariants
//! - *entries*: an entry that is not [`EMPTY`] names bytes, within the chunk that begins at `start`, to which this thread has
//!   written a string. [`InternTable::reset`] forgets all entries when the writer begins another chunk.
//! - *readable*: nobody changes those bytes as long as a [`ChunkStrings`] lives. Only that type reads them.
#![allow(unsafe_code)] // Reads committed bytes of the chunk through pointers.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::cursor::ends;
use protolog_shmem::MAX_PAYLOAD;

/// The number of entries: about as many as a chunk of 4 KiB has short strings; 512 bytes.
const ENTRIES: usize = 64;

// A hash's top bits are the entry's number.
const SHIFT: u32 = u64::BITS - ENTRIES.ilog2();

/// The most bytes of a string that is compared without a call.
pub(super) const SHORT: usize = 64;

/// A string in the chunk.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
struct KnownString {
    at: u16,
    len: u16,
    /// Below 128, so that it takes one byte in a message too.
    iid: u8,
}

/// No string: longer than any that a chunk has room for.
const EMPTY: KnownString = KnownString { at: 0, len: u16::MAX, iid: 0 };

const _: () = assert!(MAX_PAYLOAD < u16::MAX as usize, "places and lengths take 16 bits");

/// The strings that a writer's chunk has. See the module.
#[derive(Debug)]
#[repr(C)]
pub(super) struct InternTable {
    start: *const u8,
    entries: [KnownString; ENTRIES],
}

/// An intern table whose chunk may be read.
#[derive(Clone, Copy, Debug)]
pub struct ChunkStrings<'a>(&'a InternTable);

/// The result of looking a string up.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// True if the chunk has the string.
    pub(super) is_known: bool,
    /// The string's id there.
    iid: u8,
    /// The string's entry; [`NO_ENTRY`] where it gets none.
    slot: u8,
}

const NO_ENTRY: u8 = ENTRIES as u8;

impl Lookup {
    /// A string that gets an id of its own and is not remembered.
    pub(super) const UNKNOWN: Self = Self { is_known: false, iid: 0, slot: NO_ENTRY };

    /// Looks `text` up.
    #[inline(always)]
    pub(super) fn of(text: &str, strings: Option<ChunkStrings<'_>>) -> Self {
        match strings {
            Some(strings) => strings.find::<MAX_PAYLOAD>(text.as_bytes()),
            None => Self::UNKNOWN,
        }
    }

    /// The string's id; `next` is that of the next new one.
    #[inline(always)]
    pub(super) fn iid(self, next: u32) -> u32 {
        if self.is_known { self.iid.into() } else { next }
    }
}

/// Where new strings of a packet get their ids from, and are remembered.
#[derive(Debug)]
pub struct Interner<'a> {
    /// The id of the next new string.
    pub(super) iid: u32,
    /// None where the packet's bytes do not stay where they are written.
    table: Option<&'a mut InternTable>,
}

impl<'a> Interner<'a> {
    /// An interner that remembers nothing.
    #[inline(always)]
    pub(super) fn forgetful(iid: u32) -> Self {
        Self { iid, table: None }
    }

    /// An interner that notes new strings in `table`.
    ///
    /// # Safety
    /// *entries*: the strings are written to the chunk that `table` was last reset to.
    #[inline(always)]
    pub(super) unsafe fn new(iid: u32, table: &'a mut InternTable) -> Self {
        Self { iid, table: Some(table) }
    }

    /// Gives the next id to a string of `len` bytes at `at`.
    #[inline(always)]
    pub(super) fn assign(&mut self, lookup: Lookup, at: *const u8, len: usize) {
        if let Some(table) = &mut self.table {
            table.note(lookup, at, len, self.iid);
        }
        self.iid += 1;
    }
}

impl InternTable {
    /// The table of no chunk.
    pub(super) const fn new() -> Self {
        Self { start: std::ptr::null(), entries: [EMPTY; ENTRIES] }
    }

    /// Forgets all strings, and begins with a chunk whose packets start at `start`.
    pub(super) fn reset(&mut self, start: *const u8) {
        *self = Self { start, ..Self::new() };
    }

    /// Notes that a string, which was looked up before, is written at `at` under the id `iid`.
    #[inline(always)]
    fn note(&mut self, lookup: Lookup, at: *const u8, len: usize, iid: u32) {
        if let Some(entry) = self.entries.get_mut(usize::from(lookup.slot)).filter(|_| iid < 0x80) {
            let at = (at as usize).wrapping_sub(self.start as usize);
            *entry = KnownString { at: at as u16, len: len as u16, iid: iid as u8 };
        }
    }
}

impl<'a> ChunkStrings<'a> {
    /// The strings that `table` has.
    ///
    /// # Safety
    /// *readable*: where the table has entries, its chunk belongs to the calling thread for `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(table: &'a InternTable) -> Self {
        Self(table)
    }

    /// Looks a string up that is not long; none where the chunk does not have it.
    #[inline(always)]
    pub(super) fn find_known(self, text: &str) -> Option<Lookup> {
        let found = self.find::<SHORT>(text.as_bytes());
        // A constant, so that nobody tests it again.
        found.is_known.then_some(Lookup { is_known: true, iid: found.iid, slot: NO_ENTRY })
    }

    /// Looks a string up, known or new; none where it is long.
    #[inline(always)]
    pub(super) fn find_short(self, text: &str) -> Option<Lookup> {
        let found = self.find::<SHORT>(text.as_bytes());
        (found.slot != NO_ENTRY).then_some(found)
    }

    /// Looks a string up; none of more than `MOST` bytes, at most [`MAX_PAYLOAD`], is known.
    #[inline(always)]
    fn find<const MOST: usize>(self, text: &[u8]) -> Lookup {
        const { assert!(MOST <= MAX_PAYLOAD, "lengths take 16 bits") };
        let len = text.len();
        // Short words first.
        if let Some(ends) = ends::<4>(text).filter(|_| len < 8) {
            let (first, last) = (u32::from_le_bytes(ends.0), u32::from_le_bytes(ends.1));
            let slot = slot(u64::from(first) * 4 + u64::from(last), len);
            let (found, there) = self.entry(slot, len);
            let is_known = found.is_known && self::ends(there) == Some(ends);
            return Lookup { is_known, ..found };
        }
        if let Some(ends) = ends::<8>(text) {
            if len > MOST {
                return Lookup::UNKNOWN;
            }
            let (first, last) = (u64::from_le_bytes(ends.0), u64::from_le_bytes(ends.1));
            let (found, there) = self.entry(slot(first.rotate_left(29) ^ last, len), len);
            let is_known = found.is_known
                && if len <= 16 { self::ends(there) == Some(ends) } else { equal(text, there) };
            return Lookup { is_known, ..found };
        }
        let word = tiny(text);
        let (found, there) = self.entry(slot(word.into(), len), len);
        Lookup { is_known: found.is_known && tiny(there) == word, ..found }
    }

    /// The entry `slot` as that of a string of `len` bytes, which [`Self::find`] keeps below 2^16, and the bytes of its string. It
    /// is known where that is as long: the caller compares the bytes.
    #[inline(always)]
    fn entry(self, slot: usize, len: usize) -> (Lookup, &'a [u8]) {
        let entry = self.0.entries.get(slot).copied().unwrap_or(EMPTY);
        let (iid, slot) = (entry.iid, slot as u8);
        if entry.len != len as u16 {
            return (Lookup { is_known: false, iid, slot }, &[]);
        }
        // SAFETY: *entries*: `at` is within the chunk that begins at `start`; an EMPTY entry's length is that of no string.
        let place = unsafe { self.0.start.add(entry.at.into()) };
        // SAFETY: *entries*: this thread has written `len` bytes there. *readable*: nobody changes them for `'a`.
        let there = unsafe { std::slice::from_raw_parts(place, len) };
        (Lookup { is_known: true, iid, slot }, there)
    }
}

/// The entry of a string: strings that agree in length, beginning and end have the same one.
#[inline(always)]
fn slot(ends: u64, len: usize) -> usize {
    (ends.wrapping_add(len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> SHIFT) as usize
}

/// A string of less than four bytes as a number; those of the same length have different ones.
#[inline(always)]
fn tiny(text: &[u8]) -> u32 {
    match *text {
        [first] => first.into(),
        [first, second] => u16::from_le_bytes([first, second]).into(),
        [first, second, third] => u32::from_le_bytes([first, second, third, 0]),
        _ => 0,
    }
}

/// Compares two strings of the same length, of more than 16 bytes: mostly without a call.
#[inline(always)]
fn equal(text: &[u8], there: &[u8]) -> bool {
    if text.len() > SHORT {
        text == there
    } else if let (Some(text), Some(there)) = (ends::<32>(text), ends::<32>(there)) {
        difference(halves(text.0), halves(there.0)) | difference(halves(text.1), halves(there.1))
            == 0
    } else if let (Some(text), Some(there)) = (ends::<16>(text), ends::<16>(there)) {
        difference(text, there) == 0
    } else {
        false
    }
}

/// Not 0 where two pairs are not the same.
#[inline(always)]
fn difference(one: ([u8; 16], [u8; 16]), other: ([u8; 16], [u8; 16])) -> u128 {
    let (first, last) = (u128::from_ne_bytes(one.0), u128::from_ne_bytes(one.1));
    (first ^ u128::from_ne_bytes(other.0)) | (last ^ u128::from_ne_bytes(other.1))
}

#[inline(always)]
fn halves(bytes: [u8; 32]) -> ([u8; 16], [u8; 16]) {
    ends(&bytes).unwrap_or_default()
}
