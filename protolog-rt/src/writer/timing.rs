//! The times of a writer's messages.
//!
//! A message of one session gets the time at which its writer reads the clock. Where there may be
//! several sessions, the clock is read once for all of them ([`SharedMoment`]): their traces have
//! the message at one time, by which readers know it as one. This holds for a chunk that begins
//! with the message, too.
//!
//! Invariant: a shared moment is later than all that its writer has written
//! ([`super::routes`] sees to that), so it is the time that the message has in each trace.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::fast::MAX_DELTA;
use super::own::{Moment, Own, SharedMoment};
use super::plan::Base;

impl Own {
    /// The time now, where the clock need not be asked out of line.
    #[inline(always)]
    pub(super) fn look_at_clock(&self) -> Option<Moment> {
        self.clock.now_in_piece().map(Moment)
    }

    /// Nanoseconds from the message before until `now`, where they are few; then there is another
    /// message, of that moment.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: Moment) -> Option<u32> {
        let Moment(now) = now;
        let delta = now.wrapping_sub(self.last);
        // Where the clock went back, that is a large number.
        if delta >= MAX_DELTA {
            return None;
        }
        self.last = now;
        Some(delta as u32)
    }

    /// The state that a message of this moment starts from, or one of now.
    #[inline(always)]
    pub(super) fn before(&mut self, shared: SharedMoment) -> Base {
        let delta = self.now(shared).saturating_sub(self.last);
        Base { delta, iid: self.next_iid, max_string_bytes: self.max_string_bytes }
    }

    /// The shared moment, or now.
    #[inline(always)]
    pub(super) fn now(&mut self, shared: SharedMoment) -> u64 {
        match shared {
            Some(moment) => moment.get(),
            None => self.clock.now(),
        }
    }
}
