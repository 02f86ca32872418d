//! Sampling: messages that are kept by chance, each with the probability of its rate.
//!
//! A thread draws how many messages it passes over before the next that it keeps, from the
//! geometric distribution, and counts down. The distribution has no memory: what is drawn anew at
//! any time, because the rate has changed, another rule needs the place, or the process was forked,
//! leaves each message its probability. So nothing is shared, and a kept message stands for as many
//! as its own rate says, whatever rates there were before.
//!
//! ```text
//! gap      messages that are passed over before the next one is kept; by thread and rule, or by
//!          thread and call ([`keep_by`]); where bytes are sampled, bytes
//! kept     rates of kept messages whose arguments are evaluated just now; by thread
//! ```
//!
//! Where each byte is sampled, a message is kept if one of its bytes is: two that are half as long
//! have one kept as often as the whole. Such a message stands for as many as its size says
//! ([`rate_of_size`]); one that would be kept with more than 99 % is kept for sure, and stands for
//! itself.
//!
//! Arguments that panic leave their rate in `kept`. A later message of the call that asks notes its
//! own above it. One that does not ask, because the rules are others by now and say nothing of its
//! group, finds a rate of an older generation, and has none of its own.
//!
//! Invariants
//! - *chance*: each message is kept with the probability of the rate that it is asked with,
//!   whatever happened to others, or it is kept for sure and has no rate. The latter is for a
//!   signal handler that interrupts its thread here.
//! - Nothing here takes a lock or allocates.

use crate::clock;
use crate::sync::Ordering;
use crate::sys::process::asked_id;
use core::sync::atomic::{AtomicU32, AtomicU64};
use protolog_core::control::rate::Rate;
use std::cell::Cell;

/// Gaps of a thread; rules share them.
const GAPS: usize = 32;

/// Kept messages of a thread whose arguments may be evaluated at a time: one within another.
const KEPT: usize = 8;

/// Changes with each fork, so that the child draws for itself.
static PROCESS: AtomicU32 = AtomicU32::new(1);

/// Differs between threads that begin at one time.
static SEEDS: AtomicU64 = AtomicU64::new(0);

/// The rate at which rules sample a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampling {
    pub(super) rate: Rate,
    /// Calls of one rule have one gap.
    pub(super) rule: u16,
}

/// A message that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotKept;

struct ThreadSampler {
    is_in_use: Cell<bool>,
    process: Cell<u32>,
    random: Cell<u64>,
    gaps: [DrawnGap; GAPS],
    kept: [Cell<KeptRate>; KEPT],
    /// The number of kept messages, of which the last are in `kept`.
    kept_count: Cell<usize>,
}

/// A message that was kept and is not written yet.
#[derive(Clone, Copy)]
struct KeptRate {
    /// Of its call; 0 for none.
    key: u64,
    rate: Option<Rate>,
    /// That of the rules by which it was kept ([`super::generation`]).
    generation: u32,
}

/// A gap that was drawn for a rule.
struct DrawnGap {
    /// The word of the rate, and the rule; 0 before one was drawn.
    rate: Cell<u64>,
    rule: Cell<u16>,
    left: Cell<u64>,
}

thread_local! {
    static SAMPLER: ThreadSampler = const { ThreadSampler::new() };
}

/// Decides about a message.
///
/// # Errors
/// It is passed over.
pub(super) fn keep(sampling: Option<Sampling>) -> Result<Option<Rate>, NotKept> {
    decide(sampling, ThreadSampler::keeps)
}

/// As [`keep`], by a gap that somebody else has: none before one was drawn.
///
/// # Errors
/// The message is passed over.
pub(super) fn keep_by(
    sampling: Option<Sampling>,
    gap: &mut Option<u64>,
) -> Result<Option<Rate>, NotKept> {
    decide(sampling, |sampler, Sampling { rate, .. }| {
        sampler.follow_process();
        let left = gap.unwrap_or_else(|| sampler.draw(rate)).checked_sub(1);
        *gap = Some(left.unwrap_or_else(|| sampler.draw(rate)));
        left.is_none()
    })
}

fn decide(
    sampling: Option<Sampling>,
    keeps: impl FnOnce(&ThreadSampler, Sampling) -> bool,
) -> Result<Option<Rate>, NotKept> {
    let Some(sampling) = sampling else { return Ok(None) };
    SAMPLER.with(|sampler| {
        let keeps = sampler.guarded(|sampler| keeps(sampler, sampling));
        match keeps {
            Some(true) => Ok(Some(sampling.rate).filter(|rate| !rate.keeps_all())),
            Some(false) => Err(NotKept),
            None => Ok(None),
        }
    })
}

/// Decides about a message of so many bytes ([`Volume`](protolog_core::volume::Volume)), each of
/// which is sampled; the rate is that of its size.
///
/// # Errors
/// It is passed over.
pub(super) fn keep_bytes(
    sampling: Option<Sampling>,
    interval: u32,
    bytes: u64,
) -> Result<Option<Rate>, NotKept> {
    if is_sure(interval, bytes) {
        return Ok(None);
    }
    let kept = decide(sampling, |sampler, sampling| sampler.keeps_bytes(sampling, bytes))?;
    Ok(kept.and_then(|_| rate_of_size(interval, bytes)))
}

/// Returns whether a message of so many bytes is kept for sure: it would be with more than 99 %.
fn is_sure(interval: u32, bytes: u64) -> bool {
    bytes.saturating_mul(10) >= u64::from(interval) * 46
}

