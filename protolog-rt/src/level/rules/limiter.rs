//! Limits of messages by time: token buckets, of which threads take a few tokens at once.
//!
//! ```text
//! bucket   the time at which it is full again; one exchange takes tokens      shared by threads
//! lease    tokens that a thread has taken, or the time until which there are none     a thread's own
//! ```
//!
//! A bucket is one word: the time at which it would be full again. It never has more than a burst,
//! and gets a token each interval. A thread that has used up its tokens within a moment takes twice
//! as many the next time, so threads that log a lot share the word rarely; one that logs now and
//! then takes one at a time. A thread that finds no token does not look again before there is one.
//! So a message that is let pass or suppressed touches nothing that other threads write, but for
//! one in a lease.
//!
//! Invariants
//! - *bound*: a bucket gives out at most a burst, and one token more for each interval. Tokens are
//!   used within [`LEASE_NANOS`] of their lease or given back. So the messages of any span of time
//!   are at most a burst, and one for each interval in the span and [`LEASE_NANOS`] more.
//! - *both or none*: a message that one of its buckets refuses takes no token of the other.
//! - *one limit*: interval and burst are in one word. A thread that takes tokens while another
//!   limit is set does so by the old one or the new one. What it took by the old one does not count
//!   for the new one, which begins full.
//! - Nothing here takes a lock or allocates, except for [`Buckets::get_or_add`]. A signal handler
//!   that interrupts its thread here takes its token from the bucket itself.

use crate::clock;
use crate::sync::{AtomicU64, Ordering};
use crate::sys::once::ForkOnce;
use core::sync::atomic::AtomicU32;
use protolog_core::control::limit::{Limit, MAX};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The time for which a thread may keep tokens.
const LEASE_NANOS: u64 = 10_000_000;

/// The most tokens that a thread takes at once, if that is no large part of a burst.
const MAX_LEASE: u32 = 64;

/// The most by which clocks of threads differ. A time that is further ahead than a bucket can be is
/// that of a clock which has gone back, as in a process that was restored on another machine.
const MAX_SKEW: u64 = 1_000_000_000;

/// A burst has at least so many leases.
const LEASES_OF_BURST: u32 = 8;

/// Bits of a burst in the word of a limit.
const BURST_BITS: u32 = 20;

const _: () = assert!(MAX < 1 << BURST_BITS && 3_600_000_000_000 < 1_u64 << (64 - BURST_BITS));

/// Leases of a thread; buckets share them.
const LEASES: usize = 16;

/// Buckets of messages that come at run time.
pub(super) const SLOTS: usize = 1024;

/// The most buckets; calls beyond that have no limit.
const MAX_BUCKETS: u32 = 1 << 20;

/// Buckets from 1, in rows of 1, 2, 4, … Each row is made when it is needed first.
static ROWS: [ForkOnce<Box<[Bucket]>>; 21] = [const { ForkOnce::new() }; 21];

/// Buckets of messages that come at run time ([`super::run_time`]), with numbers behind those of
/// calls.
static RUN_TIME: [Bucket; SLOTS] = [const { Bucket::new() }; SLOTS];

/// A bucket, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Bucket {
    /// The time at which it is full.
    full_at: AtomicU64,
    /// Nanoseconds for a token, 0 for no limit, and the burst, in the lowest bits.
    limit: AtomicU64,
    /// Changes with the limit.
    version: AtomicU32,
}

/// The numbers of buckets, by what they are for.
#[derive(Debug)]
pub(super) struct Buckets {
    numbers: BTreeMap<BucketKey, u32>,
    last: u32,
}

/// The messages that share a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BucketKey {
    /// Those of the call with this key.
    Call(u64),
    /// Those of a group that a rule takes: its selector, and the group.
    Group(Box<str>, Box<str>),
}

/// A span of time in which messages of a call find no token, unless another thread gives one back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its beginning, in nanoseconds of BOOTTIME: before that, the clock has gone back.
    from: u64,
    nanos: u64,
}

/// The tokens of a thread.
struct Leases {
    is_in_use: Cell<bool>,
    clock: RefCell<clock::Reader>,
    all: [Lease; LEASES],
}

/// Tokens of a bucket that a thread has taken.
#[derive(Debug)]
struct Lease {
    bucket: Cell<u32>,
    version: Cell<u32>,
    left: Cell<u32>,
    /// The number that was taken last.
    size: Cell<u32>,
    /// The time when it was taken.
    taken: Cell<u64>,
    /// The bucket has no token before.
    none_until: Cell<u64>,
}

thread_local! {
    static THREAD_LEASES: Leases = const {
        Leases {
            is_in_use: Cell::new(false),
            clock: RefCell::new(clock::Reader::NONE),
            all: [const { Lease::NONE }; LEASES],
        }
    };
}

