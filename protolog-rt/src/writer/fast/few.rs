//! The fast path for arguments whose kinds are known at run time only: loops over a slice, in place
//! of one function for each list of kinds.
#![allow(unsafe_code)] // Promises about sizes.
#![allow(clippy::inline_always)] // As in the fast path.

use super::super::annotations::{interned, number, put};
use super::super::arg_slice::ArgSlice;
use super::super::args::Args;
use super::super::cursor::Cursor;
use super::super::intern::{ChunkStrings, Interner, Lookup};
use super::super::plan::Plan;
use super::{AROUND, FastArg, FastArgs, NewStrings};
use crate::value::{Bool, Float, Int, Str, Uint};
use protolog_core::Arg;
use protozero::wire::{varint_len, zigzag};

/// The most bytes of arguments for which the size of a message takes one byte.
const ROOM: usize = 0x80 - AROUND;

/// At most `N` arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FewArgs<'a, const N: usize>(ArgSlice<'a>);

impl<'a, const N: usize> FewArgs<'a, N> {
    /// Returns the arguments; none if they are more.
    pub(crate) fn new(args: &'a [Arg<'a>]) -> Option<Self> {
        (args.len() <= N).then_some(Self(ArgSlice(args)))
    }

    #[inline(always)]
    fn args(&self) -> &'a [Arg<'a>] {
        self.0.0
    }

    /// Returns whether the arguments have room in a message of the fast path: always, where as many
    /// of the longest have.
    #[inline(always)]
    fn has_room(&self) -> bool {
        N * Arg::MOST <= ROOM || self.args().iter().map(|arg| size(*arg)).sum::<usize>() <= ROOM
    }

    /// Looks up all strings, each by `find`; none where the arguments take too many bytes.
    #[inline(always)]
    fn find_each(&self, mut find: impl FnMut(Arg<'a>) -> Option<Lookup>) -> Option<[Lookup; N]> {
        if !self.has_room() {
            return None;
        }
        let mut all = [Lookup::UNKNOWN; N];
        for (arg, slot) in self.args().iter().zip(&mut all) {
            *slot = find(*arg)?;
        }
        Some(all)
    }
}

// SAFETY: *measured*: as for the slice.
unsafe impl<'s, const N: usize> Args for FewArgs<'s, N> {
    type Measured = <ArgSlice<'s> as Args>::Measured;
    const HAS_STRINGS: bool = ArgSlice::HAS_STRINGS;

    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> Self::Measured {
        self.0.measure(plan, known)
    }

    fn encode_strings(
        &self,
        to: &mut Cursor,
        all: Self::Measured,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        self.0.encode_strings(to, all, interner, max);
    }

    fn encode_params(&self, to: &mut Cursor, all: Self::Measured, iid: &mut u32) {
        self.0.encode_params(to, all, iid);
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>)) {
        self.0.visit(visitor);
    }
}

// SAFETY: *bound*: there are at most `N` arguments, each of at most `Arg::MOST` bytes; where that
// is more than `ROOM`, nothing is found of those that take more.
unsafe impl<const N: usize> FastArgs for FewArgs<'_, N> {
    const MOST: usize = if N * Arg::MOST <= ROOM { N * Arg::MOST } else { ROOM };
    const COUNT: usize = N;
    type Found = [Lookup; N];

    #[inline(always)]
    fn has_strings(&self) -> bool {
        self.args().iter().any(|arg| matches!(arg, Arg::Str(_)))
    }

    #[inline(always)]
    fn find_known(&self, strings: ChunkStrings<'_>) -> Option<Self::Found> {
        self.find_each(|arg| arg.find_known(strings))
    }

    #[inline(always)]
    fn find(&self, strings: ChunkStrings<'_>, new: &mut NewStrings) -> Option<Self::Found> {
        self.find_each(|arg| arg.find(strings, new))
    }

    #[inline(always)]
    fn put_strings(&self, to: &mut Cursor, all: Self::Found, interner: &mut Interner<'_>) {
        for (arg, found) in self.args().iter().zip(all) {
            arg.put_string(to, found, interner);
        }
    }

    #[inline(always)]
    fn put_params(&self, to: &mut Cursor, all: Self::Found, iid: &mut u32) {
        for (arg, found) in self.args().iter().zip(all) {
            arg.put_param(to, found, iid);
        }
    }

    fn annotations_room(&self) -> usize {
        self.args().iter().map(|arg| arg.annotation_room()).sum()
    }

    fn put_annotations(&self, to: &mut Cursor, name: u8) {
        for (arg, name) in self.args().iter().zip(name..) {
            put(to, interned(name), arg.text_len(), |to| arg.put_value(to));
        }
    }

    fn put_numbered(&self, to: &mut Cursor, index: usize) {
        for (arg, index) in self.args().iter().zip(index..) {
            put(to, number(index), arg.text_len(), |to| arg.put_value(to));
        }
    }
}

