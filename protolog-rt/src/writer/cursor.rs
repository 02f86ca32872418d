//! Stores at a place that moves on: wide ones, of which the next covers what was too much.
//!
//! Invariant: *room*: whoever calls an `unsafe` function here has made sure that so many bytes, and [`SLACK`] more, are the
//! caller's to write.
#![allow(unsafe_code)] // Stores through a pointer, checked once for the whole packet.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

use protozero::wire::{packed_varint, short_varint};

/// Bytes after a packet that its last store may touch.
pub(crate) const SLACK: usize = 16;

/// A number, and what it looks like as a varint.
#[derive(Clone, Copy, Debug)]
pub struct Varint {
    pub(super) value: u64,
    /// Its first eight bytes.
    low: u64,
    /// How many bytes it takes.
    pub(super) len: usize,
}

impl Varint {
    #[inline(always)]
    pub(super) fn new(value: u64) -> Self {
        let (bits, len) = packed_varint(value);
        Self { value, low: bits as u64, len }
    }
}

/// Where the next byte goes.
#[derive(Debug)]
pub struct Cursor {
    at: *mut u8,
}

impl Cursor {
    /// Starts at `at`.
    #[inline]
    pub(crate) fn new(at: *mut u8) -> Self {
        Self { at }
    }

    /// Where the next byte goes.
    #[inline]
    pub(crate) fn at(&self) -> *mut u8 {
        self.at
    }

    /// Appends the low `len` bytes of `bits`, at most 16.
    ///
    /// # Safety
    /// *room*: 16 bytes.
    #[inline(always)]
    pub(crate) unsafe fn put(&mut self, bits: u128, len: usize) {
        // SAFETY: *room*; the store may be unaligned.
        unsafe { self.at.cast::<[u8; 16]>().write(bits.to_le_bytes()) };
        // SAFETY: `len` is at most 16, and so many bytes are the caller's.
        self.at = unsafe { self.at.add(len) };
    }

    /// Appends the low `len` bytes of `bits`, at most 8.
    ///
    /// # Safety
    /// *room*: 8 bytes.
    #[inline(always)]
    pub(super) unsafe fn put8(&mut self, bits: u64, len: usize) {
        // SAFETY: *room*; the store may be unaligned.
        unsafe { self.at.cast::<[u8; 8]>().write(bits.to_le_bytes()) };
        // SAFETY: `len` is at most 8, and so many bytes are the caller's.
        self.at = unsafe { self.at.add(len) };
    }

    /// Appends a byte.
    ///
    /// # Safety
    /// *room*: the byte.
    #[inline(always)]
    pub(super) unsafe fn put1(&mut self, byte: u8) {
        // SAFETY: *room*.
        unsafe { self.at.write(byte) };
        // SAFETY: *room*.
        self.at = unsafe { self.at.add(1) };
    }

    /// Appends the low `len` bytes of `bits`, at most 4.
    ///
    /// # Safety
    /// *room*: 4 bytes.
    #[inline(always)]
    pub(super) unsafe fn put4(&mut self, bits: u32, len: usize) {
        // SAFETY: *room*; the store may be unaligned.
        unsafe { self.at.cast::<[u8; 4]>().write(bits.to_le_bytes()) };
        // SAFETY: `len` is at most 4, and so many bytes are the caller's.
        self.at = unsafe { self.at.add(len) };
    }

    /// Appends a field with a tag of one byte and `value << SHIFT`, which does not overflow, as a varint.
    ///
    /// # Safety
    /// *room*: 11 bytes.
    #[inline(always)]
    pub(super) unsafe fn number<const SHIFT: u32>(&mut self, tag: u8, value: u64) {
        // SAFETY: as the caller's, here and below.
        unsafe { self.put1(tag) };
        if value < 1 << (7 - SHIFT) {
            // SAFETY: as above.
            unsafe { self.put1((value as u8) << SHIFT) };
        } else if value < 1 << (28 - SHIFT) {
            let (bits, len) = short_varint((value as u32) << SHIFT);
            // SAFETY: as above.
            unsafe { self.put4(bits, len) };
        } else {
            let (bits, len) = packed_varint(value << SHIFT);
            // SAFETY: as above.
            unsafe { self.put(bits, len) };
        }
    }

    /// Appends a field with a tag of one byte and a varint.
    ///
    /// # Safety
    /// *room*: 17 bytes.
    #[inline(always)]
    pub(super) unsafe fn varint(&mut self, tag: u8, varint: Varint) {
        // SAFETY: as the caller's, here and below.
        unsafe { self.put8(tag.into(), 1) };
        // SAFETY: as above.
        if varint.len > 8 {
            let (bits, len) = packed_varint(varint.value);
            // SAFETY: as above; the tag, and at most ten bytes.
            return unsafe { self.put(bits, len) };
        }
        // SAFETY: as above.
        unsafe { self.put8(varint.low, varint.len) };
    }

    /// Appends `bytes`.
    ///
    /// # Safety
    /// *room*: as many bytes.
    #[inline]
    pub(crate) unsafe fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: *room*; the memory is a chunk or a scratch buffer, which no argument of a call can be part of.
        unsafe { self.at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        // SAFETY: *room*.
        self.at = unsafe { self.at.add(bytes.len()) };
    }

    /// Appends a text of less than 128 bytes: for most of them no call, whose way in and out takes longer than the copy.
    ///
    /// # Safety
    /// *room*: as many bytes and [`SLACK`].
    #[inline(always)]
    pub(super) unsafe fn short_bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > 64 {
            // SAFETY: as the caller's, here and below.
            unsafe { self.bytes(bytes) };
        } else if let Some(ends) = ends::<32>(bytes) {
            // SAFETY: as above.
            unsafe { self.overlapping(ends, bytes.len()) };
        } else if let Some(ends) = ends::<16>(bytes) {
            // SAFETY: as above.
            unsafe { self.overlapping(ends, bytes.len()) };
        } else if let Some(ends) = ends::<8>(bytes) {
            // SAFETY: as above.
            unsafe { self.overlapping(ends, bytes.len()) };
        } else if let Some(ends) = ends::<4>(bytes) {
            // SAFETY: as above.
            unsafe { self.overlapping(ends, bytes.len()) };
        } else {
            let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
            let bits = u32::from_le_bytes([byte(0), byte(1), byte(2), 0]);
            // SAFETY: as above.
            unsafe { self.put(bits as u128, bytes.len()) };
        }
    }

    /// Appends `len` bytes of which the first and the last `N` are given; they may overlap, and leave nothing out.
    ///
    /// # Safety
    /// *room*: `len` bytes, which are at least `N`.
    #[inline(always)]
    unsafe fn overlapping<const N: usize>(
        &mut self,
        (first, last): ([u8; N], [u8; N]),
        len: usize,
    ) {
        // SAFETY: *room*; the store may be unaligned.
        unsafe { self.at.cast::<[u8; N]>().write(first) };
        // SAFETY: *room*.
        self.at = unsafe { self.at.add(len) };
        // SAFETY: `len` is at least `N`.
        let rest = unsafe { self.at.sub(N) };
        // SAFETY: *room*.
        unsafe { rest.cast::<[u8; N]>().write(last) };
    }
}

/// The first and the last `N` of some bytes; none where there are fewer.
#[inline(always)]
pub(super) fn ends<const N: usize>(bytes: &[u8]) -> Option<([u8; N], [u8; N])> {
    Some((*bytes.first_chunk()?, *bytes.last_chunk()?))
}
