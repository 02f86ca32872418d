//! The arguments of a message, as the slow path measures and encodes them.
//!
//! A call's arguments are a list such as `(Int(1), (Str("x"), ()))`. An integer becomes a varint, a
//! string the id of an interned string, which comes in the same packet where the chunk does not
//! have it yet.
#![allow(unsafe_code)] // Promises about sizes.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::cursor::{Cursor, Varint};
use super::intern::{ChunkStrings, Interner, Lookup};
use super::layout::{
    BOOL_PARAM, FLOAT_PARAM, IID, INT_PARAM, STR, STRING_ARGS, STRING_ARGS_LEN, STRING_PARAM,
};
use super::plan::{Plan, SHORT_HEAD_LEN, cut, is_short};
use crate::value::{Bool, Float, Int, Str, Uint};
use protolog_core::{Arg, MAX_PARAMS};
use protozero::wire::{packed_varint, varint_len, zigzag};

/// The arguments of a message.
///
/// # Safety
/// *measured*: [`Self::encode_params`] appends as many bytes as [`Self::measure`] added to
/// [`Plan::params`], and [`Self::encode_strings`] as many as it added to [`Plan::strings`], if they
/// get what `measure` returned, the same first id and the plan's longest string.
pub unsafe trait Args: Copy {
    /// The result of measuring them.
    #[doc(hidden)]
    type Measured: Copy;

    /// False where there are never strings.
    #[doc(hidden)]
    const HAS_STRINGS: bool;

    /// True of a message with the thread's stack trace.
    #[doc(hidden)]
    const HAS_STACK: bool = false;

    /// True of a message for all sessions, whatever they record of its group.
    #[doc(hidden)]
    const IS_FOR_ALL: bool = false;

    /// Adds the sizes to the plan.
    #[doc(hidden)]
    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Self::Measured;

    /// Appends new strings, the fields of `interned_data`.
    #[doc(hidden)]
    fn encode_strings(
        &self,
        to: &mut Cursor,
        measured: Self::Measured,
        interner: &mut Interner<'_>,
        max: usize,
    );

    /// Appends the fields of the message; `iid` is the id of the next new string.
    #[doc(hidden)]
    fn encode_params(&self, to: &mut Cursor, measured: Self::Measured, iid: &mut u32);

    /// Passes each argument to `visitor`.
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>));
}

// SAFETY: *measured*: no arguments, no bytes.
unsafe impl Args for () {
    type Measured = ();
    const HAS_STRINGS: bool = false;

