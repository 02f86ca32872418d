//! Counting lost messages by group and cause, without locks and safe in signal handlers.
//!
//! Invariants: what was added is taken exactly once; a pair that finds no slot is counted under group 0, "not known", of
//! its cause, never dropped. What has no sequence of its own, [`Strays`], is never taken: each session compares.

use crate::sync::{AtomicU64, Ordering};
use protolog_core::Level;
pub use protolog_core::LossCause;
use std::sync::Arc;

/// Number of lost messages of one group for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Id of the group, 0 where it is not known.
    pub(crate) group: u32,
    /// Why.
    pub(crate) cause: LossCause,
    /// How many.
    pub(crate) count: u64,
}

/// Pairs of group and cause that have a slot of their own.
const SLOTS: usize = 48;

/// Where losses are counted once more, for good. Called in signal handlers too.
pub(crate) trait Mirror: std::fmt::Debug + Send + Sync {
    /// Counts `count` messages of group `group`, 0 where it is not known.
    fn add(&self, group: u32, cause: LossCause, count: u64);
}

/// Counters by group and cause.
#[derive(Debug)]
pub(crate) struct Losses {
    mirror: Option<Arc<dyn Mirror>>,
    /// Not 0 where something was counted since the last time that all was taken.
    some: AtomicU64,
    slots: [Slot; SLOTS],
    /// By cause, for pairs that found no slot.
    rest: [AtomicU64; LossCause::ALL.len()],
}

#[derive(Debug)]
struct Slot {
    /// `USED`, group and cause; 0 while unused.
    key: AtomicU64,
    count: AtomicU64,
}

const USED: u64 = 1 << 63;

impl Losses {
    /// No losses.
    pub(crate) const fn new() -> Self {
        Self {
            mirror: None,
            some: AtomicU64::new(0),
            slots: [const { Slot { key: AtomicU64::new(0), count: AtomicU64::new(0) } }; SLOTS],
            rest: [const { AtomicU64::new(0) }; LossCause::ALL.len()],
        }
    }

    /// No losses so far; what is counted is also counted in `mirror`.
    pub(crate) fn mirrored(mirror: Option<Arc<dyn Mirror>>) -> Self {
        Self { mirror, ..Self::new() }
    }

    /// Returns the counters that count everything once more, if there are any.
    pub(crate) fn mirror(&self) -> Option<&dyn Mirror> {
        self.mirror.as_deref()
    }

    /// Counts `count` messages of group `group` as lost for `cause`.
    #[cold]
    pub(crate) fn add(&self, group: u32, cause: LossCause, count: u64) {
        self.put_back(Counted { group, cause, count });
        if let Some(mirror) = &self.mirror {
            mirror.add(group, cause, count);
        }
    }

    /// Counts what was counted before, here or elsewhere.
    pub(crate) fn put_back(&self, lost: Counted) {
        let key = USED | (lost.group as u64) << 8 | lost.cause as u64;
        self.add_key(key, lost.cause, lost.count);
    }

    fn add_key(&self, key: u64, cause: LossCause, count: u64) {
        let counter = self.slots.iter().find(|slot| slot.holds(key)).map(|slot| &slot.count);
        counter.unwrap_or(&self.rest[cause as usize - 1]).fetch_add(count, Ordering::Relaxed);
        // After it, so that who finds nothing comes back.
        self.some.store(1, Ordering::Release);
    }

    /// Whether there may be something to take.
    #[inline]
    pub(crate) fn is_some(&self) -> bool {
        self.some.load(Ordering::Relaxed) != 0
    }