/// Takes a token for a message from each of the buckets with these numbers, where 0 is none.
///
/// # Errors
/// The time now, in nanoseconds of BOOTTIME, if one has no token, and how long that is so.
pub(super) fn take(buckets: [u32; 2]) -> Result<(), (u64, Refused)> {
    if buckets == [0; 2] {
        return Ok(());
    }
    let is_in_use = THREAD_LEASES.with(|leases| leases.is_in_use.replace(true));
    if is_in_use {
        let now = clock::boottime();
        let take = |_, bucket: &Bucket| bucket.take(1, now).is_ok();
        let has = from_both(buckets, take, |_, bucket| bucket.give_back(1));
        return has.then_some(()).ok_or((now, Refused::NEVER));
    }
    THREAD_LEASES.with(|leases| {
        let now = leases.clock.borrow_mut().now_unordered();
        let refused = Cell::new(Refused::NEVER);
        let take = |number, bucket: &Bucket| {
            let lease = leases.lease(number);
            let has = lease.take(number, bucket, now);
            if !has {
                refused.set(Refused::until(lease.none_until.get(), bucket));
            }
            has
        };
        let has = from_both(buckets, take, |number, bucket| leases.put_back(number, bucket));
        leases.is_in_use.set(false);
        has.then_some(()).ok_or((now, refused.get()))
    })
}

