//! The writer over scattered memory: a position in the current range, and the change of ranges.
//!
//! The fast path of every write is: get the range from the delegate, compare, store, add. Stores
//! have a constant width, eight bytes for a tag and eight for a value, whatever their actual length
//! (16 bytes of room hold any tag with any varint). So the fast path has no loop, and no call
//! except for more than 32 bytes. Everything else (the end of a range, the end of memory, a size
//! field whose range has ended) is out of line and cold. `docs/design/protozero.md` has
//! measurements.
//!
//! # Invariants
//! - *position*: `position` bytes of the current range belong to the message, or it is
//!   [`EXHAUSTED`], which is beyond the end of any range, so that the fast path never applies.
//! - *length*: `before` is the sum of the used parts of all ended ranges; once exhausted, it
//!   includes the bytes that did not fit.
//! - *open*: `open_sizes` counts the size fields in the current range that are not filled yet.

mod as_message;
mod message;
mod packed;

use crate::delegate::{Delegate, Ended, Fixed, MIN_RANGE, Patch};
use crate::error::{WriteError, WriteErrorKind};
use crate::wire::{MAX_VARINT_LEN, SIZE_FIELD_LEN, encode_varint, redundant_varint, store_varint};
pub use as_message::AsMessage;
pub use message::{Exact, Message, Nested};

/// A position beyond any range.
const EXHAUSTED: u32 = u32::MAX;

/// Width of the stores of the fast path, in bytes: a tag takes up to 5, a varint up to 10.
const STORE: usize = 16;

/// Writes one message to the memory of a delegate.
///
/// Fields are set on the [`Message`] that [`message`](Self::message) returns. Nothing fails while
/// writing: the first error is kept, and [`finish`](Self::finish) reports it.
#[derive(Debug)]
pub struct Writer<D> {
    delegate: D,
    position: u32,
    range: u32,
    open_sizes: u32,
    before: u64,
    error: Option<WriteErrorKind>,
}

/// A message that was written without an error.
#[derive(Debug)]
pub struct Finished<D> {
    /// The delegate with the memory.
    pub delegate: D,
    /// The last range, which was not passed to the delegate.
    pub ended: Ended,
    /// Length of the message in bytes, over all ranges.
    pub length: u64,
}

/// An encoded tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// Its bytes, the first one lowest.
    pub(crate) bits: u64,
    /// Their number, at most 5.
    pub(crate) len: usize,
}

/// A size field that has been reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeField {
    range: u32,
    offset: u32,
    before: u64,
}

impl<D: Delegate> Writer<D> {
    /// A writer at the start of the delegate's current range.
    #[inline]
    pub const fn new(delegate: D) -> Self {
        Self { delegate, position: 0, range: 0, open_sizes: 0, before: 0, error: None }
    }

