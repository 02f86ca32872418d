//! The limit of a session's bytes: a token bucket, from which writers take a chunk's bytes at a
//! time.
//!
//! A message takes nothing: its thread has taken the bytes of its chunk. So one that passes touches
//! no memory that other threads write, and one that does not only where the time until which there
//! are none is over. What a chunk has left when it is complete is given back.
//!
//! The bucket is one word, the time at which it is full again, as of the limits of calls
//! ([`crate::level::rules`]). It may be in debt: a chunk that was taken, and a message of several,
//! count whether or not there were as many bytes.
//!
//! What asks it is out of line: a chunk of a session without a limit costs one test.
//!
//! Invariant: *bound*: bytes are given out at the rate of the limit, but for a burst, one chunk for
//! each thread, and one message for each that takes several chunks; those are paid off before
//! others come.

use crate::sync::{AtomicU64, Ordering};
use protolog_core::control::byte_limit::ByteLimit;

/// The most bytes of a debt that counts: a time that is further ahead is that of a clock which has
/// gone back, as in a process that was restored on another machine.
const MAX_DEBT: u64 = 1 << 30;

/// See the module.
#[derive(Debug)]
pub(in crate::writer) struct ByteBucket {
    limit: ByteLimit,
    /// The time at which it is full, in nanoseconds of BOOTTIME.
    full_at: AtomicU64,
}

/// A span of time in which there are no bytes, unless a thread gives some back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::writer) struct NoBytes {
    from: u64,
    until: u64,
}

impl NoBytes {
    /// No time at all.
    pub(in crate::writer) const NEVER: Self = Self { from: 0, until: 0 };

    /// Returns whether this time, in nanoseconds of BOOTTIME, is within it.
    pub(in crate::writer) fn holds_at(self, now: u64) -> bool {
        (self.from..self.until).contains(&now)
    }
}

impl ByteBucket {
    /// A full bucket.
    pub(super) fn new(limit: ByteLimit) -> Self {
        Self { limit, full_at: AtomicU64::new(0) }
    }

    /// Returns the time at which it is full by its word, or now.
    fn full_at(&self, word: u64, now: u64) -> u64 {
        let full_at = word.max(now);
        let most = self.limit.nanos(self.limit.burst().saturating_add(MAX_DEBT));
        if full_at - now > most { now } else { full_at }
    }

    /// Says whether there are so many bytes, or a burst; takes none.
    ///
    /// # Errors
    /// The time in which there are not.
    #[cold]
    #[inline(never)]
    pub(in crate::writer) fn check(&self, bytes: u64, now: u64) -> Result<(), NoBytes> {
        let capacity = self.limit.nanos(self.limit.burst());
        let needed = self.limit.nanos(bytes.min(self.limit.burst()));
        let word = self.full_at.load(Ordering::Relaxed);
        let ends = self.full_at(word, now).saturating_add(needed);
        let until = ends.saturating_sub(capacity);
        if until <= now { Ok(()) } else { Err(NoBytes { from: now, until }) }
    }

    /// Takes bytes, whether or not there are as many.
    #[cold]
    #[inline(never)]
    pub(in crate::writer) fn take(&self, bytes: u64, now: u64) {
        let nanos = self.limit.nanos(bytes);
        let mut before = self.full_at.load(Ordering::Relaxed);
        loop {
            let after = self.full_at(before, now).saturating_add(nanos);
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.full_at.compare_exchange_weak(before, after, success, failure) {
                Ok(_) => return,
                Err(changed) => before = changed,
            }
        }
    }

    /// Takes bytes back that nobody used.
    #[cold]
    #[inline(never)]
    pub(in crate::writer) fn give_back(&self, bytes: u64) {
        let nanos = self.limit.nanos(bytes);
        let earlier = |full_at: u64| Some(full_at.saturating_sub(nanos));
        let _ = self.full_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn bucket(limit: &str) -> ByteBucket {
        ByteBucket::new(ByteLimit::parse(limit).expect("a limit"))
    }

    /// Takes chunks of 4 KiB at each time, as long as there are bytes; returns the bytes.
    fn taken(bucket: &ByteBucket, times: impl Iterator<Item = u64>) -> u64 {
        times
            .filter(|now| bucket.check(4096, *now).is_ok())
            .map(|now| bucket.take(4096, now))
            .count() as u64
            * 4096
    }

    #[test]
    fn bytes_come_at_the_rate_after_a_burst() {
        let bucket = bucket("1MiB/s burst 3MiB");
        let start = 77 * SECOND;
        assert_eq!(taken(&bucket, (0..2_000).map(|_| start)), 3 << 20);
        let second = (0..10_000).map(|step| start + SECOND + step);
        assert_eq!(taken(&bucket, second), 1 << 20);
        let ten = (0..100_000).map(|step| start + 2 * SECOND + step * 100_000);
        let found = taken(&bucket, ten);
        assert!((11 << 20) - found <= 3 * 4096 && found <= 11 << 20, "{found}");
    }

    #[test]
    fn a_debt_is_paid_off_first_and_what_is_given_back_is_there() {
        let bucket = bucket("1KiB/s:4KiB");
        assert_eq!(bucket.check(1 << 20, SECOND), Ok(()), "more than a burst, of a full bucket");
        bucket.take(10 << 10, SECOND);
        let refused = bucket.check(1024, SECOND).expect_err("6 KiB of debt");
        assert_eq!(refused, NoBytes { from: SECOND, until: 8 * SECOND });
        assert!(refused.holds_at(SECOND) && !refused.holds_at(8 * SECOND) && !refused.holds_at(0));
        assert_eq!(bucket.check(1024, 8 * SECOND), Ok(()));
        bucket.give_back(6 << 10);
        assert_eq!(bucket.check(1024, 2 * SECOND), Ok(()));
        assert!(bucket.check(2048, 2 * SECOND).is_err());
    }

    /// The longest time that a burst may stand for.
    #[test]
    fn a_large_burst_at_the_lowest_rate_is_a_limit() {
        let bucket = bucket("1B/h:876000B");
        let found = taken(&bucket, (0..1_000).map(|step| 77 * SECOND + step));
        assert!((876_000 - 4096..=876_000).contains(&found), "{found}");
        bucket.take(1 << 30, 78 * SECOND);
        assert!(bucket.check(1, u64::MAX >> 8).is_err());
    }

    #[test]
    fn a_clock_that_goes_back_finds_a_full_bucket() {
        let bucket = bucket("1MiB/s");
        bucket.take(1 << 20, 1_000_000 * SECOND);
        assert!(bucket.check(4096, 1_000_000 * SECOND).is_err());
        assert_eq!(bucket.check(4096, SECOND), Ok(()));
        bucket.take(1 << 20, SECOND);
        assert_eq!(bucket.check(4096, SECOND).map_err(|it| it.until > 0), Err(true));
    }
}
