//! The memory that messages go to, and the loop that fills it.
//!
//! As in ProtoZero's own benchmark every message has a slot of 512 bytes, and the slots are taken
//! in turn: 64 MiB of them, as a trace buffer is used, or as many as the first-level cache keeps.
//! Unlike there, nothing is read back.

use std::fmt;

use crate::record::{Message, Records, SEED_MESSAGES, VARIED_MESSAGES, Values};

/// Bytes of a slot.
pub(crate) const SLOT: usize = 512;

/// Memory for one message.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Slot(pub(crate) [u8; SLOT]);

/// Which message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Four integers and a text.
    Simple,
    /// The same, with three more of them nested one in the other.
    Nested,
}

impl Shape {
    /// Messages in the message, itself among them.
    pub(crate) fn levels(self) -> usize {
        match self {
            Self::Simple => 1,
            Self::Nested => 4,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simple => "Simple",
            Self::Nested => "Nested",
        })
    }
}

/// Which messages, and how often the slots are filled with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) shape: Shape,
    pub(crate) values: Values,
    pub(crate) passes: usize,
}

/// Puts one message after the other into slots; each function returns the bytes that the message
/// took.
pub(crate) trait Fill: Default {
    /// One message with the values of the first record.
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize;
    /// One message of four levels.
    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize;
}

/// Does a job; returns the bytes of all messages.
pub(crate) fn run<F: Fill>(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    let mut fill = F::default();
    let Records { seed, varied } = records;
    // Taking messages in turn costs no check, since their number is known and a power of two.
    match (job.shape, job.values) {
        (Shape::Simple, Values::Seed) => {
            each(job, slots, |slot, turn| fill.simple(slot, &seed[turn % SEED_MESSAGES]))
        }
        (Shape::Simple, Values::Varied) => {
            each(job, slots, |slot, turn| fill.simple(slot, &varied[turn % VARIED_MESSAGES]))
        }
        (Shape::Nested, Values::Seed) => {
            each(job, slots, |slot, turn| fill.nested(slot, &seed[turn % SEED_MESSAGES]))
        }
        (Shape::Nested, Values::Varied) => {
            each(job, slots, |slot, turn| fill.nested(slot, &varied[turn % VARIED_MESSAGES]))
        }
    }
}

/// Calls `fill` for each slot in turn with the number of the turn; returns the sum of what it
/// returns.
#[inline(never)]
pub(crate) fn each(
    job: Job,
    slots: &mut [Slot],
    mut fill: impl FnMut(&mut [u8; SLOT], usize) -> usize,
) -> usize {
    let (mut written, mut turn) = (0, 0);
    for _ in 0..job.passes {
        for slot in &mut *slots {
            written += fill(&mut slot.0, turn);
            turn += 1;
        }
    }
    written
}
