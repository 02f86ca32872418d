//! A message as bytes: what its packet looks like, how large it is, and writing it.
//!
//! ```text
//! 40 delta                                timestamp, in the sequence's clock
//! [62 n {a2 02 n {08 iid 12 n text}}…]    interned_data: the texts that the chunk does not have yet, and their ids
//! [68 02]                                 sequence_flags: where there are texts, needs what the chunk set up before
//! c2 06 n                                 protolog_message
//!   09 id                                 message_id
//!   {10 iid | 18 int | 21 float | 28 bool}…
//!   [c0 3e bits]                          ours: which arguments are unsigned, where it shows
//! ```
//!
//! This is for messages of all kinds; the common ones are written by [`super::quick`], as the same bytes. Sizes are computed
//! first, so the caller compares once and nothing is filled in later; then every store is wide, whatever it has to say.
//!
//! Invariant: *room*: whoever calls an `unsafe` function here has made sure that the bytes announced by [`Plan`], and
//! [`SLACK`] more, are the caller's to write.
#![allow(unsafe_code)] // Stores through a pointer, checked once for the whole packet.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

use super::cursor::Varint;
pub(crate) use super::cursor::{Cursor, SLACK};
pub(crate) use super::plan::{Before, Plan};
use super::plan::{SHORT_HEAD_LEN, cut, is_short};
use super::quick::Quick;
use super::texts::{Seen, Texts};
use crate::value::{Bool, Float, Int, Text, Uint};
use protolog_core::{Arg, MAX_PARAMS, schema};
use protozero::wire::{WireType, packed_varint, tag, varint_len, zigzag};

pub(super) const TIMESTAMP: u8 = tag(schema::packet::TIMESTAMP, WireType::Varint) as u8;
pub(super) const INTERNED_DATA: u8 = tag(schema::packet::INTERNED_DATA, WireType::Bytes) as u8;
pub(super) const STRING_ARGS: u128 =
    packed_varint(tag(schema::interned_data::PROTOLOG_STRING_ARGS, WireType::Bytes) as u64).0;
pub(super) const STRING_ARGS_LEN: usize = 2;
const IID: u8 = tag(schema::interned_string::IID, WireType::Varint) as u8;
const STR: u8 = tag(schema::interned_string::STR, WireType::Bytes) as u8;
/// The field `sequence_flags` of a packet with texts.
pub(super) const NEEDS: [u8; 2] = [
    tag(schema::packet::SEQUENCE_FLAGS, WireType::Varint) as u8,
    schema::sequence_flags::NEEDS_INCREMENTAL_STATE as u8,
];
pub(super) const MESSAGE: u128 =
    packed_varint(tag(schema::packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64).0;
pub(super) const MESSAGE_LEN: usize = 2;
pub(super) const MESSAGE_ID: u8 = tag(schema::message::MESSAGE_ID, WireType::Fixed64) as u8;
const UNSIGNED: u128 = packed_varint(tag(schema::message::UNSIGNED, WireType::Varint) as u64).0;
pub(super) const UNSIGNED_LEN: usize = 2;

/// The texts of a chunk, and the id of the next one.
#[derive(Debug)]
pub struct Interner<'a> {
    pub(crate) iid: u32,
    /// Where to note new texts; none where the packet's bytes do not stay where they are written.
    pub(crate) texts: Option<&'a mut Texts>,
}

impl Interner<'_> {
    /// Gives the next id to a text of `len` bytes at `at`.
    #[inline(always)]
    fn note(&mut self, seen: Seen, at: *const u8, len: usize) {
        if let Some(texts) = &mut self.texts {
            texts.note(seen, at, len, self.iid);
        }
        self.iid += 1;
    }
}

impl Cursor {
    /// Appends the packet of a message.
    ///
    /// # Safety
    /// *room*: [`Plan::packet`] bytes and [`SLACK`]; `plan` and `seen` were made of `values` with the same first iid.
    #[inline(always)]
    pub(crate) unsafe fn packet<V: Values>(
        &mut self,
        id: u64,
        values: &V,
        (plan, seen): (&Plan, V::Seen),
        mut interner: Interner<'_>,
    ) {
        let mut iid = interner.iid;
        // SAFETY: *room* covers every part, which together are as long as planned.
        unsafe { self.varint(TIMESTAMP, plan.delta) };
        if plan.texts > 0 {
            // SAFETY: as above.
            unsafe { self.size(u128::from(INTERNED_DATA), 1, plan.texts) };
            // SAFETY: as above.
            unsafe { values.texts(self, seen, &mut interner, plan.max_text) };
        }
        // SAFETY: as above.
        unsafe { self.head(id, plan) };
        // SAFETY: as above.
        unsafe { values.params(self, seen, &mut iid) };
        if plan.unsigned != 0 {
            let (bits, len) = packed_varint(plan.unsigned as u64);
            // SAFETY: as above.
            unsafe { self.put(UNSIGNED | bits << (8 * UNSIGNED_LEN), UNSIGNED_LEN + len) };
        }
    }

