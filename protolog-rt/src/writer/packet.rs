//! Packets, as the slow path measures and encodes them. The bytes of a message are shown in
//! [`super::layout`].
//!
//! Sizes are computed first ([`Plan`]), so nothing is filled in later. The fast path
//! ([`super::fast`]) writes the same bytes.
#![allow(unsafe_code)] // Promises about sizes.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::args::Args;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner};
use super::layout::{
    INTERNED_DATA, MESSAGE, MESSAGE_ID, MESSAGE_LEN, NEEDS_STATE, TIMESTAMP, UNSIGNED, UNSIGNED_LEN,
};
use super::plan::{Base, Plan};
use super::stack::{self, WithStack};
use super::{Head, Writer};
use crate::level::AtHost;
use protolog_core::{Arg, MAX_PARAMS};
use protozero::wire::packed_varint;
use std::num::NonZeroU64;

/// A packet that can be measured and encoded: a message, one with a stack trace, or a timeline
/// slice.
///
/// # Safety
/// *planned*: [`Self::encode`] appends [`Self::size`] bytes, if it gets the plan that
/// [`Self::plan`] made of the same packet, and an interner that begins with the plan's first id.
pub(crate) unsafe trait Packet: Sized {
    /// The plan's knowledge of the arguments.
    type Measured: Copy;

    /// True of a packet that counts as a message.
    const IS_MESSAGE: bool;

    /// True of a packet for all sessions, whatever they record of its group.
    const IS_FOR_ALL: bool = false;

    /// False where there are never strings.
    const HAS_STRINGS: bool;

    /// Measures the packet; strings that the chunk has are only named.
    fn plan(&self, base: Base, known: Option<ChunkStrings<'_>>) -> (Plan, Self::Measured);

    /// Size of the packet, without its own size field.
    fn size(&self, plan: &Plan) -> usize;

    /// Appends the packet.
    fn encode(
        &self,
        to: &mut Cursor,
        id: u64,
        plan: (&Plan, Self::Measured),
        interner: Interner<'_>,
    );

    /// Passes the packet to the host that this copy of the runtime has joined, for its sessions.
    fn pass_on(&self, head: Head, host: &AtHost);

    /// Writes the packet to one of several sessions, at a moment of all of them. `wants_stack`: the
    /// session asks for the stack traces of such messages. False, and nothing done, where the
    /// session is over.
    #[inline(always)]
    fn write_with(
        &self,
        writer: &Writer,
        head: Head,
        moment: NonZeroU64,
        wants_stack: bool,
    ) -> bool {
        let _ = wants_stack;
        writer.write(head, self, moment)
    }
}

/// A message with these arguments.
// SAFETY: *planned*: `Plan::packet` adds up the sizes of what `encode_message` appends, and `Args`
// promises those of the arguments.
unsafe impl<A: Args> Packet for A {
    type Measured = A::Measured;
    const IS_MESSAGE: bool = true;
    const IS_FOR_ALL: bool = A::IS_FOR_ALL;
    const HAS_STRINGS: bool = A::HAS_STRINGS;

    #[inline(always)]
    fn plan(&self, base: Base, known: Option<ChunkStrings<'_>>) -> (Plan, Self::Measured) {
        let mut plan = Plan::new(base);
        let measured = self.measure(&mut plan, known);
        (plan, measured)
    }

    #[inline(always)]
    fn size(&self, plan: &Plan) -> usize {
        plan.packet()
    }

    #[inline(always)]
    fn encode(
        &self,
        to: &mut Cursor,
        id: u64,
        plan: (&Plan, Self::Measured),
        interner: Interner<'_>,
    ) {
        encode_message(to, id, self, plan, interner);
    }

    fn pass_on(&self, head: Head, host: &AtHost) {
        let mut args = [Arg::Bool(false); MAX_PARAMS];
        let mut slots = args.iter_mut();
        let mut count = 0;
        self.visit(&mut |arg| {
            if let Some(slot) = slots.next() {
                *slot = arg;
                count += 1;
            }
        });
        host.message(head.level(), head.id, args.get(..count).unwrap_or_default(), A::HAS_STACK);
    }

    #[inline(always)]
    fn write_with(
        &self,
        writer: &Writer,
        head: Head,
        moment: NonZeroU64,
        wants_stack: bool,
    ) -> bool {
        if wants_stack {
            stack::with(|stack| writer.write(head, &WithStack { args: self, stack }, moment))
        } else {
            writer.write(head, self, moment)
        }
    }
}

/// Appends the packet of a message: [`Plan::packet`] bytes.
#[inline(always)]
pub(super) fn encode_message<A: Args>(
    to: &mut Cursor,
    id: u64,
    args: &A,
    (plan, measured): (&Plan, A::Measured),
    mut interner: Interner<'_>,
) {
    let mut iid = interner.iid;
    to.varint(TIMESTAMP, plan.delta);
    if plan.strings > 0 {
        to.size(u128::from(INTERNED_DATA), 1, plan.strings);
        args.encode_strings(to, measured, &mut interner, plan.max_string_bytes);
    }
    let (before, before_len) = if plan.has_strings {
        (u16::from_le_bytes(NEEDS_STATE) as u128 | MESSAGE << 16, NEEDS_STATE.len() + MESSAGE_LEN)
    } else {
        (MESSAGE, MESSAGE_LEN)
    };
    to.size(before, before_len, plan.message());
    to.put8(MESSAGE_ID.into(), 1);
    to.put8(id, 8);
    args.encode_params(to, measured, &mut iid);
    if plan.unsigned != 0 {
        let (bits, len) = packed_varint(plan.unsigned as u64);
        to.put(UNSIGNED | bits << (8 * UNSIGNED_LEN), UNSIGNED_LEN + len);
    }
}

#[cfg(test)]
mod tests;
