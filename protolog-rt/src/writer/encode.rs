//! A message as bytes: what its packet looks like, how large it is, and writing it.
//!
//! ```text
//! 40 delta                                timestamp, in the sequence's clock
//! [62 n {a2 02 n {08 iid 12 n text}}…     interned_data: the texts, each with an id of its own
//!  68 02]                                 sequence_flags: needs what the chunk's first packet set up
//! c2 06 n                                 protolog_message
//!   09 id                                 message_id
//!   {10 iid | 18 int | 21 float | 28 bool}…
//!   [c0 3e bits]                          ours: which arguments are unsigned, where it shows
//! ```
//!
//! Sizes are computed first, so the caller compares once and nothing is filled in later; then every store is 16 bytes
//! wide, whatever it has to say.
//!
//! Invariant: *room*: whoever calls an `unsafe` function here has made sure that the bytes announced by [`Plan`], and
//! [`SLACK`] more, are the caller's to write.
#![allow(unsafe_code)] // Stores through a pointer, checked once for the whole packet.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

pub(crate) use super::cursor::{Cursor, SLACK};
use crate::value::{Bool, Float, Int, Text, Uint};
use protolog_core::{Arg, MAX_PARAMS, schema};
use protozero::wire::{WireType, packed_varint, tag, varint_len, zigzag};

/// What ends a text that was too long.
const ELLIPSIS: &str = "…";

const TIMESTAMP: u8 = tag(schema::packet::TIMESTAMP, WireType::Varint) as u8;
const INTERNED_DATA: u8 = tag(schema::packet::INTERNED_DATA, WireType::Bytes) as u8;
const STRING_ARGS: u128 =
    packed_varint(tag(schema::interned_data::PROTOLOG_STRING_ARGS, WireType::Bytes) as u64).0;