    /// What is counted and was not taken, by group and cause; it stays.
    pub(crate) fn standing(&self) -> Vec<Counted> {
        let mut all = Vec::new();
        for slot in &self.slots {
            let key = slot.key.load(Ordering::Acquire);
            let Some(&cause) = LossCause::ALL.iter().find(|&&cause| cause as u64 == key & 0xff)
            else {
                break;
            };
            let count = slot.count.load(Ordering::Relaxed);
            all.push(Counted { group: (key >> 8) as u32, cause, count });
        }
        for (cause, counter) in LossCause::ALL.into_iter().zip(&self.rest) {
            all.push(Counted { group: 0, cause, count: counter.load(Ordering::Relaxed) });
        }
        all.retain(|counted| counted.count > 0);
        all
    }

    /// Takes what was counted since the last time, as long as `give` says that it has room for more.
    pub(crate) fn take(&self, give: impl FnMut(Counted) -> bool) {
        // Before looking: what is counted from now on says so anew.
        self.some.swap(0, Ordering::AcqRel);
        if !self.try_take(give) {
            self.some.store(1, Ordering::Relaxed);
        }
    }

    /// The same; false where not all could be given.
    fn try_take(&self, mut give: impl FnMut(Counted) -> bool) -> bool {
        let mut offer = |group, cause, counter: &AtomicU64| {
            // Nothing to take is the rule: look before writing.
            if counter.load(Ordering::Relaxed) == 0 {
                return true;
            }
            // Taken before it is given: a writer and the session's thread may both be here.
            let count = counter.swap(0, Ordering::Relaxed);
            let given = count == 0 || give(Counted { group, cause, count });
            if !given {
                counter.fetch_add(count, Ordering::Relaxed);
            }
            given
        };
        for slot in &self.slots {
            let key = slot.key.load(Ordering::Acquire);
            let Some(&cause) = LossCause::ALL.iter().find(|&&cause| cause as u64 == key & 0xff)
            else {
                break;
            };
            if !offer((key >> 8) as u32, cause, &slot.count) {
                return false;
            }
        }
        for (cause, counter) in LossCause::ALL.into_iter().zip(&self.rest) {
            if !offer(0, cause, counter) {
                return false;
            }
        }
        true
    }
}

/// Messages of threads that had no sequence to count them on, by group, level and cause, since the program started.
#[derive(Debug)]
pub(crate) struct Strays(Losses);

/// What [`Strays`] said at some time.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    slots: [u64; SLOTS],
    rest: [u64; LossCause::ALL.len()],
}

/// Where a key of [`Strays`] has the level's severity.
const LEVEL_SHIFT: u32 = 40;

impl Strays {
    /// None so far.
    pub(crate) const fn new() -> Self {
        Self(Losses::new())
    }

    /// Counts a message.
    #[cold]
    pub(crate) fn add(&self, group: u32, level: Level, cause: LossCause) {
        let level = (level.severity() as u64) << LEVEL_SHIFT;
        self.0.add_key(USED | level | (group as u64) << 8 | cause as u64, cause, 1);
    }

    /// Counts a message of a group that is not known.
    pub(crate) fn add_unknown(&self, cause: LossCause) {
        self.0.rest[cause as usize - 1].fetch_add(1, Ordering::Relaxed);
    }

    /// What they are now.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            slots: self.0.slots.each_ref().map(|slot| slot.count.load(Ordering::Relaxed)),
            rest: self.0.rest.each_ref().map(|count| count.load(Ordering::Relaxed)),
        }
    }

    /// What came since `mark`, which is now from now on, and is of a group (its id) and level (its severity) that `wants`
    /// accepts; and what came of groups that are not known.
    pub(crate) fn since(&self, mark: &mut Mark, wants: impl Fn(u32, u8) -> bool) -> Vec<Counted> {
        let mut all = Vec::new();
        let new = |counter: &AtomicU64, before: &mut u64| {
            let now = counter.load(Ordering::Relaxed);
            now.wrapping_sub(std::mem::replace(before, now))
        };
        for (slot, before) in self.0.slots.iter().zip(&mut mark.slots) {
            let key = slot.key.load(Ordering::Acquire);
            let (group, severity) = ((key >> 8) as u32, (key >> LEVEL_SHIFT) as u8);
            let count = new(&slot.count, before);
            let cause = LossCause::ALL.into_iter().find(|&cause| cause as u64 == key & 0xff);
            let Some(cause) = cause.filter(|_| wants(group, severity)) else { continue };
            all.push(Counted { group, cause, count });
        }
        for ((counter, before), cause) in self.0.rest.iter().zip(&mut mark.rest).zip(LossCause::ALL)
        {
            all.push(Counted { group: 0, cause, count: new(counter, before) });
        }
        all.retain(|counted| counted.count > 0);
        all
    }
}

