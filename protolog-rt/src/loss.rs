//! Counters of messages that were not written, by group and reason, without locks and safe in
//! signal handlers: lost ones by cause, and those that sampling passed over by level.
//!
//! Invariants: each count that is added is taken exactly once; a pair of group and cause that finds
//! no slot is counted under group 0, "not known", of its cause, never dropped.

// By its path, since the models of tests/loom have this file at another place.
#[path = "loss/held_back_counts.rs"]
mod held_back_counts;
#[path = "loss/slot.rs"]
mod slot;
#[path = "loss/unattributed.rs"]
mod unattributed;

#[cfg_attr(loom, allow(unused_imports, reason = "the models have none"))]
pub(crate) use unattributed::{UnattributedLosses, UnattributedSnapshot};

use self::slot::{LossSlot, key_of, offer};
use crate::sync::{AtomicU64, Ordering};
pub use protolog_core::LossCause;
pub(crate) use protolog_core::Unwritten;
use protolog_core::recorder::WRITER_LOSS_SLOTS;
#[cfg(not(loom))]
use protolog_core::recorder::{WRITER_LOSS_SLOT_SIZE, WRITER_LOSSES_SIZE};
#[cfg(not(loom))]
use std::mem::offset_of;
use std::sync::Arc;

/// A number of messages of one group that were not written for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LossCount {
    /// Id of the group, 0 if it is not known.
    pub(crate) group: u32,
    pub(crate) cause: Unwritten,
    pub(crate) count: u64,
    /// When the first and the last were lost, in nanoseconds of BOOTTIME; none if nobody noted it.
    pub(crate) times: Option<(u64, u64)>,
    /// Of messages that say the same as one before: its id. 0 for none.
    pub(crate) message: u64,
    /// Of those in a session that keeps messages in memory: how many packets of chunks report,
    /// which may have been overwritten.
    pub(crate) recorded: u64,
}

impl LossCount {
    /// A number of messages that were lost at an unknown time.
    pub(crate) fn new(group: u32, cause: impl Into<Unwritten>, count: u64) -> Self {
        Self { group, cause: cause.into(), count, times: None, message: 0, recorded: 0 }
    }

    /// Adds it to `all`, of which each has its own group and cause.
    pub(crate) fn add_to(self, all: &mut Vec<Self>) {
        let same = |known: &&mut Self| (known.group, known.cause) == (self.group, self.cause);
        match all.iter_mut().find(same) {
            Some(known) => {
                known.count += self.count;
                known.recorded += self.recorded;
                let join =
                    |one: (u64, u64), other: (u64, u64)| (one.0.min(other.0), one.1.max(other.1));
                known.times = known.times.zip(self.times).map(|(one, other)| join(one, other));
                if known.message != self.message {
                    known.message = 0;
                }
            }
            None => all.push(self),
        }
    }

    /// Takes it off those of `all`, as far as they have it.
    pub(crate) fn take_from(self, all: &mut Vec<Self>) {
        all.retain_mut(|left| {
            if (left.group, left.cause) == (self.group, self.cause) {
                left.count = left.count.saturating_sub(self.count);
            }
            left.count > 0
        });
    }
}

/// Number of pairs of group and reason with a slot of their own.
const SLOTS: usize = WRITER_LOSS_SLOTS;

/// Counters that outlive the process, such as those of a recorder's file; each loss is added to
/// them as well. Called in signal handlers too.
pub(crate) trait Mirror: std::fmt::Debug + Send + Sync {
    /// Adds `count` messages of group `group`, 0 if it is not known.
    fn add(&self, group: u32, cause: Unwritten, count: u64);
}

/// Counters by group and cause. From the slots on, they are as a core file is read.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LossCounters {
    mirror: Option<Arc<dyn Mirror>>,
    /// Not 0 if a loss was counted since all were taken.
    pending: AtomicU64,
    slots: [LossSlot; SLOTS],
    /// By reason, for pairs that found no slot.
    rest: [AtomicU64; REST.len()],
}

#[cfg(not(loom))]
const _: () = assert!(
    size_of::<LossSlot>() == WRITER_LOSS_SLOT_SIZE
        && offset_of!(LossCounters, rest) - offset_of!(LossCounters, slots)
            + size_of::<[AtomicU64; REST.len()]>()
            == WRITER_LOSSES_SIZE
);

/// The fate of a message that was to be counted at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It was counted, with others that nobody has taken.
    Again,
    /// It was counted, as the first one since the others were taken.
    First,
    /// It was not counted.
    Not,
}

/// The reasons that are told apart of messages of unknown groups.
const REST: [Unwritten; LossCause::ALL.len() + 1] = {
    let mut all = [Unwritten::PassedOver(None); LossCause::ALL.len() + 1];
    let mut index = 0;
    while index < LossCause::ALL.len() {
        all[index] = Unwritten::Lost(LossCause::ALL[index]);
        index += 1;
    }
    all
};

/// The place of a reason among [`REST`].
const fn rest_index(cause: Unwritten) -> usize {
    match cause {
        Unwritten::Lost(cause) => cause as usize - 1,
        Unwritten::PassedOver(_) => LossCause::ALL.len(),
    }
}