const STRING_ARGS_LEN: usize = 2;
const IID: u8 = tag(schema::interned_string::IID, WireType::Varint) as u8;
const STR: u8 = tag(schema::interned_string::STR, WireType::Bytes) as u8;
/// The field `sequence_flags` of a packet with texts.
const NEEDS: [u8; 2] = [
    tag(schema::packet::SEQUENCE_FLAGS, WireType::Varint) as u8,
    schema::sequence_flags::NEEDS_INCREMENTAL_STATE as u8,
];
const MESSAGE: u128 =
    packed_varint(tag(schema::packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64).0;
const MESSAGE_LEN: usize = 2;
const MESSAGE_ID: u8 = tag(schema::message::MESSAGE_ID, WireType::Fixed64) as u8;
const UNSIGNED: u128 = packed_varint(tag(schema::message::UNSIGNED, WireType::Varint) as u64).0;
const UNSIGNED_LEN: usize = 2;

/// Sizes of a message's parts, in bytes.
#[derive(Debug)]
pub struct Plan {
    /// The arguments in the message.
    params: usize,
    /// The contents of `interned_data`.
    texts: usize,
    /// The next text's id.
    iid: u32,
    /// Position of the next argument.
    index: u32,
    /// Bit `i`: argument `i` is unsigned and does not look so.
    unsigned: u32,
    /// The most bytes of a text.
    max_text: usize,
    /// Number of texts that are longer.
    cut: u32,
}

impl Plan {
    /// Measures `values`, whose first text gets the id `iid` and whose texts are cut to `max_text` bytes.
    #[inline]
    pub(crate) fn new<V: Values>(values: &V, iid: u32, max_text: usize) -> Self {
        let mut plan = Self { params: 0, texts: 0, iid, index: 0, unsigned: 0, max_text, cut: 0 };
        values.measure(&mut plan);
        plan
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

    /// Size of the packet, without its own size field.
    #[inline]
    pub(crate) fn packet(&self, delta: u64) -> usize {
        let message = self.message();
        1 + varint_len(delta)
            + if self.texts > 0 {
                1 + varint_len(self.texts as u64) + self.texts + NEEDS.len()
            } else {
                0
            }
            + MESSAGE_LEN
            + varint_len(message as u64)
            + message
    }

    #[inline]
    fn message(&self) -> usize {
        let unsigned =
            if self.unsigned == 0 { 0 } else { UNSIGNED_LEN + varint_len(self.unsigned as u64) };
        9 + self.params + unsigned
    }

    #[inline]
    fn param(&mut self, bytes: usize) {
        self.params += bytes;
        self.index += 1;
    }

    #[inline(always)]
    pub(super) fn text(&mut self, text: &str) {
        if is_short(text, self.iid, self.max_text) {
            self.texts += SHORT_HEAD_LEN + text.len();
            self.iid += 1;
            self.param(2);
        } else {
            self.long_text(text);
        }
    }

    #[inline(never)]
    fn long_text(&mut self, text: &str) {
        let (kept, ellipsis) = cut(text, self.max_text);
        self.cut += !ellipsis.is_empty() as u32;
        let size = kept.len() + ellipsis.len();
        let iid = varint_len(self.iid as u64);
        let string = 1 + iid + 1 + varint_len(size as u64) + size;
        self.texts += STRING_ARGS_LEN + varint_len(string as u64) + string;
        self.iid += 1;
        self.param(1 + iid);
    }
}

/// Bytes of an interned text's fields, before the text, where all numbers take one byte.
const SHORT_HEAD_LEN: usize = STRING_ARGS_LEN + 1 + 4;

/// Whether the fields of an interned text have one byte for each number: its id and the sizes.
#[inline(always)]
fn is_short(text: &str, iid: u32, max: usize) -> bool {
    iid < 0x80 && text.len() < 0x80 - 4 && text.len() <= max
}

/// What is kept of a text, and what stands for the rest.
#[inline]
fn cut(text: &str, max: usize) -> (&str, &'static str) {
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

impl Cursor {
    /// Appends the packet of a message.
    ///
    /// # Safety
    /// *room*: [`Plan::packet`] bytes and [`SLACK`]; `plan` was made of `values` with the same first iid.
    #[inline(always)]
    pub(crate) unsafe fn packet<V: Values>(
        &mut self,
        id: u64,
        delta: u64,
        values: &V,
        plan: &Plan,
        mut iid: u32,
    ) {
        let mut text_iid = iid;
        // SAFETY: *room* covers every part, which together are as long as planned.
        unsafe { self.varint(TIMESTAMP, delta) };
        if plan.texts > 0 {
            // SAFETY: as above.
            unsafe { self.varint(INTERNED_DATA, plan.texts as u64) };
            // SAFETY: as above.
            unsafe { values.texts(self, &mut text_iid, plan.max_text) };
            // SAFETY: as above.
            unsafe { self.put(u16::from_le_bytes(NEEDS) as u128, NEEDS.len()) };
        }
        let (size, size_len) = packed_varint(plan.message() as u64);
        // The size of a message takes at most 5 bytes: two for the tag, one for the id's tag, eight for the id: 16.
        let head = MESSAGE
            | size << (8 * MESSAGE_LEN)
            | (MESSAGE_ID as u128 | (id as u128) << 8) << (8 * (MESSAGE_LEN + size_len));
        // SAFETY: as above.
        unsafe { self.put(head, MESSAGE_LEN + size_len + 9) };
        // SAFETY: as above.
        unsafe { values.params(self, &mut iid) };
        if plan.unsigned != 0 {
            let (bits, len) = packed_varint(plan.unsigned as u64);
            // SAFETY: as above.
            unsafe { self.put(UNSIGNED | bits << (8 * UNSIGNED_LEN), UNSIGNED_LEN + len) };
        }
    }
}

pub(super) mod sealed {
    /// Only this module knows how to keep *room*.
    pub trait Sealed {}
}

/// The arguments of a call: lists such as `(Int(1), (Text("x"), ()))`.
pub trait Values: sealed::Sealed {
    /// Adds the sizes to the plan.
    #[doc(hidden)]
    fn measure(&self, plan: &mut Plan);

    /// Appends the fields of the message.
    ///
    /// # Safety
    /// *room*: as [`Values::measure`] said, and [`SLACK`].
    #[doc(hidden)]
    unsafe fn params(&self, to: &mut Cursor, iid: &mut u32);

    /// Appends the fields of `interned_data`.
    ///
    /// # Safety
    /// *room*: as [`Values::measure`] said, and [`SLACK`].
    #[doc(hidden)]
    unsafe fn texts(&self, to: &mut Cursor, iid: &mut u32, max: usize);

    /// Calls `f` with each value.
    fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>));

    /// Whether the packet is a message.
    #[doc(hidden)]
    const IS_MESSAGE: bool = true;

    /// Size of the packet, without its own size field.
    #[doc(hidden)]
    #[inline(always)]
    fn size(&self, plan: &Plan, delta: u64) -> usize {
        plan.packet(delta)
    }

    /// Appends the packet.
    ///
    /// # Safety
    /// *room*: [`Values::size`] bytes and [`SLACK`]; `plan` was made of these values with the same first iid.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn packet(&self, to: &mut Cursor, id: u64, delta: u64, plan: &Plan, iid: u32)
    where
        Self: Sized,
    {
        // SAFETY: as the caller's.
        unsafe { to.packet(id, delta, self, plan, iid) };
    }
}

/// One value of a list. The three functions do for it what those of [`Values`] do for all.
pub(super) trait Value: Copy {
    fn measure(self, plan: &mut Plan);
    /// # Safety
    /// *room*.
    unsafe fn param(self, to: &mut Cursor, iid: &mut u32);
    /// # Safety
    /// *room*.
    #[inline(always)]
    unsafe fn interned(self, _: &mut Cursor, _: &mut u32, _: usize) {}
    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a;
}

const INT_PARAM: u8 = tag(schema::message::SINT64_PARAMS, WireType::Varint) as u8;
const FLOAT_PARAM: u8 = tag(schema::message::DOUBLE_PARAMS, WireType::Fixed64) as u8;
const BOOL_PARAM: u8 = tag(schema::message::BOOLEAN_PARAMS, WireType::Varint) as u8;
const TEXT_PARAM: u8 = tag(schema::message::STR_PARAM_IIDS, WireType::Varint) as u8;

impl Value for Int {
    #[inline(always)]
    fn measure(self, plan: &mut Plan) {
        plan.param(1 + varint_len(zigzag(self.0)));
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.varint(INT_PARAM, zigzag(self.0)) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Int(self.0)
    }
}

impl Value for Uint {
    #[inline(always)]
    fn measure(self, plan: &mut Plan) {
        // A list can be longer than 32 only when it is written by hand.
        let bit = if plan.index < MAX_PARAMS as u32 { (self.0 >> 63) as u32 } else { 0 };
        plan.unsigned |= bit << (plan.index % 32);
        Int(self.0 as i64).measure(plan);
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, iid: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { Int(self.0 as i64).param(to, iid) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Uint(self.0)
    }
}

impl Value for Float {
    #[inline(always)]
    fn measure(self, plan: &mut Plan) {
        plan.param(9);
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.put(FLOAT_PARAM as u128 | (self.0.to_bits() as u128) << 8, 9) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Float(self.0)
    }
}

impl Value for Bool {
    #[inline(always)]
    fn measure(self, plan: &mut Plan) {
        plan.param(2);
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.put(BOOL_PARAM as u128 | (self.0 as u128) << 8, 2) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Bool(self.0)
    }
}

impl Value for Text<'_> {
    #[inline(always)]
    fn measure(self, plan: &mut Plan) {
        plan.text(self.0);
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, iid: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.varint(TEXT_PARAM, *iid as u64) };
        *iid += 1;
    }

    #[inline(always)]
    unsafe fn interned(self, to: &mut Cursor, iid: &mut u32, max: usize) {
        // SAFETY: as the caller's.
        unsafe { self.intern(STRING_ARGS, to, iid, max) };
    }

    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a,
    {
        Arg::Str(self.0)
    }
}

