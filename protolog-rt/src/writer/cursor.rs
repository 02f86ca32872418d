//! A cursor over a packet in the making. Stores are wide: the next one covers the excess of the one
//! before.
//!
//! Invariant *room*: the creator of a cursor proves that everything that is appended through it and
//! its copies fits into memory that is the caller's to write, with [`SLACK`] bytes to spare. What
//! [`Packet`](super::packet::Packet), [`Args`](super::args::Args) and
//! [`FastArgs`](super::fast::FastArgs) append, their contracts say. So the functions that append
//! are safe, and a debug build checks each store.
#![allow(unsafe_code)] // Stores through a pointer, proved once for the whole packet.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use protozero::wire::{packed_varint, short_varint};

/// The number of bytes after a packet that its last store may touch.
pub(crate) const SLACK: usize = 16;

/// A number and its varint.
#[derive(Clone, Copy, Debug)]
pub struct Varint {
    pub(super) value: u64,
    /// The first eight bytes of the varint.
    low: u64,
    /// The length of the varint.
    pub(super) len: usize,
}

impl Varint {
    #[inline(always)]
    pub(super) fn new(value: u64) -> Self {
        let (bits, len) = packed_varint(value);
        Self { value, low: bits as u64, len }
    }
}

/// The place of the next byte.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    at: *mut u8,
    /// The end of the room, in debug builds only.
    #[cfg(debug_assertions)]
    end: usize,
}

/// A byte that is filled in later: the size of the bytes after it.
#[derive(Debug)]
pub(super) struct SizeByte(*mut u8);

