//! The intern table of a chunk: which strings it has, so that a message that repeats one names it
//! by its interned id (iid).
//!
//! A small table, direct-mapped by a hash of a string's length and of the 16 bytes at its beginning
//! and end. An entry says where in the chunk the string stands, and all of its bytes are compared
//! with those there. So a buffer that is used again and again is never taken for the string that it
//! held before, equal strings at several addresses are one, and a thread needs no memory for
//! strings but that of the chunk.
//!
//! Invariants
//! - *entries*: an entry that is not [`EMPTY`] names bytes, within the chunk that begins at
//!   `start`, to which this thread has written a string. [`InternTable::reset`] forgets all entries
//!   when the writer begins another chunk.
//! - *readable*: no thread of this process changes those bytes as long as a [`ChunkStrings`] lives.
//!   Only [`Place`] reads them.
//! - *shared*: another process may have a recording's memory mapped too, and change it. So no
//!   reference to the bytes exists, and each is read by volatile loads: with any bytes there, a
//!   string is at worst taken for another one.
#![allow(unsafe_code)] // Reads committed bytes of the chunk through pointers.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::cursor::ends;
use protolog_shmem::MAX_PAYLOAD;
use std::marker::PhantomData;

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

    /// Forgets all strings, and begins with a chunk with packets from `start` on.
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
            let is_known = found.is_known && there.has_ends(first.to_le(), last.to_le());
            return Lookup { is_known, ..found };
        }
        if let Some(ends) = ends::<8>(text) {
            if len > MOST {
                return Lookup::UNKNOWN;
            }
            let (first, last) = (u64::from_le_bytes(ends.0), u64::from_le_bytes(ends.1));
            let mixed = first.rotate_left(29) ^ last;
            if let Some(wide) = wide_ends(text) {
                // Names of hosts, paths and addresses differ within.
                let (second, next_to_last) = ((wide.0 >> 64) as u64, wide.1 as u64);
                let mixed = mixed.wrapping_add(second.rotate_left(47) ^ next_to_last);
                let (found, there) = self.entry(slot(mixed, len), len);
                return Lookup { is_known: found.is_known && there.equals(text), ..found };
            }
            let (found, there) = self.entry(slot(mixed, len), len);
            let is_known = found.is_known && there.has_ends(first.to_le(), last.to_le());
            return Lookup { is_known, ..found };
        }
        let word = tiny(text);
        let (found, there) = self.entry(slot(word.into(), len), len);
        Lookup { is_known: found.is_known && there.tiny() == word, ..found }
    }

    /// The entry `slot` as that of a string of `len` bytes, which [`Self::find`] keeps below 2^16,
    /// and the bytes of its string. It is known where that is as long: the caller compares the
    /// bytes.
    #[inline(always)]
    fn entry(self, slot: usize, len: usize) -> (Lookup, Place<'a>) {
        let entry = self.0.entries.get(slot).copied().unwrap_or(EMPTY);
        let (iid, slot) = (entry.iid, slot as u8);
        if entry.len != len as u16 {
            return (Lookup { is_known: false, iid, slot }, Place::NONE);
        }
        // SAFETY: *entries*: `at` is within the chunk that begins at `start`; an EMPTY entry's
        // length is that of no string.
        let at = unsafe { self.0.start.add(entry.at.into()) };
        (Lookup { is_known: true, iid, slot }, Place { at, len, chunk: PhantomData })
    }
}

/// The bytes of an entry's string: `len` bytes at `at`, in the chunk, so *readable*; or none.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    at: *const u8,
    len: usize,
    chunk: PhantomData<ChunkStrings<'a>>,
}