/// Returns the rate at which messages of so many bytes are kept if one byte of `interval` is; none
/// if all are, since more than 99 % would be. The fraction differs from the chance by less than one
/// part in two million.
fn rate_of_size(interval: u32, bytes: u64) -> Option<Rate> {
    // Where its numbers take three bytes each, if the chance is not less than that.
    const MOST: f64 = (1 << 21) as f64 - 1.0;
    if is_sure(interval, bytes) {
        return None;
    }
    let chance = -(bytes as f64 * (-1.0 / f64::from(interval)).ln_1p()).exp_m1();
    let kept = (MOST * chance).floor().max(1.0);
    Rate::new(kept as u32, (kept / chance).round() as u32)
}

/// Returns whether rates of messages are noted that are not written yet.
#[inline]
pub(crate) fn has_kept() -> bool {
    SAMPLER.with(|sampler| sampler.kept_count.get() > 0)
}

/// Notes the rate of a message of the call with this key that was kept, until it is written;
/// `generation` was read before its rules were.
pub(crate) fn note_kept(key: u64, rate: Option<Rate>, generation: u32) {
    SAMPLER.with(|sampler| {
        // One without a rate may be within the arguments of one that has one.
        if rate.is_some() || has_kept() {
            sampler.guarded(|sampler| sampler.note(KeptRate { key, rate, generation }));
        }
    });
}

/// Takes the rate of the message of the call with this key that was kept last; `has_rules` says
/// whether calls of its group ask the rules now. Otherwise a rate of another generation is that of
/// a message which was never written. (It may be the message's own where the rules have changed
/// while its arguments were evaluated: then it stands for one message, not for several.)
pub(crate) fn take_kept(key: u64, has_rules: impl FnOnce() -> bool) -> Option<Rate> {
    SAMPLER.with(|sampler| {
        let is_any = sampler.kept_count.get() > 0;
        let taken = is_any.then(|| sampler.guarded(|sampler| sampler.take(key)))???;
        taken.rate.filter(|_| taken.generation == super::generation() || has_rules())
    })
}

/// In a forked child, which shares no gap with its parent.
pub(super) fn begin_child() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of messages that are passed over before one is kept, by a number that is
/// uniformly distributed.
fn gap(rate: Rate, random: u64) -> u64 {
    if rate.keeps_all() {
        return 0;
    }
    // From 2^-53 to 1.
    let uniform = ((random >> 11) + 1) as f64 * (-53_f64).exp2();
    // The chance that it is n or more is (1 - p)^n.
    (uniform.ln() / (-rate.probability()).ln_1p()) as u64
}

/// The next number of a sequence, and its state (Steele, Lea and Flood 2014: SplitMix64).
fn next_random(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31, state)
}

impl ThreadSampler {
    const fn new() -> Self {
        Self {
            is_in_use: Cell::new(false),
            process: Cell::new(0),
            random: Cell::new(0),
            gaps: [const { DrawnGap { rate: Cell::new(0), rule: Cell::new(0), left: Cell::new(0) } };
                GAPS],
            kept: [const { Cell::new(KeptRate::NONE) }; KEPT],
            kept_count: Cell::new(0),
        }
    }

    /// Calls `f`, unless this thread is in it already.
    fn guarded<R>(&self, f: impl FnOnce(&Self) -> R) -> Option<R> {
        if self.is_in_use.replace(true) {
            return None;
        }
        let result = f(self);
        self.is_in_use.set(false);
        Some(result)
    }

    /// Begins anew in a forked child.
    fn follow_process(&self) {
        let process = PROCESS.load(Ordering::Relaxed);
        if self.process.get() != process {
            self.begin(process);
        }
    }

    /// Returns whether a message is kept.
    fn keeps(&self, sampling: Sampling) -> bool {
        self.keeps_bytes(sampling, 1)
    }

    /// Returns whether a message of so many bytes is kept, or of one message.
    fn keeps_bytes(&self, sampling: Sampling, bytes: u64) -> bool {
        self.follow_process();
        let Sampling { rate, rule } = sampling;
        let gap = &self.gaps[usize::from(rule) % GAPS];
        if (gap.rate.get(), gap.rule.get()) != (rate.to_word(), rule) {
            gap.rate.set(rate.to_word());
            gap.rule.set(rule);
            gap.left.set(self.draw(rate));
        }
        if let Some(left) = gap.left.get().checked_sub(bytes) {
            gap.left.set(left);
            return false;
        }
        // Of its other bytes nothing need be known, since the distribution has no memory.
        gap.left.set(self.draw(rate));
        true
    }

    /// Begins in a process, with numbers of the thread's own.
    #[cold]
    fn begin(&self, process: u32) {
        let seed = SEEDS.fetch_add(1, Ordering::Relaxed) ^ u64::from(asked_id()) << 32;
        self.random.set(next_random(seed).0 ^ clock::boottime());
        self.gaps.iter().for_each(|gap| gap.rate.set(0));
        self.process.set(process);
    }

    fn draw(&self, rate: Rate) -> u64 {
        let (random, state) = next_random(self.random.get());
        self.random.set(state);
        gap(rate, random)
    }

    fn note(&self, kept: KeptRate) {
        let count = self.kept_count.get();
        self.kept[count % KEPT].set(kept);
        self.kept_count.set(count + 1);
    }

    fn take(&self, key: u64) -> Option<KeptRate> {
        let count = self.kept_count.get();
        let mut recent = (count.saturating_sub(KEPT)..count).rev();
        let at = recent.find(|at| self.kept[at % KEPT].get().key == key)?;
        // Those behind it were never written, since their arguments panicked.
        self.kept_count.set(at);
        Some(self.kept[at % KEPT].replace(KeptRate::NONE))
    }
}

impl KeptRate {
    const NONE: Self = Self { key: 0, rate: None, generation: 0 };
}

#[cfg(all(test, not(loom)))]
mod tests;