impl Text<'_> {
    /// Appends the text to `interned_data`, as the field with this tag, which takes two bytes.
    ///
    /// # Safety
    /// *room*.
    #[inline(always)]
    pub(super) unsafe fn intern(self, tag: u128, to: &mut Cursor, iid: &mut u32, max: usize) {
        if !is_short(self.0, *iid, max) {
            // SAFETY: as the caller's, here and below.
            return unsafe { self.intern_long(tag, to, iid, max) };
        }
        let size = self.0.len() as u64;
        let string = tag as u64 | (size + 4) << (8 * STRING_ARGS_LEN);
        let fields = (IID as u64) | (*iid as u64) << 8 | (STR as u64) << 16 | size << 24;
        let head = string | fields << (8 * (STRING_ARGS_LEN + 1));
        // SAFETY: as above.
        unsafe { to.put(head as u128, SHORT_HEAD_LEN) };
        // SAFETY: as above.
        unsafe { to.short_bytes(self.0.as_bytes()) };
        *iid += 1;
    }

    /// As [`Self::intern`], for all texts.
    ///
    /// # Safety
    /// *room*.
    #[inline(never)]
    unsafe fn intern_long(self, tag: u128, to: &mut Cursor, iid: &mut u32, max: usize) {
        let (kept, ellipsis) = cut(self.0, max);
        let size = kept.len() + ellipsis.len();
        let string = 1 + varint_len(*iid as u64) + 1 + varint_len(size as u64) + size;
        let (bits, len) = packed_varint(string as u64);
        // SAFETY: as the caller's, here and below.
        unsafe { to.put(tag | bits << (8 * STRING_ARGS_LEN), STRING_ARGS_LEN + len) };
        // SAFETY: as above.
        unsafe { to.varint(IID, *iid as u64) };
        // SAFETY: as above.
        unsafe { to.varint(STR, size as u64) };
        // SAFETY: as above.
        unsafe { to.bytes(kept.as_bytes()) };
        if !ellipsis.is_empty() {
            // SAFETY: as above.
            unsafe { to.bytes(ellipsis.as_bytes()) };
        }
        *iid += 1;
    }
}