impl Place<'_> {
    const NONE: Self = Self { at: std::ptr::null(), len: 0, chunk: PhantomData };

    /// The word at `from`; none where its bytes are not all the string's.
    #[inline(always)]
    fn word<W: Copy>(self, from: usize) -> Option<W> {
        if size_of::<W>() > self.len || from > self.len - size_of::<W>() {
            return None;
        }
        // SAFETY: *entries*: `from` is within the string.
        let at = unsafe { self.at.add(from) }.cast::<Unaligned<W>>();
        // SAFETY: *entries*: so is all of the word, which this thread has written. *readable*: no
        // thread changes it. *shared*: the load is volatile. A word may be unaligned, and any bytes
        // are one: W is an integer.
        Some(unsafe { at.read_volatile() }.0)
    }

    /// Returns true if it begins with the word `first` and ends with `last`.
    #[inline(always)]
    fn has_ends<W: Copy + PartialEq>(self, first: W, last: W) -> bool {
        let Some(from) = self.len.checked_sub(size_of::<W>()) else { return false };
        self.word(0) == Some(first) && self.word(from) == Some(last)
    }

    /// Less than four bytes as [`tiny`] does it.
    #[inline(always)]
    fn tiny(self) -> u32 {
        let byte = |from| self.word::<u8>(from).unwrap_or(0);
        u32::from_le_bytes([byte(0), byte(1), byte(2), 0])
    }

    /// Compares with a string of the same length, of more than 16 bytes: mostly without a call.
    #[inline(always)]
    fn equals(self, text: &[u8]) -> bool {
        if text.len() > SHORT { self.equals_long(text) } else { self.equals_short(text) }
    }

    /// Compares with a string of the same length, of 16 to 64 bytes.
    #[inline(always)]
    fn equals_short(self, text: &[u8]) -> bool {
        let len = text.len();
        let difference = if let Some((first, last)) = ends::<32>(text) {
            let ((one, two), (three, four)) = (halves(first), halves(last));
            self.difference(0, one)
                | self.difference(16, two)
                | self.difference(len - 32, three)
                | self.difference(len - 16, four)
        } else if let Some((first, last)) = ends::<16>(text) {
            self.difference(0, first) | self.difference(len - 16, last)
        } else {
            1
        };
        difference == 0
    }

    /// Not 0 where other bytes than `text` are at `from`.
    #[inline(always)]
    fn difference(self, from: usize, text: [u8; 16]) -> u64 {
        let Some((first, last)) = ends::<8>(&text) else { return 1 };
        let (first, last) = (u64::from_ne_bytes(first), u64::from_ne_bytes(last));
        match (self.word::<u64>(from), self.word::<u64>(from + 8)) {
            (Some(one), Some(two)) => (one ^ first) | (two ^ last),
            _ => 1,
        }
    }

    /// Compares with a string of the same length, of more than 8 bytes.
    #[inline(never)]
    fn equals_long(self, text: &[u8]) -> bool {
        let is_word = |at: usize, text: &[u8]| {
            let word = text.first_chunk().map(|text| u64::from_ne_bytes(*text));
            word.is_some() && word == self.word(at)
        };
        text.chunks_exact(8).enumerate().all(|(word, text)| is_word(8 * word, text))
            && text.last_chunk::<8>().is_some_and(|last| is_word(text.len() - 8, last))
    }
}

/// An integer at any address.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<W>(W);

/// The first and the last 16 bytes of a string of more than 16.
#[inline(always)]
fn wide_ends(text: &[u8]) -> Option<(u128, u128)> {
    let (first, last) = ends::<16>(text).filter(|_| text.len() > 16)?;
    Some((u128::from_le_bytes(first), u128::from_le_bytes(last)))
}

/// The entry of a string: strings that agree in length, and in the 16 bytes at their beginning and
/// end, have the same one.
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

#[inline(always)]
fn halves(bytes: [u8; 32]) -> ([u8; 16], [u8; 16]) {
    ends(&bytes).unwrap_or_default()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Looks `text` up where its entry names `chunk`'s bytes from `at` on, as many as it has.
    fn is_found(text: &str, chunk: &[u8], at: usize) -> bool {
        assert!(at + text.len() <= chunk.len(), "an entry names bytes of the chunk");
        let mut table = InternTable::new();
        table.reset(chunk.as_ptr());
        // SAFETY: *readable*: the table has no entries.
        let lookup = Lookup::of(text, Some(unsafe { ChunkStrings::new(&table) }));
        assert!(!lookup.is_known, "the table is empty");
        table.note(lookup, chunk[at..].as_ptr(), text.len(), 1);
        // SAFETY: *readable*: the entry names bytes of a slice that is borrowed.
        Lookup::of(text, Some(unsafe { ChunkStrings::new(&table) })).is_known
    }

    #[test]
    fn a_text_is_compared_to_its_last_byte() {
        for len in (1..=130).chain([250, 1_000]) {
            let text: String = (0..len).map(|at| char::from(b'a' + at as u8 % 26)).collect();
            for at in [0, 1, 7] {
                let mut chunk = vec![b'.'; at];
                chunk.extend(text.as_bytes());
                assert!(is_found(&text, &chunk, at), "{len} bytes at {at}");
                for other in 0..len {
                    let mut chunk = chunk.clone();
                    chunk[at + other] ^= 1;
                    assert!(!is_found(&text, &chunk, at), "{len} bytes at {at}, but for {other}");
                }
            }
        }
    }
}