impl LossCounters {
    /// Creates counters at zero.
    pub(crate) const fn new() -> Self {
        Self {
            mirror: None,
            pending: AtomicU64::new(0),
            slots: [const { LossSlot::new() }; SLOTS],
            rest: [const { AtomicU64::new(0) }; REST.len()],
        }
    }

    /// Creates counters at zero that also count in `mirror`.
    pub(crate) fn mirrored(mirror: Option<Arc<dyn Mirror>>) -> Self {
        Self { mirror, ..Self::new() }
    }

    /// Returns the address of the counters.
    pub(crate) fn address(&self) -> usize {
        self.slots.as_ptr().addr()
    }

    /// Returns the mirror, if there is one.
    pub(crate) fn mirror(&self) -> Option<&dyn Mirror> {
        self.mirror.as_deref()
    }

    /// Counts `count` lost messages of group `group`.
    #[cold]
    pub(crate) fn add(&self, group: u32, cause: impl Into<Unwritten>, count: u64) {
        let cause = cause.into();
        self.restore(LossCount::new(group, cause, count));
        if let Some(mirror) = &self.mirror {
            mirror.add(group, cause, count);
        }
    }

    /// Returns the place at which [`Self::add_at`] counts messages of this group and reason; none
    /// where there is none left, or where a mirror counts them, too.
    pub(crate) fn place(&self, group: u32, cause: Unwritten) -> Option<usize> {
        let key = key_of(group, cause);
        let mut slots = self.slots.iter();
        if self.mirror.is_none() { slots.position(|slot| slot.claim(key)) } else { None }
    }

    /// Counts a message at a place, with the time at which it was lost if somebody noted it. After
    /// the first one since those were taken, [`Self::announce`] has to follow.
    #[inline]
    pub(crate) fn add_at(&self, place: usize, time: Option<u64>) -> Added {
        let Some(slot) = self.slots.get(place) else { return Added::Not };
        if let Some(time) = time {
            slot.note_times(time, time);
        }
        // If it was not 0, whoever takes those takes this one, too. If it was, the announcement
        // comes after that of those that were taken: acquired.
        if slot.count.fetch_add(1, Ordering::AcqRel) == 0 { Added::First } else { Added::Again }
    }

    /// Says that there are losses to take.
    pub(crate) fn announce(&self) {
        self.pending.store(1, Ordering::Release);
    }

    /// Adds losses that the mirror has already. Returns whether they are the first of their kind.
    pub(crate) fn restore(&self, lost: LossCount) -> bool {
        self.add_key(key_of(lost.group, lost.cause), lost)
    }

    fn add_key(&self, key: u64, lost: LossCount) -> bool {
        let of_message =
            if lost.message == 0 { None } else { self.slot_of_message(lost.group, lost.message) };
        let slot = of_message.or_else(|| self.slots.iter().find(|slot| slot.claim(key)));
        if let Some(slot) = slot {
            if let Some((first, last)) = lost.times {
                slot.note_times(first, last);
            }
            if lost.recorded > 0 {
                slot.restore_recorded(lost.recorded);
            }
        }
        let counter = slot.map_or(&self.rest[rest_index(lost.cause)], |slot| &slot.count);
        let is_first = counter.fetch_add(lost.count, Ordering::Release) == 0;
        // After the count, so that a reader that misses it comes back.
        self.announce();
        is_first
    }

    /// Returns true if there may be losses to take.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Returns the losses that were not taken yet, by group and cause, and leaves them.
    pub(crate) fn pending(&self) -> Vec<LossCount> {
        let mut all = Vec::new();
        for slot in &self.slots {
            let Some(kind) = slot.kind() else { break };
            let count = slot.count.load(Ordering::Relaxed);
            all.push(LossCount { count, message: slot.message(), ..kind });
        }
        for (cause, counter) in REST.into_iter().zip(&self.rest) {
            all.push(LossCount::new(0, cause, counter.load(Ordering::Relaxed)));
        }
        all.retain(|counted| counted.count > 0);
        all
    }

    /// Takes the losses one by one, until `accept` returns false because it has no room; that one
    /// stays.
    pub(crate) fn take(&self, accept: impl FnMut(LossCount) -> bool) {
        // First, so that a loss which is counted after this sets it again.
        self.pending.swap(0, Ordering::AcqRel);
        if !self.try_take(accept) {
            self.pending.store(1, Ordering::Relaxed);
        }
    }

    /// The same; returns false if not all were accepted.
    fn try_take(&self, mut accept: impl FnMut(LossCount) -> bool) -> bool {
        for slot in &self.slots {
            let Some(kind) = slot.kind() else { break };
            if !slot.offer(kind, &mut accept) {
                return false;
            }
        }
        for (cause, counter) in REST.into_iter().zip(&self.rest) {
            if !offer(LossCount::new(0, cause, 0), counter, &mut accept) {
                return false;
            }
        }
        true
    }
}