    /// The outermost message, to set fields on. Another call continues after the last one.
    #[inline]
    pub const fn message(&mut self) -> Message<'_, D> {
        Message::root(self)
    }

    /// Bytes written so far, including those that did not fit.
    #[inline]
    pub const fn written(&self) -> u64 {
        if self.position == EXHAUSTED { self.before } else { self.before + self.position as u64 }
    }

    /// The first error, if any.
    #[inline]
    pub const fn error(&self) -> Option<WriteError> {
        match self.error {
            None => None,
            Some(kind) => Some(WriteError::new(kind, self.written())),
        }
    }

    /// Ends the message.
    #[inline]
    pub fn finish(self) -> Result<Finished<D>, WriteError> {
        if let Some(error) = self.error() {
            return Err(error);
        }
        let (ended, length) = (self.ended(), self.written());
        Ok(Finished { delegate: self.delegate, ended, length })
    }

    /// Appends a tag and a varint.
    #[inline]
    pub(crate) fn put_varint(&mut self, tag: Tag, value: u64) {
        if let Some(place) = self.place(tag) {
            let len = store_varint(place, value);
            self.position += (tag.len + len) as u32;
        } else {
            self.put_varint_split(tag, value);
        }
    }

    /// Appends a tag and the low `len` bytes of `bits`, at most 8.
    #[inline]
    pub(crate) fn put(&mut self, tag: Tag, bits: u64, len: usize) {
        if let Some(place) = self.place(tag).and_then(|place| place.first_chunk_mut()) {
            *place = bits.to_le_bytes();
            self.position += (tag.len + len) as u32;
        } else {
            self.put_split(tag, bits, len);
        }
    }

    /// Appends a tag, the size of `bytes`, and `bytes`.
    #[inline]
    pub(crate) fn put_bytes(&mut self, tag: Tag, bytes: &[u8]) {
        if self.put_short(tag, bytes).is_none() {
            self.put_long(tag, bytes);
        }
    }

    /// Appends `bytes`.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let room = self.delegate.range().get_mut(self.position as usize..);
        if let Some(room) = room.and_then(|room| room.get_mut(..bytes.len())) {
            copy(room, bytes);
            self.position += bytes.len() as u32;
        } else {
            self.write_split(bytes);
        }
    }

    /// Appends a tag and reserves a size field after it.
    #[inline]
    pub(crate) fn open_size(&mut self, tag: Tag) -> SizeField {
        if let Some(place) = self.place(tag).and_then(|place| place.first_chunk_mut()) {
            *place = RESERVED;
            self.position += (tag.len + SIZE_FIELD_LEN) as u32;
        } else {
            self.open_size_split(tag);
        }
        self.open_sizes += 1;
        SizeField {
            range: self.range,
            offset: self.position - SIZE_FIELD_LEN as u32,
            before: self.before,
        }
    }

    /// Fills a size field with the number of bytes after it.
    #[inline]
    pub(crate) fn close_size(&mut self, field: SizeField) {
        let size = self.position.wrapping_sub(field.offset + SIZE_FIELD_LEN as u32);
        if let (true, Some(bytes)) = (field.range == self.range, redundant_varint(size)) {
            self.open_sizes = self.open_sizes.wrapping_sub(1);
            let start = field.offset as usize;
            let place = self.delegate.range().get_mut(start..start.saturating_add(SIZE_FIELD_LEN));
            if let Some(place) = place.and_then(|place| place.first_chunk_mut()) {
                *place = bytes;
            }
        } else {
            self.close_size_elsewhere(field);
        }
    }

    /// Records an error, unless there is an earlier one.
    #[cold]
    pub(crate) fn fail(&mut self, kind: WriteErrorKind) {
        self.error.get_or_insert(kind);
    }

    /// Appends bytes whose size takes one byte, if the current range has room: one comparison for
    /// all three parts.
    #[inline]
    fn put_short(&mut self, tag: Tag, bytes: &[u8]) -> Option<()> {
        if bytes.len() > 127 {
            return None;
        }
        let start = self.position as usize;
        let end = start.saturating_add(STORE + bytes.len());
        let room = self.delegate.range().get_mut(start..end)?;
        *room.first_chunk_mut()? = tag.bits.to_le_bytes();
        let (size, room) = room.get_mut(tag.len..)?.split_first_mut()?;
        *size = bytes.len() as u8;
        copy(room.get_mut(..bytes.len())?, bytes);
        self.position += (tag.len + 1 + bytes.len()) as u32;
        Some(())
    }

    #[inline(never)]
    fn put_long(&mut self, tag: Tag, bytes: &[u8]) {
        self.put_varint(tag, bytes.len() as u64);
        self.write(bytes);
    }

    /// Stores a tag, if the current range has room for it and the longest varint, and returns the
    /// space for the varint.
    #[inline]
    fn place(&mut self, tag: Tag) -> Option<&mut [u8; MAX_VARINT_LEN]> {
        let start = self.position as usize;
        let room = self.delegate.range().get_mut(start..start.saturating_add(STORE))?;
        *room.first_chunk_mut()? = tag.bits.to_le_bytes();
        room.get_mut(tag.len..)?.first_chunk_mut()
    }

    const fn ended(&self) -> Ended {
        Ended { range: self.range, used: self.position as usize, open_sizes: self.open_sizes }
    }

    #[cold]
    #[inline(never)]
    fn put_varint_split(&mut self, tag: Tag, value: u64) {
        let (bytes, len) = encode_varint(value);
        self.put_split(tag, 0, 0);
        self.write_split(bytes.get(..len).unwrap_or(&bytes));
    }

    #[cold]
    #[inline(never)]
    fn put_split(&mut self, tag: Tag, bits: u64, len: usize) {
        for (bits, len) in [(tag.bits, tag.len), (bits, len)] {
            let bytes = bits.to_le_bytes();
            self.write_split(bytes.get(..len).unwrap_or(&bytes));
        }
    }

    /// Appends `bytes` over as many ranges as it takes.
    #[cold]
    #[inline(never)]
    fn write_split(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.position == EXHAUSTED {
                self.before += bytes.len() as u64;
                return;
            }
            let room = self.delegate.range().get_mut(self.position as usize..).unwrap_or_default();
            let len = room.len().min(bytes.len());
            let (now, later) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.position += len as u32;
            bytes = later;
            if !bytes.is_empty() {
                self.next_range();
            }
        }
    }

    /// As [`open_size`](Self::open_size). The tag can be split, but not the size field, because a
    /// patch is one store.
    #[cold]
    #[inline(never)]
    fn open_size_split(&mut self, tag: Tag) {
        self.put_split(tag, 0, 0);
        if self.position != EXHAUSTED {
            let room = self.delegate.range().len().saturating_sub(self.position as usize);
            if room < SIZE_FIELD_LEN {
                self.next_range();
            }
        }
        self.write_split(&RESERVED);
    }

    /// Asks for another range.
    fn next_range(&mut self) {
        let ended = self.ended();
        self.before += ended.used as u64;
        self.range = self.range.wrapping_add(1);
        self.open_sizes = 0;
        self.position = 0;
        if self.delegate.next_range(ended).is_err() || self.delegate.range().len() < MIN_RANGE {
            self.position = EXHAUSTED;
            self.fail(WriteErrorKind::Exhausted);
        }
    }

    /// Passes the value of a size field to the delegate, because the field's range has ended.
    #[cold]
    #[inline(never)]
    fn close_size_elsewhere(&mut self, field: SizeField) {
        if self.position == EXHAUSTED {
            return;
        }
        let position = field.before + u64::from(field.offset);
        let size = self.written().saturating_sub(position + SIZE_FIELD_LEN as u64);
        match u32::try_from(size).ok().and_then(redundant_varint) {
            Some(bytes) => {
                self.delegate.patch(Patch {
                    range: field.range,
                    offset: field.offset,
                    position,
                    bytes,
                });
            }
            None => self.fail(WriteErrorKind::NestedTooLong),
        }
    }
}

