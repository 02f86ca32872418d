//! C++ ProtoZero: the loops of `cpp/loops.cc`.
#![allow(unsafe_code, reason = "a function of another language has to be declared and called")]

use crate::memory::{Job, SLOT, Shape, Slot};
use crate::record::Records;

/// The writers that fill the slots; keep in sync with the C++ side.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Who {
    Light = 0,
    Kept = 1,
    Static = 2,
}

unsafe extern "C" {
    /// Fills `count` slots of [`SLOT`] bytes `passes` times with messages of four
    /// [`Record`](crate::record::Record)s each, which are taken in turn: `mask` is their number, a
    /// power of two, less one. Returns the bytes of all messages.
    fn protozero_loop(
        who: Who,
        nested: bool,
        slots: *mut [u8; SLOT],
        count: usize,
        passes: usize,
        records: *const u8,
        mask: usize,
    ) -> usize;
}

/// The floor of ProtoZero's own benchmark.
pub(crate) fn light(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    run(Who::Light, job, slots, records)
}

/// Objects are kept from message to message.
pub(crate) fn kept(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    run(Who::Kept, job, slots, records)
}

/// Objects are made for each message.
pub(crate) fn made(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    run(Who::Static, job, slots, records)
}

fn run(who: Who, job: Job, slots: &mut [Slot], records: &Records) -> usize {
    let messages = records.of(job.values);
    // SAFETY: both slices are borrowed for the duration of the call. A slot has no padding, so
    // slots follow each other every `SLOT` bytes. The number of messages is a power of two. No
    // writer exceeds a slot: a message of four records takes ProtoZero 4 * (2 * 6 + 2 * 11 + 3 +
    // 31) + 3 * 6 = 290 bytes, the floor 4 * 72.
    unsafe {
        protozero_loop(
            who,
            job.shape == Shape::Nested,
            slots.as_mut_ptr().cast(),
            slots.len(),
            job.passes,
            messages.as_ptr().cast(),
            messages.len() - 1,
        )
    }
}
