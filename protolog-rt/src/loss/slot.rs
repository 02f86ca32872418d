//! A counter of messages of one group that were not written for one reason, with the times of the
//! first and the last of them.
//!
//! Invariants: a slot belongs to one pair of group and reason from its first claim on; what is
//! offered and not accepted is there again.

use super::LossCount;
use crate::sync::{AtomicU64, Ordering};
use protolog_core::{Level, LossCause, Unwritten};

/// See the module. Key and count are first, as a core file is read.
#[derive(Debug)]
#[repr(C)]
pub(super) struct LossSlot {
    /// [`key_of`] or [`key_at_level`]; 0 while unused.
    key: AtomicU64,
    pub(super) count: AtomicU64,
    /// When the first and the last of them were lost, in nanoseconds; 0 if nobody noted it.
    first: AtomicU64,
    last: AtomicU64,
    /// The id of the message that they repeat; 0 for none. It never changes once it is set, which
    /// is before the first of them is counted.
    message: AtomicU64,
    /// How many of them packets of chunks report that may be overwritten.
    recorded: AtomicU64,
    /// The place of a slot is found by a shift then, as each message that is held back asks for it.
    _padding: [u64; 2],
}

/// A bit of each key that is one.
const USED: u64 = 1 << 63;
/// The position of the group in a key, after the reason.
const GROUP_SHIFT: u32 = 8;
/// The position of the level's severity in a key that has one.
const LEVEL_SHIFT: u32 = 40;
/// Bits of an id in a key that has some of one, at the place of the level.
const MESSAGE_BITS: u32 = 23;

impl LossSlot {
    /// Creates an unused slot.
    pub(super) const fn new() -> Self {
        Self {
            key: AtomicU64::new(0),
            count: AtomicU64::new(0),
            first: AtomicU64::new(0),
            last: AtomicU64::new(0),
            message: AtomicU64::new(0),
            recorded: AtomicU64::new(0),
            _padding: [0; 2],
        }
    }

    /// Returns what the slot counts, with a count of 0; none if it is unused.
    pub(super) fn kind(&self) -> Option<LossCount> {
        let key = self.key.load(Ordering::Acquire);
        let cause = Unwritten::from_number((key & 0xff) as u32).filter(|_| key & USED != 0);
        cause.map(|cause| LossCount::new((key >> GROUP_SHIFT) as u32, cause, 0))
    }

    /// Returns the severity of the level in its key; it means nothing in one without a level.
    pub(super) fn severity(&self) -> u8 {
        (self.key.load(Ordering::Acquire) >> LEVEL_SHIFT) as u8
    }

    /// As [`offer`], with the times.
    pub(super) fn offer(&self, lost: LossCount, accept: &mut dyn FnMut(LossCount) -> bool) -> bool {
        if self.count.load(Ordering::Relaxed) == 0 {
            return true;
        }
        // Before the count: what is added in between has noted its time for the next one, too.
        let first = self.first.swap(0, Ordering::Relaxed);
        let recorded = self.recorded.swap(0, Ordering::Relaxed);
        let mut times = None;
        let accepted = offer(lost, &self.count, &mut |lost| {
            let last = self.last.load(Ordering::Relaxed);
            times = (last > 0).then_some((if first == 0 { last } else { first }, last));
            accept(LossCount { times, message: self.message(), recorded, ..lost })
        });
        if !accepted {
            self.recorded.fetch_add(recorded, Ordering::Relaxed);
            if let Some((first, last)) = times {
                self.note_times(first, last);
            }
        }
        accepted
    }

    /// Notes when messages were lost that are counted next. One thread adds to a slot with times,
    /// or the last one has ended.
    pub(super) fn note_times(&self, first: u64, last: u64) {
        let before = self.first.load(Ordering::Relaxed);
        if before == 0 || first < before {
            self.first.store(first, Ordering::Relaxed);
        }
        if last > self.last.load(Ordering::Relaxed) {
            self.last.store(last, Ordering::Relaxed);
        }
    }

    /// Returns the id of the message that those in it repeat; 0 for none.
    pub(super) fn message(&self) -> u64 {
        self.message.load(Ordering::Acquire)
    }

    /// Returns how many of those that it has no packet of a chunk reports.
    pub(super) fn unrecorded(&self) -> u64 {
        let recorded = self.recorded.load(Ordering::Relaxed);
        self.count.load(Ordering::Relaxed).saturating_sub(recorded)
    }

    /// Notes that a packet of a chunk reports so many of those that it has, and all that came
    /// before.
    pub(super) fn note_recorded(&self, count: u64) {
        self.recorded.fetch_add(count, Ordering::Relaxed);
        self.first.store(0, Ordering::Relaxed);
    }

    /// Adds those that such packets report, of what is restored.
    pub(super) fn restore_recorded(&self, count: u64) {
        self.recorded.fetch_add(count, Ordering::Relaxed);
    }

    /// As [`Self::claim`], for repeats of the message with this id, whose key that is.
    pub(super) fn claim_of_message(&self, key: u64, message: u64) -> bool {
        let order = (Ordering::AcqRel, Ordering::Acquire);
        self.claim(key)
            && self
                .message
                .compare_exchange(0, message, order.0, order.1)
                .map_or_else(|known| known == message, |_| true)
    }

    /// Takes the slot for `key` if it is unused. Returns true if it is the slot of `key`.
    pub(super) fn claim(&self, key: u64) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match self.key.load(Ordering::Acquire) {
            0 => match self.key.compare_exchange(0, key, success, failure) {
                Ok(_) => true,
                Err(now) => now == key,
            },
            now => now == key,
        }
    }
}

/// Takes what a counter has, unless `accept` refuses it; returns false then.
pub(super) fn offer(
    lost: LossCount,
    counter: &AtomicU64,
    accept: &mut dyn FnMut(LossCount) -> bool,
) -> bool {
    // Most are zero: look before writing.
    if counter.load(Ordering::Relaxed) == 0 {
        return true;
    }
    // Taken before it is passed on: a writer and the session's thread may both be here.
    let count = counter.swap(0, Ordering::AcqRel);
    let accepted = count == 0 || accept(LossCount { count, ..lost });
    if !accepted {
        counter.fetch_add(count, Ordering::Relaxed);
    }
    accepted
}

/// The key of a slot for this group and reason.
pub(super) fn key_of(group: u32, cause: Unwritten) -> u64 {
    USED | (group as u64) << GROUP_SHIFT | u64::from(cause.number())
}

/// The key of a slot for repeats of the message with this id. Two of them may have the same.
pub(super) fn key_of_message(group: u32, message: u64) -> u64 {
    let part = message >> (u64::BITS - MESSAGE_BITS) | 1;
    key_of(group, LossCause::Repeated.into()) | part << LEVEL_SHIFT
}

/// The key of a slot for messages of this level alone.
pub(super) fn key_at_level(group: u32, level: Level, cause: Unwritten) -> u64 {
    key_of(group, cause) | (level.severity() as u64) << LEVEL_SHIFT
}
