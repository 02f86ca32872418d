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
//! What asks it is out of line: a chunk of a session without a limit costs two tests.
//!
//! An operator may set another limit at any time. Whoever reads it meanwhile may take numbers of
//! two limits for one: each is a limit, and the next chunk has the new one.
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
pub(crate) struct ByteBucket {
    /// The numbers of the limit; 0 for none.
    limit: [AtomicU64; 3],
    /// The time at which it is full, in nanoseconds of BOOTTIME.
    full_at: AtomicU64,
}

/// A span of time in which there are no bytes, unless a thread gives some back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::writer) struct NoBytes {
    limit: Option<ByteLimit>,
    from: u64,
    until: u64,
}

impl NoBytes {
    /// No time at all.
    pub(in crate::writer) const NEVER: Self = Self { limit: None, from: 0, until: 0 };

    /// Returns whether this time, in nanoseconds of BOOTTIME, is within it, by the same limit.
    pub(in crate::writer) fn holds_at(self, limit: ByteLimit, now: u64) -> bool {
        self.limit == Some(limit) && (self.from..self.until).contains(&now)
    }
}

impl ByteBucket {
    /// A full bucket.
    pub(super) fn new(limit: Option<ByteLimit>) -> Self {
        let words = limit.map_or([0; 3], ByteLimit::to_words);
        Self { limit: words.map(AtomicU64::new), full_at: AtomicU64::new(0) }
    }

    /// Returns the limit, if there is one.
    pub(crate) fn limit(&self) -> Option<ByteLimit> {
        let [count, unit, burst] = &self.limit;
        match count.load(Ordering::Relaxed) {
            0 => None,
            count => ByteLimit::from_words([
                count,
                unit.load(Ordering::Relaxed),
                burst.load(Ordering::Relaxed),
            ]),
        }
    }

    /// Sets the limit, if it is to have one, of a bucket that is full then. The one that it has
    /// changes nothing.
    pub(crate) fn set_limit(&self, limit: Option<ByteLimit>) {
        if self.limit() == limit {
            return;
        }
        let [count, unit, burst] = limit.map_or([0; 3], ByteLimit::to_words);
        for (word, value) in self.limit.iter().zip([0, unit, burst]) {
            word.store(value, Ordering::Relaxed);
        }
        self.full_at.store(0, Ordering::Relaxed);
        self.limit[0].store(count, Ordering::Relaxed);
    }

    /// Returns the time at which it is full by its word, or now.
    fn full_at(limit: ByteLimit, word: u64, now: u64) -> u64 {
        let full_at = word.max(now);
        let most = limit.nanos(limit.burst().saturating_add(MAX_DEBT));
        if full_at - now > most { now } else { full_at }
    }

    /// Says whether there are so many bytes by its limit, or a burst; takes none.
    ///
    /// # Errors
    /// The time in which there are not.
    #[cold]
    #[inline(never)]
    pub(in crate::writer) fn check(
        &self,
        limit: ByteLimit,
        bytes: u64,
        now: u64,
    ) -> Result<(), NoBytes> {
        let capacity = limit.nanos(limit.burst());
        let needed = limit.nanos(bytes.min(limit.burst()));
        let word = self.full_at.load(Ordering::Relaxed);
        let ends = Self::full_at(limit, word, now).saturating_add(needed);
        let until = ends.saturating_sub(capacity);
        let no_bytes = NoBytes { limit: Some(limit), from: now, until };
        if until <= now { Ok(()) } else { Err(no_bytes) }
    }

    /// Takes bytes, whether or not there are as many.
    #[cold]
    #[inline(never)]
    pub(in crate::writer) fn take(&self, bytes: u64, now: u64) {
        let Some(limit) = self.limit() else { return };
        let nanos = limit.nanos(bytes);
        let mut before = self.full_at.load(Ordering::Relaxed);
        loop {
            let after = Self::full_at(limit, before, now).saturating_add(nanos);
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
        let Some(limit) = self.limit() else { return };
        let nanos = limit.nanos(bytes);
        let earlier = |full_at: u64| Some(full_at.saturating_sub(nanos));
        let _ = self.full_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn bucket(limit: &str) -> ByteBucket {
        ByteBucket::new(Some(ByteLimit::parse(limit).expect("a limit")))
    }

    fn check(bucket: &ByteBucket, bytes: u64, now: u64) -> Result<(), NoBytes> {
        bucket.check(bucket.limit().expect("a limit"), bytes, now)
    }

    /// Takes chunks of 4 KiB at each time, as long as there are bytes; returns the bytes.
    fn taken(bucket: &ByteBucket, times: impl Iterator<Item = u64>) -> u64 {
        times
            .filter(|now| check(bucket, 4096, *now).is_ok())
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
        assert_eq!(check(&bucket, 1 << 20, SECOND), Ok(()), "more than a burst, of a full bucket");
        bucket.take(10 << 10, SECOND);
        let refused = check(&bucket, 1024, SECOND).expect_err("6 KiB of debt");
        assert_eq!(refused, NoBytes { limit: bucket.limit(), from: SECOND, until: 8 * SECOND });
        let limit = bucket.limit().expect("a limit");
        let holds = |now| refused.holds_at(limit, now);
        assert!(holds(SECOND) && !holds(8 * SECOND) && !holds(0));
        let other = ByteLimit::parse("2KiB/s").expect("a limit");
        assert!(!refused.holds_at(other, SECOND), "a limit that is new is asked");
        assert_eq!(check(&bucket, 1024, 8 * SECOND), Ok(()));
        bucket.give_back(6 << 10);
        assert_eq!(check(&bucket, 1024, 2 * SECOND), Ok(()));
        assert!(check(&bucket, 2048, 2 * SECOND).is_err());
    }

    /// The longest time that a burst may stand for.
    #[test]
    fn a_large_burst_at_the_lowest_rate_is_a_limit() {
        let bucket = bucket("1B/h:876000B");
        let found = taken(&bucket, (0..1_000).map(|step| 77 * SECOND + step));
        assert!((876_000 - 4096..=876_000).contains(&found), "{found}");
        bucket.take(1 << 30, 78 * SECOND);
        assert!(check(&bucket, 1, u64::MAX >> 8).is_err());
    }

    #[test]
    fn a_clock_that_goes_back_finds_a_full_bucket() {
        let bucket = bucket("1MiB/s");
        bucket.take(1 << 20, 1_000_000 * SECOND);
        assert!(check(&bucket, 4096, 1_000_000 * SECOND).is_err());
        assert_eq!(check(&bucket, 4096, SECOND), Ok(()));
        bucket.take(1 << 20, SECOND);
        assert_eq!(check(&bucket, 4096, SECOND).map_err(|it| it.until > 0), Err(true));
    }

    /// Whoever sets the same limit again and again does not fill the bucket.
    #[test]
    fn a_new_limit_begins_with_a_full_bucket() {
        let bucket = bucket("1KiB/s:4KiB");
        bucket.take(64 << 10, SECOND);
        bucket.set_limit(ByteLimit::parse("1KiB/s:4KiB"));
        assert!(check(&bucket, 1, SECOND).is_err());
        bucket.set_limit(ByteLimit::parse("1KiB/s:8KiB"));
        assert_eq!(taken(&bucket, (0..9).map(|_| SECOND)), 8 << 10);
        bucket.set_limit(None);
        bucket.take(64 << 10, SECOND);
        bucket.give_back(64 << 10);
        assert_eq!(bucket.limit(), None);
    }
}
