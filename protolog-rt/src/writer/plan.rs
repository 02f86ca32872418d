//! The sizes of a message and its parts, before it is written.
//!
//! Invariant: [`super::packet`] writes as many bytes of the same arguments.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::cursor::Varint;
use super::intern::{ChunkStrings, Lookup};
use super::layout::{MESSAGE_LEN, NEEDS_STATE, STRING_ARGS_LEN, UNSIGNED_LEN};
use protolog_shmem::MAX_PAYLOAD;
use protozero::wire::varint_len;

/// The end of a string that was too long.
const ELLIPSIS: &str = "…";

/// Sizes of a message's parts, in bytes.
#[derive(Debug)]
pub struct Plan {
    /// Nanoseconds since the message before.
    pub(super) delta: Varint,
    /// The arguments in the message.
    pub(super) params: usize,
    /// The contents of `interned_data`.
    pub(super) strings: usize,
    /// The next string's id.
    iid: u32,
    /// Position of the next argument.
    pub(super) index: u32,
    /// Bit `i`: argument `i` is unsigned and does not look so.
    pub(super) unsigned: u32,
    /// The most bytes of a string.
    pub(super) max_string_bytes: usize,
    /// Number of strings that are longer.
    cut: u32,
    /// True if there is a string, known or new.
    pub(super) has_strings: bool,
}

/// The state of the sequence that a packet starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    /// Nanoseconds since the message before.
    pub(crate) delta: u64,
    /// The id of the first new string.
    pub(crate) iid: u32,
    /// The most bytes of a string.
    pub(crate) max_string_bytes: usize,
}

impl Plan {
    /// A plan of no arguments.
    #[inline(always)]
    pub(super) fn new(base: Base) -> Self {
        let Base { delta, iid, max_string_bytes } = base;
        let delta = Varint::new(delta);
        let (params, strings, has_strings) = (0, 0, false);
        let (index, unsigned, cut) = (0, 0, 0);
        Self { delta, params, strings, iid, index, unsigned, max_string_bytes, cut, has_strings }
    }

    /// Number of strings that are cut.
    #[inline]
    pub(crate) fn cut(&self) -> u32 {
        self.cut
    }

    /// The id of the string after the last one.
    #[inline]
    pub(crate) fn next_iid(&self) -> u32 {
        self.iid
    }

    /// Nanoseconds since the message before.
    #[inline]
    pub(crate) fn delta(&self) -> u64 {
        self.delta.value
    }

    /// The size of the message's packet, without its own size field.
    #[inline(always)]
    pub(super) fn packet(&self) -> usize {
        let message = self.message();
        let strings = if self.strings > 0 { 1 + size_len(self.strings) + self.strings } else { 0 };
        let flags = if self.has_strings { NEEDS_STATE.len() } else { 0 };
        1 + self.delta.len + strings + flags + MESSAGE_LEN + size_len(message) + message
    }

    /// The size of the message.
    #[inline(always)]
    pub(super) fn message(&self) -> usize {
        let unsigned =
            if self.unsigned == 0 { 0 } else { UNSIGNED_LEN + varint_len(self.unsigned as u64) };
        9 + self.params + unsigned
    }

    /// Adds an argument.
    #[inline(always)]
    pub(super) fn add_param(&mut self, bytes: usize) {
        self.params += bytes;
        self.index += 1;
    }

    /// Adds an argument that is a string.
    #[inline(always)]
    pub(super) fn add_string(&mut self, text: &str, known: Option<ChunkStrings<'_>>) -> Lookup {
        if !is_short(text, self.iid, self.max_string_bytes) {
            let long = LongString::new(text, self.iid, self.max_string_bytes, known);
            self.add_long_string(&long);
            return long.lookup;
        }
        let lookup = Lookup::of(text, known);
        if !lookup.is_known {
            self.strings += SHORT_HEAD_LEN + text.len();
            self.iid += 1;
        }
        // Ids of known strings are below that of the next one.
        self.add_param(2);
        self.has_strings = true;
        lookup
    }

    /// Adds a string that no table has.
    pub(super) fn add_new_string(&mut self, text: &str) {
        self.add_long_string(&LongString::new(text, self.iid, self.max_string_bytes, None));
    }

    #[inline(always)]
    fn add_long_string(&mut self, long: &LongString) {
        self.strings += long.interned;
        self.iid += !long.lookup.is_known as u32;
        self.cut += long.is_cut as u32;
        self.add_param(long.param);
        self.has_strings = true;
    }
}

/// The varint of the size of a packet that fits a chunk; of a larger one anything, since it is not
/// written.
#[inline(always)]
pub(super) fn size_field(size: usize) -> (u128, usize) {
    const _: () = assert!(MAX_PAYLOAD < 1 << 14);
    if size < 0x80 { (size as u128, 1) } else { ((size & 0x7f | 0x80 | size >> 7 << 8) as u128, 2) }
}

/// Bytes of a size.
#[inline(always)]
fn size_len(size: usize) -> usize {
    if size < 0x80 { 1 } else { varint_len(size as u64) }
}

/// Sizes of a string's parts. By value, so that the plan itself stays in registers.
#[derive(Debug)]
struct LongString {
    /// Its field of `interned_data`.
    interned: usize,
    param: usize,
    is_cut: bool,
    lookup: Lookup,
}

impl LongString {
    #[inline(never)]
    fn new(text: &str, iid: u32, max: usize, known: Option<ChunkStrings<'_>>) -> Self {
        let known = known.filter(|_| text.len() <= max.min(MAX_PAYLOAD));
        let lookup = Lookup::of(text, known);
        let param = 1 + varint_len(lookup.iid(iid).into());
        if lookup.is_known {
            return Self { interned: 0, param, is_cut: false, lookup };
        }
        let (kept, ellipsis) = cut(text, max);
        let size = kept.len() + ellipsis.len();
        let string = param + 1 + varint_len(size as u64) + size;
        let interned = STRING_ARGS_LEN + varint_len(string as u64) + string;
        Self { interned, param, is_cut: !ellipsis.is_empty(), lookup }
    }
}

/// Bytes of an interned string's fields, before the string, where all numbers take one byte.
pub(super) const SHORT_HEAD_LEN: usize = STRING_ARGS_LEN + 1 + 4;

/// Returns true if the fields of an interned string have one byte for each number: its id and the
/// sizes.
#[inline(always)]
pub(super) fn is_short(text: &str, iid: u32, max: usize) -> bool {
    iid < 0x80 && text.len() < 0x80 - 4 && text.len() <= max
}

/// The part of a string that is kept, and the mark in place of the rest.
#[inline]
pub(super) fn cut(text: &str, max: usize) -> (&str, &'static str) {
    if text.len() <= max { (text, "") } else { shorten(text, max) }
}

#[cold]
fn shorten(text: &str, max: usize) -> (&str, &'static str) {
    let mut end = max.saturating_sub(ELLIPSIS.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text.get(..end).unwrap_or_default(), ELLIPSIS)
}
