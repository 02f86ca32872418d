//! A message for all sessions: one of a call that a rule switches on, whatever the sessions record
//! of its group.
#![allow(unsafe_code)] // Stores into the chunk.

use super::args::Args;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner};
use super::plan::Plan;
use protolog_core::Arg;

/// The arguments of such a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForAll<'a, A>(pub(super) &'a A);

// SAFETY: *measured*: what the message's arguments promise, since all is passed on to them.
unsafe impl<A: Args> Args for ForAll<'_, A> {
    type Measured = A::Measured;
    const HAS_STRINGS: bool = A::HAS_STRINGS;
    const HAS_STACK: bool = A::HAS_STACK;
    const IS_FOR_ALL: bool = true;

    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> A::Measured {
        self.0.measure(plan, known)
    }

    fn encode_strings(
        &self,
        to: &mut Cursor,
        measured: A::Measured,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        self.0.encode_strings(to, measured, interner, max);
    }

    fn encode_params(&self, to: &mut Cursor, measured: A::Measured, iid: &mut u32) {
        self.0.encode_params(to, measured, iid);
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>)) {
        self.0.visit(visitor);
    }
}
