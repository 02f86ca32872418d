//! The effect of rules on one call, and what it decides for a message.
//!
//! A message is asked for twice at most: before its arguments are evaluated, by chance and limits,
//! or after it, by the value of one of them, by their size, or since they are those of the message
//! before, and limits ([`RuledCall::sample_by_arguments`]). Where rules have conditions on
//! arguments, these are first ([`RuledCall::for_arguments`]).
//!
//! Invariant: a call that is decided by its arguments has no limits before its arguments are there.

use super::conditions;
use super::limiter::{self, Refused};
use super::sampler::{self, NotKept, Sampling};
use super::site_state::SiteState;
use protolog_core::Arg;
use protolog_core::control::rate::Rate;
use protolog_core::randomness::{randomness, threshold};
use protolog_core::volume::Volume;

/// The effect of rules on a call: recorded or not, its limits, its sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuledCall {
    /// Of a call whose messages are switched by their arguments, what they may be.
    pub(crate) state: SiteState,
    /// The numbers of buckets; 0 for none.
    pub(super) limits: [u32; 2],
    pub(super) sampling: Option<Sampling>,
    /// The number of the rules with conditions on arguments ([`conditions`]); 0 for none.
    pub(super) conditions: u16,
}

/// The limits of a call that is not sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLimits([u32; 2]);

impl CallLimits {
    /// No limits.
    pub(crate) const NONE: Self = Self([0; 2]);

    /// Returns whether they let a message pass that is about to be logged; another one is to be
    /// asked for once more.
    #[inline]
    pub(crate) fn let_pass(self) -> bool {
        self.0 == [0; 2] || limiter::take(self.0).is_ok()
    }
}

impl RuledCall {
    #[inline]
    pub(super) fn new(state: SiteState, limits: [u32; 2], sampling: Option<Sampling>) -> Self {
        // A call that is sampled is not merged: each message stands for as many as its rate says.
        let is_by_arguments = match sampling {
            Some(sampling) => sampling.rate.needs_arguments(),
            None => state.merges_repeats(),
        };
        let state = if is_by_arguments { state.by_arguments() } else { state };
        Self { state, limits, sampling, conditions: 0 }
    }

    /// The same of a call whose rules with conditions have this number, unless it is 0.
    #[inline]
    #[must_use]
    pub(super) fn with_conditions(self, conditions: u16) -> Self {
        if conditions == 0 {
            return self;
        }
        Self { state: self.state.by_arguments().conditional(), conditions, ..self }
    }

    /// Returns whether rules have conditions on its arguments.
    #[inline]
    pub(crate) fn is_conditional(self) -> bool {
        self.conditions != 0
    }

    /// Returns what rules make of the message with these arguments, which `visit` calls a function
    /// with.
    #[cold]
    #[must_use]
    pub(crate) fn for_arguments(self, visit: Visit<'_>) -> Self {
        // There is always one.
        let state = conditions::state(self.conditions, visit).unwrap_or_default();
        Self { state: state.by_arguments(), conditions: 0, ..self }
    }

    /// Returns whether a message that says the same as the one before is only counted.
    pub(crate) fn merges_repeats(self) -> bool {
        self.state.merges_repeats() && !self.is_sampled()
    }

    /// Returns the limits that are asked before the arguments are evaluated. Those of a call that
    /// is decided by its arguments are asked after.
    #[inline]
    pub(crate) fn limits(self) -> CallLimits {
        if self.state.is_by_arguments() { CallLimits::NONE } else { CallLimits(self.limits) }
    }

    /// Takes a message into account that is about to be logged, so that the rest is for others.
    ///
    /// # Errors
    /// The time now, in nanoseconds of BOOTTIME, if it is one too many, and how long that is so.
    pub(crate) fn pass_limits(self) -> Result<(), (u64, Refused)> {
        limiter::take(self.limits)
    }

    /// Decides whether a message is kept of those that are sampled, with the rate if they are.
    ///
    /// # Errors
    /// It is passed over.
    pub(crate) fn sample(self) -> Result<Option<Rate>, NotKept> {
        sampler::keep(self.sampling)
    }

    /// As [`Self::sample`], by a gap that is the call's own: none before one was drawn. Where none
    /// can be drawn, the message is kept without a rate.
    pub(crate) fn sample_by(self, gap: &mut Option<u64>) -> Result<Option<Rate>, NotKept> {
        sampler::keep_by(self.sampling, gap)
    }

    /// Returns whether messages are sampled.
    #[inline]
    pub(crate) fn is_sampled(self) -> bool {
        self.sampling.is_some()
    }

    /// Returns whether messages are sampled by chance, each for itself.
    #[inline]
    pub(crate) fn is_by_chance(self) -> bool {
        self.is_sampled() && !self.state.is_by_arguments()
    }

    /// As [`Self::sample`], where its rate needs that by the value of an argument or by the size of
    /// all, which `visit` calls a function with. A message without that argument is kept for sure.
    ///
    /// # Errors
    /// It is passed over.
    pub(crate) fn sample_by_arguments(self, visit: Visit<'_>) -> Result<Option<Rate>, NotKept> {
        let Some(Sampling { rate, .. }) = self.sampling else { return Ok(None) };
        if let Some(interval) = rate.interval() {
            let mut volume = Volume::new();
            visit(&mut |arg| volume.add(arg));
            return sampler::keep_bytes(self.sampling, interval, volume.bytes());
        }
        if !rate.needs_arguments() {
            return self.sample();
        }
        let Some(randomness) = rate.by().and_then(|number| randomness_of(visit, number)) else {
            return Ok(None);
        };
        if randomness < threshold(rate) {
            return Err(NotKept);
        }
        Ok(Some(rate).filter(|rate| !rate.keeps_all()))
    }
}

/// Calls a function with each argument of a message.
pub(crate) type Visit<'a> = &'a dyn Fn(&mut dyn FnMut(Arg<'_>));

/// Returns the randomness of the argument with this number, from 1.
#[cold]
fn randomness_of(visit: Visit<'_>, number: u8) -> Option<u64> {
    let (mut left, mut found) = (number, None);
    visit(&mut |arg| {
        if left == 1 {
            found = Some(randomness(arg));
        }
        left = left.saturating_sub(1);
    });
    found
}