    /// Appends what stands between texts and arguments.
    ///
    /// # Safety
    /// *room*.
    #[inline(always)]
    unsafe fn head(&mut self, id: u64, plan: &Plan) {
        let (before, before_len) = if plan.has_texts {
            (u16::from_le_bytes(NEEDS) as u128 | MESSAGE << 16, NEEDS.len() + MESSAGE_LEN)
        } else {
            (MESSAGE, MESSAGE_LEN)
        };
        // SAFETY: as the caller's, here and below.
        unsafe { self.size(before, before_len, plan.message()) };
        // SAFETY: as above.
        unsafe { self.put8(MESSAGE_ID.into(), 1) };
        // SAFETY: as above.
        unsafe { self.put8(id, 8) };
    }

    /// Appends the low `len` bytes of `tags`, at most 4, and a size.
    ///
    /// # Safety
    /// *room*: 16 bytes.
    #[inline(always)]
    unsafe fn size(&mut self, tags: u128, len: usize, size: usize) {
        if size < 0x80 {
            // SAFETY: as the caller's.
            unsafe { self.put8(tags as u64 | (size as u64) << (8 * len), len + 1) };
        } else {
            let (size, size_len) = packed_varint(size as u64);
            // SAFETY: as the caller's.
            unsafe { self.put(tags | size << (8 * len), len + size_len) };
        }
    }
}

pub(super) mod sealed {
    /// Only this module knows how to keep *room*.
    pub trait Sealed {}
}

/// The arguments of a call: lists such as `(Int(1), (Text("x"), ()))`.
pub trait Values: sealed::Sealed + Quick + Copy {
    /// What is known of the texts.
    #[doc(hidden)]
    type Seen: Copy;

    /// Whether there may be texts.
    #[doc(hidden)]
    const HAS_TEXTS: bool;

    /// Adds the sizes to the plan.
    ///
    /// # Safety
    /// *there*, of [`super::texts`], where there are texts that are known.
    #[doc(hidden)]
    unsafe fn measure(&self, plan: &mut Plan, known: Option<&Texts>) -> Self::Seen;

    /// Appends the fields of the message; `iid` is the id of the next new text.
    ///
    /// # Safety
    /// *room*: as [`Values::measure`] said, and [`SLACK`].
    #[doc(hidden)]
    unsafe fn params(&self, to: &mut Cursor, seen: Self::Seen, iid: &mut u32);

    /// Appends the fields of `interned_data`: new texts.
    ///
    /// # Safety
    /// *room*: as [`Values::measure`] said, and [`SLACK`].
    #[doc(hidden)]
    unsafe fn texts(&self, to: &mut Cursor, seen: Self::Seen, new: &mut Interner<'_>, max: usize);

    /// Calls `f` with each value.
    fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>));

    /// Whether the packet is a message.
    #[doc(hidden)]
    const IS_MESSAGE: bool = true;

    /// Size of the packet, without its own size field.
    #[doc(hidden)]
    #[inline(always)]
    fn size(&self, plan: &Plan) -> usize {
        plan.packet()
    }

    /// Appends the packet.
    ///
    /// # Safety
    /// *room*: [`Values::size`] bytes and [`SLACK`]; `plan` was made of these values with the same first iid.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn packet(&self, to: &mut Cursor, id: u64, plan: (&Plan, Self::Seen), new: Interner<'_>)
    where
        Self: Sized,
    {
        // SAFETY: as the caller's.
        unsafe { to.packet(id, self, plan, new) };
    }
}

