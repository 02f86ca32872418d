//! How large a message and its parts are, before it is written.
//!
//! Invariant: what [`super::encode`] writes of the same values takes as many bytes.
#![allow(unsafe_code)] // Looks texts up in the chunk.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

use super::cursor::Varint;
use super::encode::{MESSAGE_LEN, NEEDS, STRING_ARGS_LEN, UNSIGNED_LEN, Values};
use super::texts::{Seen, Texts};
use crate::shmem::buffer::MAX_PAYLOAD;
use protozero::wire::varint_len;

/// What ends a text that was too long.
const ELLIPSIS: &str = "…";

/// Sizes of a message's parts, in bytes.
#[derive(Debug)]
pub struct Plan {
    /// Nanoseconds since the message before.
    pub(super) delta: Varint,
    /// The arguments in the message.
    pub(super) params: usize,
    /// The contents of `interned_data`.
    pub(super) texts: usize,
    /// The next text's id.
    iid: u32,
    /// Position of the next argument.
    pub(super) index: u32,
    /// Bit `i`: argument `i` is unsigned and does not look so.
    pub(super) unsigned: u32,
    /// The most bytes of a text.
    pub(super) max_text: usize,
    /// Number of texts that are longer.
    cut: u32,
    /// Whether there is a text, known or not.
    pub(super) has_texts: bool,
}

/// What stands before a message's values: how long after the message before it comes, the id of the first new text, the most
/// bytes of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) delta: u64,
    pub(crate) iid: u32,
    pub(crate) max_text: usize,
}

impl Plan {
    /// Measures `values`; texts that `known` has are named only.
    ///
    /// # Safety
    /// *there*, of [`super::texts`], where there are texts that are known.
    #[inline(always)]
    pub(crate) unsafe fn new<V: Values>(
        values: &V,
        before: Before,
        known: Option<&Texts>,
    ) -> (Self, V::Seen) {
        let Before { delta, iid, max_text } = before;
        let delta = Varint::new(delta);
        let (params, texts, has_texts) = (0, 0, false);
        let (index, unsigned, cut) = (0, 0, 0);
        let mut plan =
            Self { delta, params, texts, iid, index, unsigned, max_text, cut, has_texts };
        // SAFETY: as the caller's.
        let seen = unsafe { values.measure(&mut plan, known) };
        (plan, seen)
    }

    /// The same, with an id and a copy for each text.
    #[inline(always)]
    pub(crate) fn fresh<V: Values>(values: &V, before: Before) -> (Self, V::Seen) {
        // SAFETY: no texts are known.
        unsafe { Self::new(values, before, None) }
    }

    /// Number of texts that are cut.
    #[inline]
    pub(crate) fn cut(&self) -> u32 {
        self.cut
    }

    /// The id of the text after the last one.
    #[inline]
    pub(crate) fn next_iid(&self) -> u32 {
        self.iid
    }

    /// Nanoseconds since the message before.
    #[inline]
    pub(crate) fn delta(&self) -> u64 {
        self.delta.value
    }

    /// Size of the packet, without its own size field.
    #[inline(always)]
    pub(crate) fn packet(&self) -> usize {
        let message = self.message();
        let texts = if self.texts > 0 { 1 + size_len(self.texts) + self.texts } else { 0 };
        let needs = if self.has_texts { NEEDS.len() } else { 0 };
        1 + self.delta.len + texts + needs + MESSAGE_LEN + size_len(message) + message
    }

    #[inline(always)]
    pub(super) fn message(&self) -> usize {
        let unsigned =
            if self.unsigned == 0 { 0 } else { UNSIGNED_LEN + varint_len(self.unsigned as u64) };
        9 + self.params + unsigned
    }

    #[inline(always)]
    pub(super) fn param(&mut self, bytes: usize) {
        self.params += bytes;
        self.index += 1;
    }

    /// # Safety
    /// As [`Self::new`].
    #[inline(always)]
    pub(super) unsafe fn text(&mut self, text: &str, known: Option<&Texts>) -> Seen {
        if !is_short(text, self.iid, self.max_text) {
            // SAFETY: as the caller's.
            let long = unsafe { LongText::new(text, self.iid, self.max_text, known) };
            self.long_text(&long);
            return long.seen;
        }
        // SAFETY: as above.
        let seen = unsafe { Seen::of(text, known) };
        if !seen.is_known {
            self.texts += SHORT_HEAD_LEN + text.len();
            self.iid += 1;
        }
        // Ids of known texts are below that of the next one.
        self.param(2);
        self.has_texts = true;
        seen
    }

    #[inline(always)]
    fn long_text(&mut self, long: &LongText) {
        self.texts += long.interned;
        self.iid += !long.seen.is_known as u32;
        self.cut += long.is_cut as u32;
        self.param(long.param);
        self.has_texts = true;
    }

    /// A text that no table has.
    pub(super) fn new_text(&mut self, text: &str) {
        // SAFETY: no texts are known.
        let long = unsafe { LongText::new(text, self.iid, self.max_text, None) };
        self.long_text(&long);
    }
}

/// The varint of the size of a packet that fits a chunk; of a larger one anything, since it is not written.
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

/// Sizes of a text's parts. By value, so that the plan itself stays in registers.
#[derive(Debug)]
struct LongText {
    /// What comes in `interned_data`.
    interned: usize,
    param: usize,
    is_cut: bool,
    seen: Seen,
}

impl LongText {
    /// # Safety
    /// As [`Plan::new`].
    #[inline(never)]
    unsafe fn new(text: &str, iid: u32, max: usize, known: Option<&Texts>) -> Self {
        let known = known.filter(|_| text.len() <= max.min(MAX_PAYLOAD));
        // SAFETY: as the caller's.
        let seen = unsafe { Seen::of(text, known) };
        let param = 1 + varint_len(seen.iid(iid).into());
        if seen.is_known {
            return Self { interned: 0, param, is_cut: false, seen };
        }
        let (kept, ellipsis) = cut(text, max);
        let size = kept.len() + ellipsis.len();
        let string = param + 1 + varint_len(size as u64) + size;
        let interned = STRING_ARGS_LEN + varint_len(string as u64) + string;
        Self { interned, param, is_cut: !ellipsis.is_empty(), seen }
    }
}

/// Bytes of an interned text's fields, before the text, where all numbers take one byte.
pub(super) const SHORT_HEAD_LEN: usize = STRING_ARGS_LEN + 1 + 4;

/// Whether the fields of an interned text have one byte for each number: its id and the sizes.
#[inline(always)]
pub(super) fn is_short(text: &str, iid: u32, max: usize) -> bool {
    iid < 0x80 && text.len() < 0x80 - 4 && text.len() <= max
}

/// What is kept of a text, and what stands for the rest.
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
