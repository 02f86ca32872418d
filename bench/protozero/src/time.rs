//! Times: the best round of each writer, where all writers take turns in every round.
//!
//! Other work of the machine only makes a round slower, so the best of many is the least disturbed,
//! and turns let slow phases hit all writers alike. Time is this thread's processor time: what it
//! waits for a processor that others have is not counted, or writers whose turn takes long would
//! suffer most.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

use crate::memory::{Job, SLOT, Shape, Slot};
use crate::record::{Records, Values};
use crate::writers::WRITERS;

/// Rounds that count.
pub(crate) const ROUNDS: usize = 30;

/// Messages of one turn: one for each slot of 64 MiB.
const MESSAGES: usize = 64 * 1024 * 1024 / SLOT;

/// Slots that stay in a first-level cache: 16 KiB.
const CACHED_SLOTS: usize = 32;

/// Where messages go, and of what values.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    /// As heads of columns.
    pub(crate) name: &'static str,
    slots: usize,
    values: Values,
}

/// The columns.
pub(crate) const SETTINGS: [Setting; 4] = [
    Setting { name: "64 MiB", slots: MESSAGES, values: Values::Seed },
    Setting { name: "cache", slots: CACHED_SLOTS, values: Values::Seed },
    Setting { name: "64 MiB, varied", slots: MESSAGES, values: Values::Varied },
    Setting { name: "cache, varied", slots: CACHED_SLOTS, values: Values::Varied },
];

/// Nanoseconds a message of each writer in each setting.
pub(crate) type Times = [[f64; SETTINGS.len()]; WRITERS.len()];

/// Measures one shape.
pub(crate) fn measure(shape: Shape, records: &Records) -> Times {
    let mut memory = vec![Slot([0; SLOT]); MESSAGES];
    let mut best = [[f64::INFINITY; SETTINGS.len()]; WRITERS.len()];
    // One round before those that count, to warm caches and predictors.
    for round in 0..=ROUNDS {
        for (column, setting) in SETTINGS.iter().enumerate() {
            for (writer, best) in WRITERS.iter().zip(&mut best) {
                let slots = &mut memory[..setting.slots];
                let job = Job { shape, values: setting.values, passes: MESSAGES / slots.len() };
                let begun = nanoseconds();
                black_box((writer.run)(job, black_box(slots), records));
                let time = (nanoseconds() - begun) as f64 / MESSAGES as f64;
                if round > 0 {
                    best[column] = best[column].min(time);
                }
            }
        }
    }
    best
}

/// Processor time of this thread.
fn nanoseconds() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