impl Cursor {
    /// A cursor at `at`, with room for `room` bytes.
    ///
    /// # Safety
    /// *room*: as long as anything is appended, the caller may write the `room` bytes at `at` and
    /// [`SLACK`] more ([`Self::bytes`] does without these), and no more than `room` bytes are
    /// appended through the cursor and its copies.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut u8, room: usize) -> Self {
        let _ = room;
        Self {
            at,
            #[cfg(debug_assertions)]
            end: at as usize + room,
        }
    }

    /// The place of the next byte.
    #[inline(always)]
    pub(crate) fn at(&self) -> *mut u8 {
        self.at
    }

    /// Appends the low `len` bytes of `bits`, at most 16.
    #[inline(always)]
    pub(crate) fn put(&mut self, bits: u128, len: usize) {
        self.store(bits.to_le_bytes(), len);
    }

    /// Appends the low `len` bytes of `bits`, at most 8.
    #[inline(always)]
    pub(super) fn put8(&mut self, bits: u64, len: usize) {
        self.store(bits.to_le_bytes(), len);
    }

    /// Appends the low `len` bytes of `bits`, at most 4.
    #[inline(always)]
    pub(super) fn put4(&mut self, bits: u32, len: usize) {
        self.store(bits.to_le_bytes(), len);
    }

    /// Appends a byte.
    #[inline(always)]
    pub(super) fn put1(&mut self, byte: u8) {
        self.store([byte], 1);
    }

    /// Appends a field with a tag of one byte and `value << SHIFT`, which does not overflow, as a
    /// varint: at most 11 bytes.
    #[inline(always)]
    pub(super) fn number<const SHIFT: u32>(&mut self, tag: u8, value: u64) {
        self.put1(tag);
        if value < 1 << (7 - SHIFT) {
            self.put1((value as u8) << SHIFT);
        } else if value < 1 << (28 - SHIFT) {
            let (bits, len) = short_varint((value as u32) << SHIFT);
            self.put4(bits, len);
        } else {
            let (bits, len) = packed_varint(value << SHIFT);
            self.put(bits, len);
        }
    }

    /// Appends a field with a tag of one byte and a varint.
    #[inline(always)]
    pub(super) fn varint(&mut self, tag: u8, varint: Varint) {
        self.put8(tag.into(), 1);
        if varint.len > 8 {
            let (bits, len) = packed_varint(varint.value);
            return self.put(bits, len);
        }
        self.put8(varint.low, varint.len);
    }

    /// Appends the low `len` bytes of `tags`, at most 4, and a size.
    #[inline(always)]
    pub(super) fn size(&mut self, tags: u128, len: usize, size: usize) {
        if size < 0x80 {
            self.put8(tags as u64 | (size as u64) << (8 * len), len + 1);
        } else {
            let (size, size_len) = packed_varint(size as u64);
            self.put(tags | size << (8 * len), len + size_len);
        }
    }

    /// Appends `bytes`, and touches none after them.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.check(bytes.len());
        // SAFETY: *room* covers what is appended. It is a chunk or a scratch buffer, of which no
        // argument of a call is part.
        unsafe { self.at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        // SAFETY: *room* covers what was appended.
        self.at = unsafe { self.at.add(bytes.len()) };
    }

    /// Appends less than 128 bytes. Most strings are short, and a call of `memcpy` takes longer
    /// than the copy.
    #[inline(always)]
    pub(super) fn short_bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > 64 {
            self.bytes(bytes);
        } else if !self.copy_ends::<32>(bytes)
            && !self.copy_ends::<16>(bytes)
            && !self.copy_ends::<8>(bytes)
            && !self.copy_ends::<4>(bytes)
        {
            let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
            let bits = u32::from_le_bytes([byte(0), byte(1), byte(2), 0]);
            self.put(bits as u128, bytes.len());
        }
    }

    /// Appends a byte that is filled in later.
    #[inline(always)]
    pub(super) fn skip_size(&mut self) -> SizeByte {
        let place = SizeByte(self.at);
        self.check(1);
        // SAFETY: *room* covers the byte, which counts as appended.
        self.at = unsafe { self.at.add(1) };
        place
    }

    /// The number of bytes from a skipped one, itself not included, to the cursor.
    #[inline(always)]
    pub(super) fn since(&self, place: &SizeByte) -> usize {
        self.at as usize - place.0 as usize - 1
    }

    /// Fills in a byte that this cursor skipped.
    #[inline(always)]
    pub(super) fn fill(&mut self, SizeByte(at): SizeByte, size: usize) {
        debug_assert!(at < self.at, "a byte of this cursor");
        // SAFETY: *room*: the byte was appended through this cursor.
        unsafe { at.write(size as u8) };
    }

    /// Fills in two bytes that this cursor skipped, one after the other, with the size of what
    /// follows them, which is less than 2^14.
    #[inline(always)]
    pub(super) fn fill_two(&mut self, [low, high]: [SizeByte; 2]) {
        let size = self.since(&high);
        self.fill(low, size & 0x7f | 0x80);
        self.fill(high, size >> 7);
    }

    /// Stores `bytes`, of which the first `len` are appended.
    #[inline(always)]
    fn store<const N: usize>(&mut self, bytes: [u8; N], len: usize) {
        const { assert!(N <= SLACK, "a store may begin at the end of the room") };
        self.check(len);
        // SAFETY: *room*: the cursor is at its end or before it, so SLACK bytes may be written
        // here. They may be unaligned.
        unsafe { self.at.cast::<[u8; N]>().write(bytes) };
        // SAFETY: *room* covers what was appended.
        self.at = unsafe { self.at.add(len) };
    }

    /// Appends `bytes`, at most two times `N`, by their first and last `N`, which may overlap.
    /// False where they are fewer than `N`.
    #[inline(always)]
    fn copy_ends<const N: usize>(&mut self, bytes: &[u8]) -> bool {
        // By reference: copied out first, both would go through the stack.
        let ends = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>());
        let (Some(first), Some(last)) = ends else { return false };
        self.check(bytes.len());
        // SAFETY: *room* covers all of `bytes`, which are at least N since they have ends. The
        // store may be unaligned.
        unsafe { self.at.cast::<[u8; N]>().write(*first) };
        // SAFETY: *room* covers what was appended.
        self.at = unsafe { self.at.add(bytes.len()) };
        // SAFETY: the cursor has just moved by at least N.
        let rest = unsafe { self.at.sub(N) };
        // SAFETY: these N bytes are the last ones of those that were appended.
        unsafe { rest.cast::<[u8; N]>().write(*last) };
        true
    }

    /// Checks in a debug build that `len` bytes fit.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(clippy::unused_self))] // There is nothing to check with.
    fn check(&self, len: usize) {
        let _ = len;
        #[cfg(debug_assertions)]
        assert!(self.at as usize + len <= self.end, "more bytes than there is room for");
    }
}

/// The first and the last `N` of some bytes; none where there are fewer.
#[inline(always)]
pub(super) fn ends<const N: usize>(bytes: &[u8]) -> Option<([u8; N], [u8; N])> {
    Some((*bytes.first_chunk()?, *bytes.last_chunk()?))
}