/// One value of a list. The three functions do for it what those of [`Values`] do for all.
pub trait Value: Copy {
    type Seen: Copy;
    const IS_TEXT: bool = false;
    /// # Safety
    /// As [`Values::measure`].
    unsafe fn measure(self, plan: &mut Plan, known: Option<&Texts>) -> Self::Seen;
    /// # Safety
    /// *room*.
    unsafe fn param(self, to: &mut Cursor, seen: Self::Seen, iid: &mut u32);
    /// # Safety
    /// *room*.
    #[inline(always)]
    unsafe fn interned(self, _: &mut Cursor, _: Self::Seen, _: &mut Interner<'_>, _: usize) {}
    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a;
}

pub(super) const INT_PARAM: u8 = tag(schema::message::SINT64_PARAMS, WireType::Varint) as u8;
pub(super) const FLOAT_PARAM: u8 = tag(schema::message::DOUBLE_PARAMS, WireType::Fixed64) as u8;
pub(super) const BOOL_PARAM: u8 = tag(schema::message::BOOLEAN_PARAMS, WireType::Varint) as u8;
pub(super) const TEXT_PARAM: u8 = tag(schema::message::STR_PARAM_IIDS, WireType::Varint) as u8;

impl Value for Int {
    type Seen = Varint;

    #[inline(always)]
    unsafe fn measure(self, plan: &mut Plan, _: Option<&Texts>) -> Varint {
        let varint = Varint::new(zigzag(self.0));
        plan.param(1 + varint.len);
        varint
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, seen: Varint, _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.varint(INT_PARAM, seen) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Int(self.0)
    }
}

impl Value for Uint {
    type Seen = Varint;

    #[inline(always)]
    unsafe fn measure(self, plan: &mut Plan, known: Option<&Texts>) -> Varint {
        // A list can be longer than 32 only when it is written by hand.
        let bit = if plan.index < MAX_PARAMS as u32 { (self.0 >> 63) as u32 } else { 0 };
        plan.unsigned |= bit << (plan.index % 32);
        // SAFETY: as the caller's.
        unsafe { Int(self.0 as i64).measure(plan, known) }
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, seen: Varint, iid: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { Int(self.0 as i64).param(to, seen, iid) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Uint(self.0)
    }
}

impl Value for Float {
    type Seen = ();

    #[inline(always)]
    unsafe fn measure(self, plan: &mut Plan, _: Option<&Texts>) {
        plan.param(9);
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, (): (), _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.put8(FLOAT_PARAM.into(), 1) };
        // SAFETY: as above.
        unsafe { to.put8(self.0.to_bits(), 8) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Float(self.0)
    }
}

impl Value for Bool {
    type Seen = ();

    #[inline(always)]
    unsafe fn measure(self, plan: &mut Plan, _: Option<&Texts>) {
        plan.param(2);
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, (): (), _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.put8(u64::from(BOOL_PARAM) | u64::from(self.0) << 8, 2) };
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Bool(self.0)
    }
}

impl Value for Text<'_> {
    type Seen = Seen;
    const IS_TEXT: bool = true;

    #[inline(always)]
    unsafe fn measure(self, plan: &mut Plan, known: Option<&Texts>) -> Seen {
        // SAFETY: as the caller's.
        unsafe { plan.text(self.0, known) }
    }

    #[inline(always)]
    unsafe fn param(self, to: &mut Cursor, seen: Seen, iid: &mut u32) {
        let own = seen.iid(*iid);
        *iid += !seen.is_known as u32;
        // SAFETY: as the caller's.
        unsafe { to.size(u128::from(TEXT_PARAM), 1, own as usize) };
    }

