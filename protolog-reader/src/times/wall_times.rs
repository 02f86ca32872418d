//! The wall clock at the times of a log, which mostly is as far ahead of the trace's clock as it
//! was at the time before.
//!
//! Invariant: the result is that of [`Log::wall_time`].

use crate::clocks::relations::Stretch;
use crate::log::Log;

/// The last times of one log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WallTimes {
    stretch: Option<Stretch>,
}

impl WallTimes {
    /// The wall clock at a time of the log, which is the same one at each call.
    #[inline]
    pub(crate) fn convert(&mut self, log: &Log, time: i64) -> Option<i64> {
        let known = self.stretch.filter(|stretch| stretch.has(time));
        Some(time.wrapping_add(known.or_else(|| self.find(log, time))?.ahead))
    }

    /// The times around `time` at which the wall clock is as far ahead as then.
    pub(crate) fn stretch(&mut self, log: &Log, time: i64) -> Option<Stretch> {
        self.stretch.filter(|stretch| stretch.has(time)).or_else(|| self.find(log, time))
    }

    #[cold]
    fn find(&mut self, log: &Log, time: i64) -> Option<Stretch> {
        self.stretch = log.wall_stretch(time);
        self.stretch
    }
}
