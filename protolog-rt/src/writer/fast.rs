//! The fast path's encoder: messages of small numbers and short strings, straight into the chunk.
//!
//! The types of the arguments bound the size of such a message: a number takes ten bytes at most, a
//! string that is named by an id below 128 takes one. Where the bound is below 128, both size
//! fields take one byte. So nothing has to be measured before it is written: one comparison of the
//! bound with the limit reserves the room, and the sizes are filled in at the end. Everything else
//! takes the slow path ([`super::packet`]).
//!
//! Invariant *same*: the bytes are those that [`super::packet`] writes of the same arguments.
#![allow(unsafe_code)] // Promises about sizes.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

pub(crate) mod few;

use super::annotations::{
    AROUND_ARGUMENT, BOOL_VALUE, DOUBLE_VALUE, INT_VALUE, STRING_VALUE, UINT_VALUE, interned,
    number, put,
};
use super::args::Args;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner, Lookup};
use super::layout::{
    BOOL_PARAM, FLOAT_PARAM, INT_PARAM, INTERNED_DATA, MESSAGE, MESSAGE_ID, MESSAGE_LEN,
    NEEDS_STATE, STRING_ARGS, STRING_PARAM, TIMESTAMP,
};
use super::plan::SHORT_HEAD_LEN;
use crate::value::{Bool, Float, Int, Str, Uint};
use protolog_shmem::MAX_PAYLOAD;
use protozero::wire::{short_varint, zigzag};

/// The nanoseconds since the message before have to be fewer: then their varint takes at most four
/// bytes.
pub(super) const MAX_DELTA: u64 = 1 << 28;

/// Bytes of a packet with strings, but for the fields of the message: the packet's size, the time,
/// flags, the message's tag and size, its id.
const AROUND: usize = 1 + (1 + 4) + NEEDS_STATE.len() + MESSAGE_LEN + 1 + 9;

/// Bytes around new strings: the tag and size of `interned_data`.
pub(super) const AROUND_NEW: usize = 2;

/// Arguments that the fast path can encode.
///
/// # Safety
/// *bound*: [`Self::put_params`] appends at most [`Self::MOST`] bytes, and [`Self::put_strings`] as
/// many as [`Self::find`] added to [`NewStrings::bytes`], if they get what that returned.
pub unsafe trait FastArgs: Args {
    /// The most bytes of the message's fields.
    #[doc(hidden)]
    const MOST: usize;

    /// The result of looking up the strings.
    #[doc(hidden)]
    type Found: Copy;

    /// Returns false where no argument is a string.
    #[doc(hidden)]
    #[inline(always)]
    fn has_strings(&self) -> bool {
        Self::HAS_STRINGS
    }