impl Slot {
    /// Whether the slot is, or now becomes, that of `key`.
    fn holds(&self, key: u64) -> bool {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Debug, Default)]
    struct Seen(Mutex<Vec<(u32, LossCause, u64)>>);

    impl Mirror for Seen {
        fn add(&self, group: u32, cause: LossCause, count: u64) {
            self.0.lock().unwrap().push((group, cause, count));
        }
    }

    #[test]
    fn a_mirror_sees_each_loss_once() {
        let seen = Arc::<Seen>::default();
        let losses = Losses::mirrored(Some(Arc::clone(&seen) as Arc<dyn Mirror>));
        losses.add(7, LossCause::BufferFull, 2);
        for (group, cause, count) in taken(&losses) {
            losses.put_back(Counted { group, cause, count });
        }
        assert_eq!(taken(&losses), [(7, LossCause::BufferFull, 2)]);
        assert_eq!(*seen.0.lock().unwrap(), [(7, LossCause::BufferFull, 2)]);
    }

    fn taken(losses: &Losses) -> Vec<(u32, LossCause, u64)> {
        let mut all = Vec::new();
        losses.take(|counted| {
            all.push((counted.group, counted.cause, counted.count));
            true
        });
        all
    }

    #[test]
    fn what_is_added_is_taken_once() {
        let losses = Losses::new();
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
    fn without_a_slot_the_cause_is_still_counted() {
        let losses = Losses::new();
        for group in 1..=SLOTS as u32 + 5 {
            losses.add(group, LossCause::BufferFull, 2);
        }
        let all = taken(&losses);
        assert_eq!(all.iter().map(|loss| loss.2).sum::<u64>(), 2 * (SLOTS as u64 + 5));
        assert_eq!(all.last(), Some(&(0, LossCause::BufferFull, 10)));
    }

    #[test]
    fn strays_are_told_to_all_that_want_them() {
        let strays = Strays::new();
        strays.add(7, Level::Debug, LossCause::ThreadExit);
        let (all, mark) = (strays.mark(), strays.mark());
        strays.add(7, Level::Debug, LossCause::ThreadExit);
        strays.add(7, Level::Wtf, LossCause::ThreadExit);
        strays.add(8, Level::Wtf, LossCause::Reentrant);
        let told = |counted: &Counted| (counted.group, counted.cause, counted.count);
        let since = |mark, wants: fn(u32, u8) -> bool| {
            let mut moving = Mark::clone(mark);
            let told = strays.since(&mut moving, wants).iter().map(told).collect::<Vec<_>>();
            assert_eq!(strays.since(&mut moving, wants), [], "told once");
            told
        };
        let (dead, nested) = (LossCause::ThreadExit, LossCause::Reentrant);
        assert_eq!(since(&all, |_, _| true), [(7, dead, 1), (7, dead, 1), (8, nested, 1)]);
        assert_eq!(
            since(&mark, |_, level| level == Level::Wtf.severity()),
            [(7, dead, 1), (8, nested, 1)]
        );
        assert_eq!(since(&mark, |group, _| group == 9), []);
        assert_eq!(since(&strays.mark(), |_, _| true), []);
    }

    #[test]
    fn what_has_no_room_stays() {
        let losses = Losses::new();
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