/// A size field whose value is not known yet: size 0 in four bytes.
const RESERVED: [u8; SIZE_FIELD_LEN] = [0x80, 0x80, 0x80, 0x00];

/// Copies between slices of equal length. Up to 32 bytes need no call: two copies of a fixed width,
/// which can overlap.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    fn both_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> Option<()> {
        let (first, last) = (from.first_chunk::<N>()?, from.last_chunk::<N>()?);
        *to.first_chunk_mut()? = *first;
        *to.last_chunk_mut()? = *last;
        Some(())
    }
    // Comparisons, because a `match` would become a jump table.
    let len = from.len();
    let done = if len > 32 {
        None
    } else if len >= 16 {
        both_ends::<16>(to, from)
    } else if len >= 8 {
        both_ends::<8>(to, from)
    } else if len >= 4 {
        both_ends::<4>(to, from)
    } else if len >= 2 {
        both_ends::<2>(to, from)
    } else if len == 1 {
        both_ends::<1>(to, from)
    } else {
        Some(())
    };
    if done.is_none() {
        to.copy_from_slice(from);
    }
}

impl<'a> Writer<Fixed<'a>> {
    /// Ends the message and returns its bytes.
    pub fn into_slice(self) -> Result<&'a mut [u8], WriteError> {
        let finished = self.finish()?;
        let memory = finished.delegate.into_memory();
        Ok(memory.get_mut(..finished.ended.used).unwrap_or_default())
    }
}

#[cfg(feature = "alloc")]
impl Writer<crate::heap::Heap> {
    /// Ends the message and returns its bytes.
    pub fn into_vec(self) -> Result<alloc::vec::Vec<u8>, WriteError> {
        let finished = self.finish()?;
        Ok(finished.delegate.into_vec(finished.ended.used))
    }
}