    /// Looks up the strings; none where one is new or long, or where a number looks unsigned.
    #[doc(hidden)]
    fn find_known(&self, strings: ChunkStrings<'_>) -> Option<Self::Found>;

    /// Looks up the strings, and adds the new ones to `new`; none where one is long, or where a
    /// number looks unsigned.
    #[doc(hidden)]
    fn find(&self, strings: ChunkStrings<'_>, new: &mut NewStrings) -> Option<Self::Found>;

    /// Appends the new strings.
    #[doc(hidden)]
    fn put_strings(&self, to: &mut Cursor, found: Self::Found, interner: &mut Interner<'_>);

    /// Appends the fields of the message; `iid` is the id of the next new string.
    #[doc(hidden)]
    fn put_params(&self, to: &mut Cursor, found: Self::Found, iid: &mut u32);

    /// The number of arguments.
    #[doc(hidden)]
    const COUNT: usize;

    /// The most bytes that [`Self::put_annotations`] appends, or [`Self::put_numbered`]; a number
    /// that no chunk has room for may stand for a larger one.
    #[doc(hidden)]
    fn annotations_room(&self) -> usize;

    /// Appends the arguments as those of a slice, with interned names, the first of them `name`.
    #[doc(hidden)]
    fn put_annotations(&self, to: &mut Cursor, name: u8);

    /// Appends them with their numbers for names, the first of them `NUMBERS[index]`.
    #[doc(hidden)]
    fn put_numbered(&self, to: &mut Cursor, index: usize);
}

/// The strings that a message brings.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewStrings {
    /// The size of their fields in `interned_data`.
    pub(super) bytes: usize,
    pub(super) count: u32,
}

/// The most bytes of a packet of such arguments without new strings, its size field included; none
/// where it may have 128 and more.
pub(super) const fn most<A: FastArgs>() -> Option<usize> {
    if AROUND + A::MOST <= 0x80 { Some(AROUND + A::MOST) } else { None }
}

/// Appends a packet with its size: at most [`most`] bytes, which is some, and where there are new
/// strings [`AROUND_NEW`] and the `new` bytes of these. `delta` is below [`MAX_DELTA`].
#[inline(always)]
pub(super) fn encode<A: FastArgs>(
    to: &mut Cursor,
    (id, delta): (u64, u32),
    (args, found): (&A, A::Found),
    new: usize,
    mut interner: Interner<'_>,
) {
    let mut iid = interner.iid;
    let packet_size = to.skip_size();
    let (bits, len) = if delta < 0x80 { (delta, 1) } else { short_varint(delta) };
    to.put1(TIMESTAMP);
    to.put4(bits, len);
    if new > 0 {
        to.put1(INTERNED_DATA);
        to.put1(new as u8);
        args.put_strings(to, found, &mut interner);
    }
    let (before, before_len) = if args.has_strings() {
        let flags = u16::from_le_bytes(NEEDS_STATE) as u64;
        (flags | (MESSAGE as u64) << 16, NEEDS_STATE.len() + MESSAGE_LEN)
    } else {
        (MESSAGE as u64, MESSAGE_LEN)
    };
    to.put8(before | u64::from(MESSAGE_ID) << (8 * (before_len + 1)), before_len);
    let message_size = to.skip_size();
    to.put1(MESSAGE_ID);
    to.put8(id, 8);
    args.put_params(to, found, &mut iid);
    let size = to.since(&packet_size);
    to.fill(packet_size, size);
    // Not the bytes since `message_size`: that is two instructions more.
    let strings = if new > 0 { AROUND_NEW + new } else { 0 };
    to.fill(message_size, size - (1 + len + strings + before_len + 1));
}

// SAFETY: *bound*: no arguments, no bytes.
unsafe impl FastArgs for () {
    const MOST: usize = 0;
    const COUNT: usize = 0;
    type Found = ();

    #[inline(always)]
    fn find_known(&self, _: ChunkStrings<'_>) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn find(&self, _: ChunkStrings<'_>, _: &mut NewStrings) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn put_strings(&self, _: &mut Cursor, (): (), _: &mut Interner<'_>) {}

    #[inline(always)]
    fn put_params(&self, _: &mut Cursor, (): (), _: &mut u32) {}

    #[inline(always)]
    fn annotations_room(&self) -> usize {
        0
    }

    #[inline(always)]
    fn put_annotations(&self, _: &mut Cursor, _: u8) {}

    fn put_numbered(&self, _: &mut Cursor, _: usize) {}
}

// SAFETY: *bound*: each function does what those of the first argument and of the rest do.
unsafe impl<Head: FastArg, Rest: FastArgs> FastArgs for (Head, Rest)
where
    (Head, Rest): Args,
{
    const MOST: usize = Head::MOST + Rest::MOST;
    const COUNT: usize = 1 + Rest::COUNT;
    type Found = (Head::Found, Rest::Found);

    #[inline(always)]
    fn find_known(&self, strings: ChunkStrings<'_>) -> Option<Self::Found> {
        Some((self.0.find_known(strings)?, self.1.find_known(strings)?))
    }

    #[inline(always)]
    fn find(&self, strings: ChunkStrings<'_>, new: &mut NewStrings) -> Option<Self::Found> {
        Some((self.0.find(strings, new)?, self.1.find(strings, new)?))
    }

    #[inline(always)]
    fn put_strings(&self, to: &mut Cursor, found: Self::Found, interner: &mut Interner<'_>) {
        self.0.put_string(to, found.0, interner);
        self.1.put_strings(to, found.1, interner);
    }

    #[inline(always)]
    fn put_params(&self, to: &mut Cursor, found: Self::Found, iid: &mut u32) {
        self.0.put_param(to, found.0, iid);
        self.1.put_params(to, found.1, iid);
    }

    #[inline(always)]
    fn annotations_room(&self) -> usize {
        self.0.annotation_room() + self.1.annotations_room()
    }

    #[inline(always)]
    fn put_annotations(&self, to: &mut Cursor, name: u8) {
        let arg = self.0;
        put(to, interned(name), arg.text_len(), |to| arg.put_value(to));
        self.1.put_annotations(to, name.wrapping_add(1));
    }

    fn put_numbered(&self, to: &mut Cursor, index: usize) {
        let arg = self.0;
        put(to, number(index), arg.text_len(), |to| arg.put_value(to));
        self.1.put_numbered(to, index + 1);
    }
}

/// One argument of a list. Its functions do for it what those of [`FastArgs`] do for all.
///
/// # Safety
/// *bound*, of [`FastArgs`], for the one argument.
pub unsafe trait FastArg: Copy {
    const MOST: usize;
    type Found: Copy;
    fn find_known(self, strings: ChunkStrings<'_>) -> Option<Self::Found>;
    #[inline(always)]
    fn find(self, strings: ChunkStrings<'_>, _: &mut NewStrings) -> Option<Self::Found> {
        self.find_known(strings)
    }
    #[inline(always)]
    fn put_string(self, _: &mut Cursor, _: Self::Found, _: &mut Interner<'_>) {}
    fn put_param(self, to: &mut Cursor, found: Self::Found, iid: &mut u32);
    #[inline(always)]
    fn annotation_room(self) -> usize {
        AROUND_ARGUMENT
    }
    /// Appends the value of a slice's argument: at most 11 bytes, or those of a text and four more.
    fn put_value(self, to: &mut Cursor);
    /// The bytes of a text.
    #[inline(always)]
    fn text_len(self) -> usize {
        0
    }
}

// SAFETY: *bound*: the tag's byte, and a varint of at most ten.
unsafe impl FastArg for Int {
    const MOST: usize = 1 + 10;
    type Found = ();

    #[inline(always)]
    fn find_known(self, _: ChunkStrings<'_>) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn put_param(self, to: &mut Cursor, (): (), _: &mut u32) {
        to.number::<0>(INT_PARAM, zigzag(self.0));
    }

    #[inline(always)]
    fn put_value(self, to: &mut Cursor) {
        to.number::<0>(INT_VALUE, self.0 as u64);
    }
}

// SAFETY: *bound*: the tag's byte, and a varint of at most ten.
unsafe impl FastArg for Uint {
    const MOST: usize = 1 + 10;
    type Found = ();

    #[inline(always)]
    fn find_known(self, _: ChunkStrings<'_>) -> Option<()> {
        (self.0 < 1 << 63).then_some(())
    }

    #[inline(always)]
    fn put_param(self, to: &mut Cursor, (): (), _: &mut u32) {
        to.number::<1>(INT_PARAM, self.0);
    }

    #[inline(always)]
    fn put_value(self, to: &mut Cursor) {
        to.number::<0>(UINT_VALUE, self.0);
    }
}

// SAFETY: *bound*: the tag's byte, and eight.
unsafe impl FastArg for Float {
    const MOST: usize = 1 + 8;
    type Found = ();

    #[inline(always)]
    fn find_known(self, _: ChunkStrings<'_>) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn put_param(self, to: &mut Cursor, (): (), _: &mut u32) {
        to.put1(FLOAT_PARAM);
        to.put8(self.0.to_bits(), 8);
    }

    #[inline(always)]
    fn put_value(self, to: &mut Cursor) {
        to.put1(DOUBLE_VALUE);
        to.put8(self.0.to_bits(), 8);
    }
}

// SAFETY: *bound*: the tag's byte, and one.
unsafe impl FastArg for Bool {
    const MOST: usize = 1 + 1;
    type Found = ();

    #[inline(always)]
    fn find_known(self, _: ChunkStrings<'_>) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn put_param(self, to: &mut Cursor, (): (), _: &mut u32) {
        to.put1(BOOL_PARAM);
        to.put1(self.0.into());
    }

    #[inline(always)]
    fn put_value(self, to: &mut Cursor) {
        to.put4(u32::from(BOOL_VALUE) | u32::from(self.0) << 8, 2);
    }
}

// SAFETY: *bound*: the tag's byte, and that of an id below 128; a new string takes what `find`
// added, since `find_short` finds none that is long.
unsafe impl FastArg for Str<'_> {
    const MOST: usize = 1 + 1;
    type Found = Lookup;

    #[inline(always)]
    fn find_known(self, strings: ChunkStrings<'_>) -> Option<Lookup> {
        strings.find_known(self.0)
    }

    #[inline(always)]
    fn find(self, strings: ChunkStrings<'_>, new: &mut NewStrings) -> Option<Lookup> {
        let found = strings.find_short(self.0)?;
        if !found.is_known {
            new.bytes += SHORT_HEAD_LEN + self.0.len();
            new.count += 1;
        }
        Some(found)
    }

    #[inline(always)]
    fn put_string(self, to: &mut Cursor, found: Lookup, interner: &mut Interner<'_>) {
        if !found.is_known {
            self.encode_short(STRING_ARGS, to, found, interner);
        }
    }

    #[inline(always)]
    fn put_param(self, to: &mut Cursor, found: Lookup, iid: &mut u32) {
        let own = found.iid(*iid);
        *iid += !found.is_known as u32;
        to.put1(STRING_PARAM);
        to.put1(own as u8);
    }

    #[inline(always)]
    fn annotation_room(self) -> usize {
        // The sum of some may be more than all memory where an address has 32 bits.
        let is_wide = cfg!(target_pointer_width = "64");
        AROUND_ARGUMENT + if is_wide { self.0.len() } else { self.0.len().min(MAX_PAYLOAD) }
    }

    #[inline(always)]
    fn put_value(self, to: &mut Cursor) {
        to.size(STRING_VALUE.into(), 1, self.0.len());
        to.short_bytes(self.0.as_bytes());
    }

    #[inline(always)]
    fn text_len(self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests;