impl sealed::Sealed for () {}

impl Values for () {
    #[inline(always)]
    fn measure(&self, _: &mut Plan) {}

    #[inline(always)]
    unsafe fn params(&self, _: &mut Cursor, _: &mut u32) {}

    #[inline(always)]
    unsafe fn texts(&self, _: &mut Cursor, _: &mut u32, _: usize) {}

    fn for_each<'a>(&'a self, _: &mut dyn FnMut(Arg<'a>)) {}
}

macro_rules! lists {
    ($($head:ty),*) => { $(
        impl<Rest: Values> sealed::Sealed for ($head, Rest) {}

        impl<Rest: Values> Values for ($head, Rest) {
            #[inline(always)]
            fn measure(&self, plan: &mut Plan) {
                self.0.measure(plan);
                self.1.measure(plan);
            }

            #[inline(always)]
            unsafe fn params(&self, to: &mut Cursor, iid: &mut u32) {
                // SAFETY: as the caller's: the parts are as long as measured.
                unsafe { self.0.param(to, iid) };
                // SAFETY: as above.
                unsafe { self.1.params(to, iid) };
            }

            #[inline(always)]
            unsafe fn texts(&self, to: &mut Cursor, iid: &mut u32, max: usize) {
                // SAFETY: as the caller's: the parts are as long as measured.
                unsafe { self.0.interned(to, iid, max) };
                // SAFETY: as above.
                unsafe { self.1.texts(to, iid, max) };
            }

            fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>)) {
                f(self.0.arg());
                self.1.for_each(f);
            }
        }
    )* };
}

lists!(Int, Uint, Float, Bool, Text<'_>);

#[cfg(test)]
mod tests;
