//! Arguments whose number and kinds are known at run time only, as [`Values`].
#![allow(unsafe_code)] // Passes on what the functions of `encode` ask for.

use super::cursor::Varint;
use super::encode::{Cursor, Interner, Plan, Value, Values, sealed::Sealed};
use super::quick::Quick;
use super::texts::{Seen, Texts};
use crate::value::{Bool, Float, Int, Text, Uint};
use protolog_core::{Arg, MAX_PARAMS};
use protozero::wire::zigzag;

/// Arguments whose number and kinds are known at run time only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a>(pub(crate) &'a [Arg<'a>]);

impl Sealed for Args<'_> {}

impl Quick for Args<'_> {
    type Found = ();
}

impl Values for Args<'_> {
    /// Of as many arguments as a template can name; texts after those are not looked up.
    type Seen = [Seen; MAX_PARAMS];
    const HAS_TEXTS: bool = true;

    unsafe fn measure(&self, plan: &mut Plan, known: Option<&Texts>) -> Self::Seen {
        let mut all = [Seen::FRESH; MAX_PARAMS];
        for (index, arg) in self.0.iter().enumerate() {
            let seen = all.get_mut(index);
            // SAFETY: as the caller's.
            let found = unsafe { arg.measure(plan, known.filter(|_| seen.is_some())) };
            if let Some(seen) = seen {
                *seen = found;
            }
        }
        all
    }

    unsafe fn params(&self, to: &mut Cursor, all: Self::Seen, iid: &mut u32) {
        for (arg, seen) in self.0.iter().zip(with_rest(&all)) {
            // SAFETY: as the caller's: the parts are as long as measured.
            unsafe { arg.param(to, seen, iid) };
        }
    }

    unsafe fn texts(&self, to: &mut Cursor, all: Self::Seen, new: &mut Interner<'_>, max: usize) {
        for (arg, seen) in self.0.iter().zip(with_rest(&all)) {
            // SAFETY: as the caller's: the parts are as long as measured.
            unsafe { arg.interned(to, seen, new, max) };
        }
    }

    fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>)) {
        self.0.iter().copied().for_each(f);
    }
}

/// What is known of the arguments, and of those that nobody looked up.
fn with_rest(all: &[Seen]) -> impl Iterator<Item = Seen> {
    all.iter().copied().chain(std::iter::repeat(Seen::FRESH))
}

impl Value for Arg<'_> {
    type Seen = Seen;
    const IS_TEXT: bool = true;

    unsafe fn measure(self, plan: &mut Plan, known: Option<&Texts>) -> Seen {
        match self {
            // SAFETY: as the caller's, here and below.
            Arg::Str(text) => return unsafe { Text(text).measure(plan, known) },
            // SAFETY: as above.
            Arg::Int(value) => _ = unsafe { Int(value).measure(plan, known) },
            // SAFETY: as above.
            Arg::Uint(value) => _ = unsafe { Uint(value).measure(plan, known) },
            // SAFETY: as above.
            Arg::Float(value) => unsafe { Float(value).measure(plan, known) },
            // SAFETY: as above.
            Arg::Bool(value) => unsafe { Bool(value).measure(plan, known) },
        }
        Seen::FRESH
    }

    unsafe fn param(self, to: &mut Cursor, seen: Seen, iid: &mut u32) {
        match self {
            // SAFETY: as the caller's, here and below.
            Arg::Str(text) => unsafe { Text(text).param(to, seen, iid) },
            // SAFETY: as above.
            Arg::Int(value) => unsafe { Int(value).param(to, Varint::new(zigzag(value)), iid) },
            Arg::Uint(value) => {
                let varint = Varint::new(zigzag(value as i64));
                // SAFETY: as above.
                unsafe { Uint(value).param(to, varint, iid) }
            }
            // SAFETY: as above.
            Arg::Float(value) => unsafe { Float(value).param(to, (), iid) },
            // SAFETY: as above.
            Arg::Bool(value) => unsafe { Bool(value).param(to, (), iid) },
        }
    }

    unsafe fn interned(self, to: &mut Cursor, seen: Seen, new: &mut Interner<'_>, max: usize) {
        if let Arg::Str(text) = self {
            // SAFETY: as the caller's.
            unsafe { Text(text).interned(to, seen, new, max) };
        }
    }

    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a,
    {
        self
    }
}