/// Bytes of an argument's field: at most as many as its type takes.
#[inline(always)]
fn size(arg: Arg<'_>) -> usize {
    match arg {
        Arg::Str(_) => Str::MOST,
        Arg::Float(_) => Float::MOST,
        Arg::Bool(_) => Bool::MOST,
        Arg::Int(value) => 1 + varint_len(zigzag(value)),
        Arg::Uint(value) => 1 + varint_len(zigzag(value as i64)),
    }
}

/// Calls a function with the argument of its own type.
macro_rules! each_type {
    ($arg:expr, $value:ident => $do:expr, $text:ident => $do_text:expr) => {
        match $arg {
            Arg::Str(text) => {
                let $text = Str(text);
                $do_text
            }
            Arg::Int(value) => {
                let $value = Int(value);
                $do
            }
            Arg::Uint(value) => {
                let $value = Uint(value);
                $do
            }
            Arg::Float(value) => {
                let $value = Float(value);
                $do
            }
            Arg::Bool(value) => {
                let $value = Bool(value);
                $do
            }
        }
    };
}

// SAFETY: *bound*: each function does what that of the argument's own type does.
unsafe impl FastArg for Arg<'_> {
    const MOST: usize = Int::MOST;
    type Found = Lookup;

    #[inline(always)]
    fn find_known(self, strings: ChunkStrings<'_>) -> Option<Lookup> {
        each_type!(self,
            value => value.find_known(strings).map(|()| Lookup::UNKNOWN),
            text => text.find_known(strings))
    }

    #[inline(always)]
    fn find(self, strings: ChunkStrings<'_>, new: &mut NewStrings) -> Option<Lookup> {
        each_type!(self,
            value => value.find_known(strings).map(|()| Lookup::UNKNOWN),
            text => text.find(strings, new))
    }

    #[inline(always)]
    fn put_string(self, to: &mut Cursor, found: Lookup, interner: &mut Interner<'_>) {
        if let Arg::Str(text) = self {
            Str(text).put_string(to, found, interner);
        }
    }

    #[inline(always)]
    fn put_param(self, to: &mut Cursor, found: Lookup, iid: &mut u32) {
        each_type!(self,
            value => value.put_param(to, (), iid),
            text => text.put_param(to, found, iid));
    }

    fn annotation_room(self) -> usize {
        each_type!(self, value => value.annotation_room(), text => text.annotation_room())
    }

    fn put_value(self, to: &mut Cursor) {
        each_type!(self, value => value.put_value(to), text => text.put_value(to));
    }

    fn text_len(self) -> usize {
        each_type!(self, value => value.text_len(), text => text.text_len())
    }
}

const _: () = {
    assert!(Str::MOST <= Arg::MOST && Uint::MOST <= Arg::MOST, "*bound*");
    assert!(Float::MOST <= Arg::MOST && Bool::MOST <= Arg::MOST, "*bound*");
};