/// The vectors of losses, which several tests read.
#[cfg(all(test, not(loom)))]
pub(crate) mod testing {
    use super::*;
    use std::fmt::Write as _;

    /// Adds losses as `protolog-core/testdata/session.tsv` has them: `GROUP CAUSE COUNT`, with `;`
    /// between.
    pub(crate) fn add_all(to: &LossCounters, losses: &str) {
        for lost in losses.split_terminator(';') {
            let mut numbers =
                lost.split(' ').map(|number| number.parse::<u64>().expect("a number"));
            let mut next = || numbers.next().expect("a group, a cause and a count");
            let (group, cause, count) = (next() as u32, next() as u32, next());
            to.add(group, Unwritten::from_number(cause).expect("a cause"), count);
        }
    }

    /// The bytes in hexadecimal.
    pub(crate) fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string has room");
            text
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Debug, Default)]
    struct Recorded(Mutex<Vec<(u32, Unwritten, u64)>>);

    impl Mirror for Recorded {
        fn add(&self, group: u32, cause: Unwritten, count: u64) {
            self.0.lock().unwrap().push((group, cause, count));
        }
    }

    #[test]
    fn a_mirror_sees_each_loss_once() {
        let mirror = Arc::<Recorded>::default();
        let losses = LossCounters::mirrored(Some(Arc::clone(&mirror) as Arc<dyn Mirror>));
        losses.add(7, LossCause::BufferFull, 2);
        for (group, cause, count) in taken(&losses) {
            losses.restore(LossCount::new(group, cause, count));
        }
        assert_eq!(taken(&losses), [(7, LossCause::BufferFull, 2)]);
        assert_eq!(*mirror.0.lock().unwrap(), [(7, LossCause::BufferFull.into(), 2)]);
    }

    fn taken(losses: &LossCounters) -> Vec<(u32, LossCause, u64)> {
        let mut all = Vec::new();
        losses.take(|counted| {
            all.push((counted.group, counted.cause.lost().expect("a loss"), counted.count));
            true
        });
        all
    }

    #[test]
    fn what_is_added_is_taken_once() {
        let losses = LossCounters::new();
        losses.add(7, LossCause::BufferFull, 1);
        losses.add(7, LossCause::BufferFull, 2);
        losses.add(7, LossCause::Truncated, 1);
        losses.add(0, LossCause::ThreadExit, 1);
        assert_eq!(
            taken(&losses),
            [
                (7, LossCause::BufferFull, 3),
                (7, LossCause::Truncated, 1),
                (0, LossCause::ThreadExit, 1)
            ]
        );
        assert_eq!(taken(&losses), []);
        losses.add(7, LossCause::Truncated, 1);
        assert_eq!(taken(&losses), [(7, LossCause::Truncated, 1)]);
    }

    #[test]
    fn suppressed_messages_have_times() {
        let losses = LossCounters::new();
        let taken = |losses: &LossCounters| {
            let mut all = Vec::new();
            losses.take(|counted| {
                all.push((counted.group, counted.count, counted.times));
                true
            });
            all
        };
        assert!(losses.add_limited(7, 100));
        assert!(!losses.add_limited(7, 150));
        losses.add_limited(8, 120);
        losses.add(7, LossCause::Truncated, 1);
        let expected = [(7, 2, Some((100, 150))), (8, 1, Some((120, 120))), (7, 1, None)];
        assert_eq!(taken(&losses), expected);
        losses.add_limited(7, 200);
        losses.add(7, LossCause::Truncated, 1);
        assert_eq!(losses.take_held_back(true).len(), 1);
        assert_eq!(taken(&losses), [(7, 1, None)], "other losses stay");
        assert!(losses.add_limited(7, 300));
        losses.take(|_| false);
        losses.add_limited(7, 310);
        assert_eq!(taken(&losses), [(7, 2, Some((300, 310)))], "what has no room stays");
        let restored = LossCounters::new();
        for (group, count, times) in expected {
            restored
                .restore(LossCount { times, ..LossCount::new(group, LossCause::Limited, count) });
        }
        assert_eq!(taken(&restored)[0], (7, 3, Some((100, 150))));
    }

    #[test]
    fn without_a_slot_the_cause_is_still_counted() {
        let losses = LossCounters::new();
        for group in 1..=SLOTS as u32 + 5 {
            losses.add(group, LossCause::BufferFull, 2);
        }
        let all = taken(&losses);
        assert_eq!(all.iter().map(|loss| loss.2).sum::<u64>(), 2 * (SLOTS as u64 + 5));
        assert_eq!(all.last(), Some(&(0, LossCause::BufferFull, 10)));
    }

    #[test]
    fn what_has_no_room_stays() {
        let losses = LossCounters::new();
        losses.add(1, LossCause::BufferFull, 1);
        losses.add(2, LossCause::BufferFull, 1);
        let mut first = Vec::new();
        losses.take(|counted| {
            first.push(counted.group);
            first.len() < 2
        });
        assert_eq!(first, [1, 2]);
        assert_eq!(taken(&losses), [(2, LossCause::BufferFull, 1)]);
    }
}
