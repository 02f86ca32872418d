//! Stack traces of messages: addresses on the calling thread, names for people elsewhere.
//!
//! A trace is a text of lines in the form in which Android's crash reports and their tools write
//! frames, so that it can be symbolised on another machine; where a module first occurs, its build
//! id follows:
//!
//! ```text
//! #00 pc 00000000000a1b2c  /usr/bin/app (BuildId: 8f3c0a…)
//! #01 pc 00000000000a0f00  /usr/bin/app
//! ```
//!
//! The address is relative to the module, and that of the call rather than of the code after it.
//!
//! Invariant: nothing here runs while a writer is busy.
#![allow(unsafe_code)] // Stores into the chunk.

use super::args::Args;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner, Lookup};
use super::plan::Plan;
use crate::sys::modules::{self, Backtrace, Found};
use crate::value::{FixedString, Str};
use protolog_core::Arg;
use protolog_core::schema::{interned_data, message};
use protozero::wire::{WireType, packed_varint, tag};
use std::fmt::Write as _;

/// The most frames of a trace.
const MAX_FRAMES: usize = 48;

/// The most bytes of a trace.
const MAX_TEXT: usize = 4096;

/// A message's arguments, and its stack trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct WithStack<'a, A> {
    pub(super) args: &'a A,
    pub(super) stack: &'a str,
}

/// Calls `f` with the stack trace of the calling thread. Never inlined: signal handlers, which run
/// on small stacks, get by without these kilobytes.
#[cold]
#[inline(never)]
pub(super) fn with<R>(f: impl FnOnce(&str) -> R) -> R {
    let trace = Backtrace::<MAX_FRAMES>::here();
    let mut text = FixedString::<MAX_TEXT>::new();
    let mut named = Named::default();
    // The first is that of this function.
    for (number, address) in trace.addresses().iter().skip(1).enumerate() {
        line(&mut text, number, *address, &mut named);
    }
    f(text.text())
}

/// The modules whose build ids were written; of more, some ids are written again.
#[derive(Default)]
struct Named([usize; 32]);

impl Named {
    /// True if the module at `base` was not asked for before.
    fn is_first(&mut self, base: usize) -> bool {
        let free = self.0.iter_mut().find(|known| **known == base || **known == 0);
        free.is_none_or(|slot| std::mem::replace(slot, base) != base)
    }
}

/// Appends the line of a frame. `named` are the modules whose build ids are in the text.
fn line(text: &mut FixedString<MAX_TEXT>, number: usize, address: usize, named: &mut Named) {
    // The buffer takes what it has room for, and never fails.
    let Some(Found { base, name, build_id }) = modules::find(address) else {
        let _ = writeln!(text, "#{number:02} pc {address:016x}  <unknown>");
        return;
    };
    let _ = write!(text, "#{number:02} pc {:016x}  {name}", address.wrapping_sub(base));
    if !build_id.is_empty() && named.is_first(base) {
        let _ = text.write_str(" (BuildId: ");
        for byte in &build_id {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = text.write_str(")");
    }
    let _ = text.write_str("\n");
}

const INTERNED: u128 =
    packed_varint(tag(interned_data::PROTOLOG_STACKTRACE, WireType::Bytes) as u64).0;
const PARAM: u8 = tag(message::STACKTRACE_IID, WireType::Varint) as u8;

/// The stack trace is one more string, a new one each time: its fields are as long as those of a
/// string, and only their numbers differ.
// SAFETY: *measured*: what the message's arguments promise, and `Plan::add_new_string` adds up what
// `encode_interned` appends of a string that no table has, and a tag of one byte with its id.
unsafe impl<A: Args> Args for WithStack<'_, A> {
    type Measured = A::Measured;
    const HAS_STRINGS: bool = true;
    const HAS_STACK: bool = true;

    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> A::Measured {
        let measured = self.args.measure(plan, known);
        plan.add_new_string(self.stack);
        measured
    }

    fn encode_strings(
        &self,
        to: &mut Cursor,
        measured: A::Measured,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        self.args.encode_strings(to, measured, interner, max);
        Str(self.stack).encode_interned(INTERNED, to, Lookup::UNKNOWN, interner, max);
    }

    fn encode_params(&self, to: &mut Cursor, measured: A::Measured, iid: &mut u32) {
        self.args.encode_params(to, measured, iid);
        let (bits, len) = packed_varint(u64::from(*iid));
        to.put(u128::from(PARAM) | bits << 8, 1 + len);
        *iid += 1;
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>)) {
        self.args.visit(visitor);
    }
}
