//! Arguments whose number and kinds are known at run time only.
#![allow(unsafe_code)] // Promises about sizes.

use super::args::{Args, EncodeArg};
use super::cursor::{Cursor, Varint};
use super::intern::{ChunkStrings, Interner, Lookup};
use super::plan::Plan;
use crate::value::{Bool, Float, Int, Str, Uint};
use protolog_core::{Arg, MAX_PARAMS};
use protozero::wire::zigzag;

/// Arguments of a number and kinds known at run time only. They always take the slow path;
/// few take the fast one as [`FewArgs`](super::fast::few::FewArgs).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgSlice<'a>(pub(crate) &'a [Arg<'a>]);

// SAFETY: *measured*: each function does what those of the arguments do, in the same order, with
// the same lookups.
unsafe impl Args for ArgSlice<'_> {
    /// Of as many arguments as a template can name; strings after those are not looked up.
    type Measured = [Lookup; MAX_PARAMS];
    const HAS_STRINGS: bool = true;

    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Self::Measured {
        let mut all = [Lookup::UNKNOWN; MAX_PARAMS];
        for (index, arg) in self.0.iter().enumerate() {
            let slot = all.get_mut(index);
            let found = arg.measure(plan, known.filter(|_| slot.is_some()));
            if let Some(slot) = slot {
                *slot = found;
            }
        }
        all
    }

    fn encode_strings(
        &self,
        to: &mut Cursor,
        all: Self::Measured,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        for (arg, lookup) in self.0.iter().zip(with_rest(&all)) {
            arg.encode_string(to, lookup, interner, max);
        }
    }

    fn encode_params(&self, to: &mut Cursor, all: Self::Measured, iid: &mut u32) {
        for (arg, lookup) in self.0.iter().zip(with_rest(&all)) {
            arg.encode_param(to, lookup, iid);
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>)) {
        self.0.iter().copied().for_each(visitor);
    }
}

/// The lookups of the arguments, those that were not looked up included.
fn with_rest(all: &[Lookup]) -> impl Iterator<Item = Lookup> {
    all.iter().copied().chain(std::iter::repeat(Lookup::UNKNOWN))
}

// SAFETY: *measured*: each kind of argument is measured and encoded as the type of its own is.
unsafe impl EncodeArg for Arg<'_> {
    type Measured = Lookup;
    const IS_STRING: bool = true;

    fn measure(self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Lookup {
        match self {
            Arg::Str(text) => return Str(text).measure(plan, known),
            Arg::Int(value) => _ = Int(value).measure(plan, known),
            Arg::Uint(value) => _ = Uint(value).measure(plan, known),
            Arg::Float(value) => Float(value).measure(plan, known),
            Arg::Bool(value) => Bool(value).measure(plan, known),
        }
        Lookup::UNKNOWN
    }

    fn encode_string(
        self,
        to: &mut Cursor,
        lookup: Lookup,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        if let Arg::Str(text) = self {
            Str(text).encode_string(to, lookup, interner, max);
        }
    }

    fn encode_param(self, to: &mut Cursor, lookup: Lookup, iid: &mut u32) {
        match self {
            Arg::Str(text) => Str(text).encode_param(to, lookup, iid),
            Arg::Int(value) => Int(value).encode_param(to, Varint::new(zigzag(value)), iid),
            Arg::Uint(value) => {
                Uint(value).encode_param(to, Varint::new(zigzag(value as i64)), iid);
            }
            Arg::Float(value) => Float(value).encode_param(to, (), iid),
            Arg::Bool(value) => Bool(value).encode_param(to, (), iid),
        }
    }

    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a,
    {
        self
    }
}