/// Takes a token from each bucket, or from none: that of the first one is put back if the second
/// one refuses.
#[inline]
fn from_both(
    [first, second]: [u32; 2],
    take: impl Fn(u32, &'static Bucket) -> bool,
    put_back: impl Fn(u32, &'static Bucket),
) -> bool {
    let takes = |number: u32| bucket(number).is_none_or(|bucket| take(number, bucket));
    if !takes(first) {
        return false;
    }
    let has_both = takes(second);
    if let Some(bucket) = bucket(first).filter(|_| !has_both) {
        put_back(first, bucket);
    }
    has_both
}

#[inline]
fn bucket(number: u32) -> Option<&'static Bucket> {
    if let Some(index) = number.checked_sub(MAX_BUCKETS) {
        return RUN_TIME.get(index as usize);
    }
    let row = number.checked_ilog2()?;
    ROWS.get(row as usize)?.get()?.get((number - (1 << row)) as usize)
}

/// Returns a bucket of messages that come at run time, and its number.
pub(super) fn run_time_bucket(index: usize) -> (u32, &'static Bucket) {
    (MAX_BUCKETS + index as u32, &RUN_TIME[index])
}

impl Refused {
    /// No time at all.
    pub(crate) const NEVER: Self = Self { from: 0, nanos: 0 };

    /// The time before `end`, when the bucket has a token again.
    fn until(end: u64, bucket: &Bucket) -> Self {
        let nanos = (bucket.limit().0 + MAX_SKEW).min(end);
        Self { from: end - nanos, nanos }
    }

    /// Returns whether this time, in nanoseconds of BOOTTIME, is within it.
    #[inline]
    pub(crate) fn holds_at(self, now: u64) -> bool {
        now.wrapping_sub(self.from) < self.nanos
    }
}

impl Buckets {
    /// No buckets.
    pub(super) const fn new() -> Self {
        Self { numbers: BTreeMap::new(), last: 0 }
    }

    /// Returns the number of a bucket with this limit; 0 if there are too many. One that had
    /// another limit begins full.
    pub(super) fn get_or_add(&mut self, key: BucketKey, limit: Limit) -> u32 {
        let last = &mut self.last;
        let number = *self.numbers.entry(key).or_insert_with(|| {
            *last = (*last + 1).min(MAX_BUCKETS);
            *last % MAX_BUCKETS
        });
        if let Some(row) = number.checked_ilog2() {
            let make = || (0..1_usize << row).map(|_| Bucket::new()).collect();
            ROWS.get(row as usize).map(|place| place.get_or_make(make));
        }
        if let Some(bucket) = bucket(number) {
            bucket.set(limit);
        }
        number
    }
}

impl Bucket {
    /// A bucket without a limit.
    const fn new() -> Self {
        Self { full_at: AtomicU64::new(0), limit: AtomicU64::new(0), version: AtomicU32::new(0) }
    }

    /// Sets the limit, if it is another one.
    pub(super) fn set(&self, limit: Limit) {
        self.set_parts(limit.interval(), limit.burst());
    }

    /// Ends the limit.
    pub(super) fn clear(&self) {
        self.set_parts(0, 0);
    }

    /// Sets the limit, where its own is less strict.
    pub(super) fn tighten(&self, limit: Limit) {
        let (interval, burst) = self.limit();
        let burst = if burst == 0 { limit.burst() } else { burst.min(limit.burst()) };
        self.set_parts(interval.max(limit.interval()), burst);
    }

    /// Returns the nanoseconds for a token, and the burst.
    fn limit(&self) -> (u64, u32) {
        let limit = self.limit.load(Ordering::Relaxed);
        (limit >> BURST_BITS, (limit & ((1 << BURST_BITS) - 1)) as u32)
    }

    fn set_parts(&self, interval: u64, burst: u32) {
        if self.limit() != (interval, burst) {
            self.limit.store(interval << BURST_BITS | u64::from(burst), Ordering::Relaxed);
            self.full_at.store(0, Ordering::Release);
            self.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Takes as many of `most` tokens as there are; or returns the time of the next one.
    fn take(&self, most: u32, now: u64) -> Result<u32, u64> {
        let limit = self.limit();
        let burst = limit.0.saturating_mul(u64::from(limit.1));
        let interval = limit.0;
        let mut before = self.full_at.load(Ordering::Relaxed);
        loop {
            let is_ahead = before > now.saturating_add(burst).saturating_add(MAX_SKEW);
            let full_at = if is_ahead { now } else { before.max(now) };
            let free = (now + burst).saturating_sub(full_at).checked_div(interval);
            let tokens = free.map_or(most, |free| free.min(most.into()) as u32);
            if tokens == 0 {
                return Err((full_at + interval).saturating_sub(burst));
            }
            let after = full_at + interval * u64::from(tokens);
            // Acquired: whoever finds the 0 of a new limit finds the limit, too.
            let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
            match self.full_at.compare_exchange_weak(before, after, success, failure) {
                Ok(_) => {
                    self.forget_if_not(limit);
                    return Ok(tokens);
                }
                Err(changed) => before = changed,
            }
        }
    }

    /// Makes the bucket full if its limit is not the one that the caller took tokens by.
    fn forget_if_not(&self, limit: (u64, u32)) {
        if self.limit() != limit {
            self.full_at.store(0, Ordering::Relaxed);
        }
    }

    /// Takes tokens back that nobody used.
    fn give_back(&self, tokens: u32) {
        let time = self.limit().0 * u64::from(tokens);
        // Another limit may have made it full meanwhile.
        let earlier = |full_at: u64| Some(full_at.saturating_sub(time));
        let _ = self.full_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }

    /// Returns the most tokens of a lease.
    fn max_lease(&self) -> u32 {
        (self.limit().1 / LEASES_OF_BURST).clamp(1, MAX_LEASE)
    }
}

impl Leases {
    /// Returns the lease for this bucket, after giving back the tokens of another bucket that had
    /// it.
    fn lease(&self, number: u32) -> &Lease {
        let lease = &self.all[number as usize % LEASES];
        if lease.bucket.get() != number {
            lease.give_back(bucket(lease.bucket.get()));
            lease.begin(number, 0);
        }
        lease
    }

    /// Puts back a token that was just taken from the bucket with this number.
    fn put_back(&self, number: u32, bucket: &Bucket) {
        let lease = &self.all[number as usize % LEASES];
        if lease.bucket.get() == number {
            lease.left.set(lease.left.get() + 1);
        } else {
            // The other bucket has its place.
            bucket.give_back(1);
        }
    }
}

impl Lease {
    #[expect(clippy::declare_interior_mutable_const, reason = "each use is a lease of its own")]
    const NONE: Self = Self {
        bucket: Cell::new(0),
        version: Cell::new(0),
        left: Cell::new(0),
        size: Cell::new(0),
        taken: Cell::new(0),
        none_until: Cell::new(0),
    };

    fn begin(&self, bucket: u32, version: u32) {
        self.bucket.set(bucket);
        self.version.set(version);
        self.left.set(0);
        self.size.set(0);
        self.none_until.set(0);
    }

    /// Takes a token; false if there is none.
    fn take(&self, number: u32, bucket: &Bucket, now: u64) -> bool {
        let version = bucket.version.load(Ordering::Acquire);
        if self.version.get() != version {
            self.begin(number, version);
        }
        let age = now.saturating_sub(self.taken.get());
        if self.left.get() > 0 && age > LEASE_NANOS {
            self.give_back(Some(bucket));
        }
        if let Some(left) = self.left.get().checked_sub(1) {
            self.left.set(left);
            return true;
        }
        if Refused::until(self.none_until.get(), bucket).holds_at(now) {
            return false;
        }
        let was_fast = self.size.get() > 0 && age < LEASE_NANOS;
        let most = if was_fast { (2 * self.size.get()).min(bucket.max_lease()) } else { 1 };
        match bucket.take(most, now) {
            Ok(tokens) => {
                self.left.set(tokens - 1);
                self.size.set(tokens);
                self.taken.set(now);
                true
            }
            Err(next) => {
                self.none_until.set(next);
                false
            }
        }
    }

    fn give_back(&self, bucket: Option<&Bucket>) {
        let left = self.left.replace(0);
        let same = bucket.filter(|it| it.version.load(Ordering::Acquire) == self.version.get());
        if let Some(bucket) = same.filter(|_| left > 0) {
            bucket.give_back(left);
        }
    }
}

#[cfg(test)]
mod tests;
