//! C++ ProtoZero: the loops of `cpp/loops.cc`.
#![allow(unsafe_code, reason = "a function of another language has to be declared and called")]

use crate::memory::{Job, SLOT, Shape, Slot};
use crate::record::Records;

unsafe extern "C" {
    /// Fills `count` slots of [`SLOT`] bytes `passes` times with messages of four [`Record`](crate::record::Record)s
    /// each, which are taken in turn: `mask` is their number, a power of two, less one. Returns the bytes of all messages.
    fn protozero_loop(
        nested: bool,
        kept: bool,
        slots: *mut [u8; SLOT],
        count: usize,
        passes: usize,
        records: *const u8,
        mask: usize,
    ) -> usize;
}

/// Objects are kept from message to message.
pub(crate) fn kept(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    run(job, slots, records, true)
}

/// Objects are made for each message.
pub(crate) fn made(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    run(job, slots, records, false)
}

fn run(job: Job, slots: &mut [Slot], records: &Records, kept: bool) -> usize {
    let messages = records.of(job.values);
    // SAFETY: both slices are borrowed for as long as the call takes; a slot has no padding, so that slots follow each
    // other every `SLOT` bytes; the number of messages is a power of two; and no message of four records is longer
    // than a slot: 4 * (2 * 6 + 2 * 11 + 3 + 31) + 3 * 6 = 290 bytes.
    unsafe {
        protozero_loop(
            job.shape == Shape::Nested,
            kept,
            slots.as_mut_ptr().cast(),
            slots.len(),
            job.passes,
            messages.as_ptr().cast(),
            messages.len() - 1,
        )
    }
}
