//! The entries that are wanted of a trace that is read page by page: of a stretch of time, of some
//! threads.
//!
//! All others are left out as soon as time and thread are known, before their values are looked at.
//! So errors in their values are not found either.
//!
//! Invariant: it only leaves out entries that are certainly unwanted; a caller that wants fewer
//! filters the rest by itself.

use crate::sequences::thread::{Thread, Threads};

/// See the module. By default, all entries are wanted.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    is_made: bool,
    /// Nanoseconds of the trace's clock: the first that is wanted, and the first after it that
    /// isn't.
    since: Option<i64>,
    until: Option<i64>,
    /// The threads whose entries are left out, by index; further ones are wanted.
    left_out: Vec<bool>,
}

impl Choice {
    /// The entries from `since` on, before `until`, of those threads that `admits` does not refuse.
    pub(crate) fn new(
        since: Option<i64>,
        until: Option<i64>,
        threads: &Threads,
        admits: impl Fn(&Thread) -> bool,
    ) -> Self {
        let left_out: Vec<bool> = threads.all().iter().map(|thread| !admits(thread)).collect();
        let is_made = since.is_some() || until.is_some() || left_out.contains(&true);
        Self { is_made, since, until, left_out }
    }

    /// Returns whether something is left out.
    pub(crate) fn is_made(&self) -> bool {
        self.is_made
    }

    /// Returns whether an entry of this time and thread is wanted.
    #[inline]
    pub(crate) fn admits(&self, time: i64, thread: u32) -> bool {
        !self.is_made
            || self.since.is_none_or(|since| time >= since)
                && self.until.is_none_or(|until| time < until)
                && !self.left_out.get(thread as usize).is_some_and(|left_out| *left_out)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn times_and_threads_choose() {
        let mut threads = Arc::new(Threads::default());
        let of = |tid| Thread { pid: Some(1), tid: Some(tid), ..Thread::default() };
        let [one, two] = [5, 6].map(|tid| Threads::index(&mut threads, of(tid), 0));
        let choice = Choice::new(Some(-3), Some(7), &threads, |thread| thread.tid != Some(5));
        let admitted = [(-4, two), (-3, two), (6, two), (7, two), (0, one), (0, 0), (0, 77)];
        let admitted = admitted.map(|(time, thread)| choice.admits(time, thread));
        assert_eq!(admitted, [false, true, true, false, false, true, true]);
        let all = Choice::new(None, None, &threads, |_| true);
        assert!(!all.is_made() && all.admits(i64::MIN, one) && all.admits(i64::MAX, 0));
        let ends = Choice::new(Some(i64::MIN), None, &threads, |_| true);
        assert!(ends.is_made() && ends.admits(i64::MIN, 0) && ends.admits(i64::MAX, 0));
    }
}
