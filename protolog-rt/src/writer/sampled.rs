//! A message that was sampled: it says at which rate.
#![allow(unsafe_code)] // Stores into the chunk.

use super::args::Args;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner};
use super::plan::Plan;
use protolog_core::Arg;
use protolog_core::control::rate::Rate;
use protolog_core::schema::message;
use protozero::wire::{WireType, packed_varint, tag};

/// The arguments of such a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampled<'a, A> {
    pub(crate) args: &'a A,
    pub(crate) rate: Rate,
}

/// The fields with the rate: their bits, and the number of their bytes.
fn fields(rate: Rate) -> [(u128, usize); 3] {
    let field = |number: u32, value: u32| {
        let (name, name_len) = packed_varint(tag(number, WireType::Varint).into());
        let (bits, len) = packed_varint(value.into());
        (name | bits << (8 * name_len), name_len + len)
    };
    let kept = if rate.kept() == 1 { (0, 0) } else { field(message::RATE_KEPT, rate.kept()) };
    let by = rate.by().map_or((0, 0), |by| field(message::RATE_BY, by.into()));
    [field(message::RATE_OF, rate.of()), kept, by]
}

// SAFETY: *measured*: what the message's arguments promise, and the fields, which `measure` adds
// up.
unsafe impl<A: Args> Args for Sampled<'_, A> {
    type Measured = A::Measured;
    const HAS_STRINGS: bool = A::HAS_STRINGS;
    const HAS_STACK: bool = A::HAS_STACK;
    const IS_FOR_ALL: bool = A::IS_FOR_ALL;

    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> A::Measured {
        let measured = self.args.measure(plan, known);
        plan.params += fields(self.rate).into_iter().map(|(_, len)| len).sum::<usize>();
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
    }

    fn encode_params(&self, to: &mut Cursor, measured: A::Measured, iid: &mut u32) {
        self.args.encode_params(to, measured, iid);
        for (bits, len) in fields(self.rate) {
            to.put(bits, len);
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>)) {
        self.args.visit(visitor);
    }
}