    #[inline(always)]
    fn measure(&self, _: &mut Plan, _: Option<ChunkStrings<'_>>) {}

    #[inline(always)]
    fn encode_strings(&self, _: &mut Cursor, (): (), _: &mut Interner<'_>, _: usize) {}

    #[inline(always)]
    fn encode_params(&self, _: &mut Cursor, (): (), _: &mut u32) {}

    fn visit<'a>(&'a self, _: &mut dyn FnMut(Arg<'a>)) {}
}

macro_rules! lists {
    ($($head:ty $(, $life:lifetime)?;)*) => { $(
        // SAFETY: *measured*: each function does what those of the first argument and of the rest
        // do, in the same order.
        unsafe impl<$($life,)? Rest: Args> Args for ($head, Rest) {
            type Measured = (<$head as EncodeArg>::Measured, Rest::Measured);
            const HAS_STRINGS: bool = <$head as EncodeArg>::IS_STRING || Rest::HAS_STRINGS;

            #[inline(always)]
            fn measure(
                &self,
                plan: &mut Plan,
                known: Option<ChunkStrings<'_>>,
            ) -> Self::Measured {
                let first = self.0.measure(plan, known);
                (first, self.1.measure(plan, known))
            }

            #[inline(always)]
            fn encode_strings(
                &self,
                to: &mut Cursor,
                measured: Self::Measured,
                interner: &mut Interner<'_>,
                max: usize,
            ) {
                self.0.encode_string(to, measured.0, interner, max);
                self.1.encode_strings(to, measured.1, interner, max);
            }

            #[inline(always)]
            fn encode_params(&self, to: &mut Cursor, measured: Self::Measured, iid: &mut u32) {
                self.0.encode_param(to, measured.0, iid);
                self.1.encode_params(to, measured.1, iid);
            }

            fn visit<'b>(&'b self, visitor: &mut dyn FnMut(Arg<'b>)) {
                visitor(self.0.arg());
                self.1.visit(visitor);
            }
        }
    )* };
}

lists!(Int; Uint; Float; Bool; Str<'a>, 'a;);

/// One argument of a list. Its functions do for it what those of [`Args`] do for all.
///
/// # Safety
/// *measured*, of [`Args`], for the one argument.
pub unsafe trait EncodeArg: Copy {
    type Measured: Copy;
    const IS_STRING: bool = false;
    fn measure(self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Self::Measured;
    #[inline(always)]
    fn encode_string(self, _: &mut Cursor, _: Self::Measured, _: &mut Interner<'_>, _: usize) {}
    fn encode_param(self, to: &mut Cursor, measured: Self::Measured, iid: &mut u32);
    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a;
}

// SAFETY: *measured*: the tag's byte, and the varint that was measured.
unsafe impl EncodeArg for Int {
    type Measured = Varint;

    #[inline(always)]
    fn measure(self, plan: &mut Plan, _: Option<ChunkStrings<'_>>) -> Varint {
        let varint = Varint::new(zigzag(self.0));
        plan.add_param(1 + varint.len);
        varint
    }

    #[inline(always)]
    fn encode_param(self, to: &mut Cursor, varint: Varint, _: &mut u32) {
        to.varint(INT_PARAM, varint);
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Int(self.0)
    }
}

// SAFETY: *measured*: both functions are those of the integer of the same bits.
unsafe impl EncodeArg for Uint {
    type Measured = Varint;

    #[inline(always)]
    fn measure(self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Varint {
        // A list can be longer than 32 only when it is written by hand.
        let bit = if plan.index < MAX_PARAMS as u32 { (self.0 >> 63) as u32 } else { 0 };
        plan.unsigned |= bit << (plan.index % 32);
        Int(self.0 as i64).measure(plan, known)
    }

    #[inline(always)]
    fn encode_param(self, to: &mut Cursor, varint: Varint, iid: &mut u32) {
        Int(self.0 as i64).encode_param(to, varint, iid);
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Uint(self.0)
    }
}

// SAFETY: *measured*: the tag's byte, and eight.
unsafe impl EncodeArg for Float {
    type Measured = ();

    #[inline(always)]
    fn measure(self, plan: &mut Plan, _: Option<ChunkStrings<'_>>) {
        plan.add_param(9);
    }

    #[inline(always)]
    fn encode_param(self, to: &mut Cursor, (): (), _: &mut u32) {
        to.put8(FLOAT_PARAM.into(), 1);
        to.put8(self.0.to_bits(), 8);
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Float(self.0)
    }
}

// SAFETY: *measured*: the tag's byte, and one.
unsafe impl EncodeArg for Bool {
    type Measured = ();

    #[inline(always)]
    fn measure(self, plan: &mut Plan, _: Option<ChunkStrings<'_>>) {
        plan.add_param(2);
    }

    #[inline(always)]
    fn encode_param(self, to: &mut Cursor, (): (), _: &mut u32) {
        to.put8(u64::from(BOOL_PARAM) | u64::from(self.0) << 8, 2);
    }

    fn arg<'a>(self) -> Arg<'a> {
        Arg::Bool(self.0)
    }
}

// SAFETY: *measured*: `Plan::add_string` adds up what `encode_interned` and `encode_param` append:
// both depend on `is_short`, of the same id and longest string, and on the same lookup.
unsafe impl EncodeArg for Str<'_> {
    type Measured = Lookup;
    const IS_STRING: bool = true;

    #[inline(always)]
    fn measure(self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Lookup {
        plan.add_string(self.0, known)
    }

    #[inline(always)]
    fn encode_string(
        self,
        to: &mut Cursor,
        lookup: Lookup,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        if !lookup.is_known {
            self.encode_interned(STRING_ARGS, to, lookup, interner, max);
        }
    }

    #[inline(always)]
    fn encode_param(self, to: &mut Cursor, lookup: Lookup, iid: &mut u32) {
        let own = lookup.iid(*iid);
        *iid += !lookup.is_known as u32;
        to.size(u128::from(STRING_PARAM), 1, own as usize);
    }

    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a,
    {
        Arg::Str(self.0)
    }
}

impl Str<'_> {
    /// Appends the string to `interned_data`, as the field with this tag, which takes two bytes.
    #[inline(always)]
    pub(super) fn encode_interned(
        self,
        tag: u128,
        to: &mut Cursor,
        lookup: Lookup,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        if !is_short(self.0, interner.iid, max) {
            let (text, end) = self.encode_long(tag, *to, interner.iid, max);
            // A string that is cut was not looked up, so it is not remembered.
            interner.assign(lookup, text, self.0.len());
            *to = end;
            return;
        }
        self.encode_short(tag, to, lookup, interner);
    }

    /// As [`Self::encode_interned`], for strings of which [`is_short`] is true.
    #[inline(always)]
    pub(super) fn encode_short(
        self,
        tag: u128,
        to: &mut Cursor,
        lookup: Lookup,
        interner: &mut Interner<'_>,
    ) {
        let size = self.0.len() as u64;
        let string = tag as u64 | (size + 4) << (8 * STRING_ARGS_LEN);
        let fields = (IID as u64) | (interner.iid as u64) << 8 | (STR as u64) << 16 | size << 24;
        let head = string | fields << (8 * (STRING_ARGS_LEN + 1));
        to.put8(head, SHORT_HEAD_LEN);
        interner.assign(lookup, to.at(), self.0.len());
        to.short_bytes(self.0.as_bytes());
    }

    /// As [`Self::encode_interned`], for all strings. Returns the places of the string and of the
    /// next field: by value, so that the caller's cursor stays in a register.
    #[inline(never)]
    fn encode_long(self, tag: u128, mut to: Cursor, iid: u32, max: usize) -> (*mut u8, Cursor) {
        let (kept, ellipsis) = cut(self.0, max);
        let (iid, size) = (Varint::new(iid.into()), kept.len() + ellipsis.len());
        let string = 1 + iid.len + 1 + varint_len(size as u64) + size;
        let (bits, len) = packed_varint(string as u64);
        to.put(tag | bits << (8 * STRING_ARGS_LEN), STRING_ARGS_LEN + len);
        to.varint(IID, iid);
        to.varint(STR, Varint::new(size as u64));
        let text = to.at();
        to.bytes(kept.as_bytes());
        if !ellipsis.is_empty() {
            to.bytes(ellipsis.as_bytes());
        }
        (text, to)
    }
}
