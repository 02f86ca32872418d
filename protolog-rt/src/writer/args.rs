//! Arguments whose number and kinds are known at run time only, as [`Values`].
#![allow(unsafe_code)] // Passes on what the functions of `encode` ask for.

use super::encode::{Cursor, Plan, Value, Values, sealed::Sealed};
use crate::value::{Bool, Float, Int, Text, Uint};
use protolog_core::Arg;

/// Arguments whose number and kinds are known at run time only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a>(pub(crate) &'a [Arg<'a>]);

impl Sealed for Args<'_> {}

impl Values for Args<'_> {
    fn measure(&self, plan: &mut Plan) {
        self.0.iter().for_each(|arg| arg.measure(plan));
    }

    unsafe fn params(&self, to: &mut Cursor, iid: &mut u32) {
        for arg in self.0 {
            // SAFETY: as the caller's: the parts are as long as measured.
            unsafe { arg.param(to, iid) };
        }
    }

    unsafe fn texts(&self, to: &mut Cursor, iid: &mut u32, max: usize) {
        for arg in self.0 {
            // SAFETY: as the caller's: the parts are as long as measured.
            unsafe { arg.interned(to, iid, max) };
        }
    }

    fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>)) {
        self.0.iter().copied().for_each(f);
    }
}

impl Value for Arg<'_> {
    fn measure(self, plan: &mut Plan) {
        match self {
            Arg::Str(text) => Text(text).measure(plan),
            Arg::Int(value) => Int(value).measure(plan),
            Arg::Uint(value) => Uint(value).measure(plan),
            Arg::Float(value) => Float(value).measure(plan),
            Arg::Bool(value) => Bool(value).measure(plan),
        }
    }

    unsafe fn param(self, to: &mut Cursor, iid: &mut u32) {
        match self {
            // SAFETY: as the caller's, here and below.
            Arg::Str(text) => unsafe { Text(text).param(to, iid) },
            // SAFETY: as above.
            Arg::Int(value) => unsafe { Int(value).param(to, iid) },
            // SAFETY: as above.
            Arg::Uint(value) => unsafe { Uint(value).param(to, iid) },
            // SAFETY: as above.
            Arg::Float(value) => unsafe { Float(value).param(to, iid) },
            // SAFETY: as above.
            Arg::Bool(value) => unsafe { Bool(value).param(to, iid) },
        }
    }

    unsafe fn interned(self, to: &mut Cursor, iid: &mut u32, max: usize) {
        if let Arg::Str(text) = self {
            // SAFETY: as the caller's.
            unsafe { Text(text).interned(to, iid, max) };
        }
    }

    fn arg<'a>(self) -> Arg<'a>
    where
        Self: 'a,
    {
        self
    }
}