    #[inline(always)]
    unsafe fn interned(self, to: &mut Cursor, seen: Seen, new: &mut Interner<'_>, max: usize) {
        if !seen.is_known {
            // SAFETY: as the caller's.
            unsafe { self.intern(STRING_ARGS, to, seen, new, max) };
        }
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
    pub(super) unsafe fn intern(
        self,
        tag: u128,
        to: &mut Cursor,
        seen: Seen,
        new: &mut Interner<'_>,
        max: usize,
    ) {
        if !is_short(self.0, new.iid, max) {
            let place = (to.at(), new.iid);
            // SAFETY: as the caller's, here and below.
            let (text, end) = unsafe { self.intern_long(tag, place, max) };
            // A text that is cut was not looked up, so it is not remembered.
            new.note(seen, text, self.0.len());
            *to = Cursor::new(end);
            return;
        }
        // SAFETY: as above.
        unsafe { self.intern_short(tag, to, seen, new) };
    }

    /// As [`Self::intern`], for texts that [`is_short`] says are.
    ///
    /// # Safety
    /// *room*.
    #[inline(always)]
    pub(super) unsafe fn intern_short(
        self,
        tag: u128,
        to: &mut Cursor,
        seen: Seen,
        new: &mut Interner<'_>,
    ) {
        let size = self.0.len() as u64;
        let string = tag as u64 | (size + 4) << (8 * STRING_ARGS_LEN);
        let fields = (IID as u64) | (new.iid as u64) << 8 | (STR as u64) << 16 | size << 24;
        let head = string | fields << (8 * (STRING_ARGS_LEN + 1));
        // SAFETY: as the caller's, here and below.
        unsafe { to.put8(head, SHORT_HEAD_LEN) };
        new.note(seen, to.at(), self.0.len());
        // SAFETY: as above.
        unsafe { to.short_bytes(self.0.as_bytes()) };
    }

    /// As [`Self::intern`], for all texts, from `at` on under the id `iid`. Gives the places of the text and of what follows:
    /// by value, so that the cursor stays in a register.
    ///
    /// # Safety
    /// *room*.
    #[inline(never)]
    unsafe fn intern_long(
        self,
        tag: u128,
        (at, iid): (*mut u8, u32),
        max: usize,
    ) -> (*mut u8, *mut u8) {
        let mut to = Cursor::new(at);
        let (kept, ellipsis) = cut(self.0, max);
        let (iid, size) = (Varint::new(iid.into()), kept.len() + ellipsis.len());
        let string = 1 + iid.len + 1 + varint_len(size as u64) + size;
        let (bits, len) = packed_varint(string as u64);
        // SAFETY: as the caller's, here and below.
        unsafe { to.put(tag | bits << (8 * STRING_ARGS_LEN), STRING_ARGS_LEN + len) };
        // SAFETY: as above.
        unsafe { to.varint(IID, iid) };
        // SAFETY: as above.
        unsafe { to.varint(STR, Varint::new(size as u64)) };
        let text = to.at();
        // SAFETY: as above.
        unsafe { to.bytes(kept.as_bytes()) };
        if !ellipsis.is_empty() {
            // SAFETY: as above.
            unsafe { to.bytes(ellipsis.as_bytes()) };
        }
        (text, to.at())
    }
}

impl sealed::Sealed for () {}

impl Values for () {
    type Seen = ();
    const HAS_TEXTS: bool = false;

    #[inline(always)]
    unsafe fn measure(&self, _: &mut Plan, _: Option<&Texts>) {}

    #[inline(always)]
    unsafe fn params(&self, _: &mut Cursor, (): (), _: &mut u32) {}

    #[inline(always)]
    unsafe fn texts(&self, _: &mut Cursor, (): (), _: &mut Interner<'_>, _: usize) {}

    fn for_each<'a>(&'a self, _: &mut dyn FnMut(Arg<'a>)) {}
}

macro_rules! lists {
    ($($head:ty $(, $life:lifetime)?;)*) => { $(
        impl<$($life,)? Rest: Values> sealed::Sealed for ($head, Rest) {}

        impl<$($life,)? Rest: Values> Values for ($head, Rest) {
            type Seen = (<$head as Value>::Seen, Rest::Seen);
            const HAS_TEXTS: bool = <$head as Value>::IS_TEXT || Rest::HAS_TEXTS;

            #[inline(always)]
            unsafe fn measure(&self, plan: &mut Plan, known: Option<&Texts>) -> Self::Seen {
                // SAFETY: as the caller's.
                let first = unsafe { self.0.measure(plan, known) };
                // SAFETY: as above.
                (first, unsafe { self.1.measure(plan, known) })
            }

            #[inline(always)]
            unsafe fn params(&self, to: &mut Cursor, seen: Self::Seen, iid: &mut u32) {
                // SAFETY: as the caller's: the parts are as long as measured.
                unsafe { self.0.param(to, seen.0, iid) };
                // SAFETY: as above.
                unsafe { self.1.params(to, seen.1, iid) };
            }

            #[inline(always)]
            unsafe fn texts(
                &self,
                to: &mut Cursor,
                seen: Self::Seen,
                new: &mut Interner<'_>,
                max: usize,
            ) {
                // SAFETY: as the caller's: the parts are as long as measured.
                unsafe { self.0.interned(to, seen.0, new, max) };
                // SAFETY: as above.
                unsafe { self.1.texts(to, seen.1, new, max) };
            }

            fn for_each<'b>(&'b self, f: &mut dyn FnMut(Arg<'b>)) {
                f(self.0.arg());
                self.1.for_each(f);
            }
        }
    )* };
}

lists!(Int; Uint; Float; Bool; Text<'a>, 'a;);

#[cfg(test)]
mod tests;
