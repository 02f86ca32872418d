//! Segments of a trace, with the findings of a survey about their entries.
//!
//! Invariant: an entry is no earlier than the span of its segment says, and no later.

use crate::clocks::{Moment, TRACE_CLOCK};

/// Some packets that follow each other in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) index: u32,
    /// Offset in the file.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) len: usize,
    /// The size of its bundles, inflated, in bytes.
    pub(crate) inflated: u64,
    pub(crate) entries: u64,
    /// The times of the first and the last entry, in nanoseconds of `clock`.
    pub(crate) span: Option<(i64, i64)>,
    /// The clock of all entries; [`TRACE_CLOCK`] if the trace's own is meant.
    pub(crate) clock: u32,
    /// Entries are of several clocks.
    pub(crate) has_several_clocks: bool,
    /// Nothing before an entry has a time: a later time decides where it stands.
    pub(crate) has_unknown_times: bool,
    /// When segments are in the order in which they are read: the place of the first one that has
    /// state of the sequences of these entries.
    pub(crate) begins_in: u32,
}

impl Segment {
    /// Adds an entry.
    #[inline]
    pub(crate) fn add(&mut self, moment: Moment) {
        let (first, last) = self.span.unwrap_or((moment.ns, moment.ns));
        self.span = Some((first.min(moment.ns), last.max(moment.ns)));
        if moment.clock != self.clock && moment.clock != TRACE_CLOCK {
            self.has_several_clocks |= self.clock != TRACE_CLOCK;
            self.clock = moment.clock;
        }
        self.has_unknown_times |= moment == Moment::UNKNOWN;
        self.entries += 1;
    }

    /// Adds entries between these times, of the clock that the last one had.
    pub(crate) fn add_run(&mut self, (from, to): (i64, i64), entries: u64) {
        let (first, last) = self.span.unwrap_or((from, to));
        self.span = Some((first.min(from), last.max(to)));
        self.entries += entries;
    }

    /// Returns whether its entries are all later than `moment`, by more than the time that they
    /// take.
    pub(crate) fn is_long_after(&self, moment: Option<Moment>) -> bool {
        let times = self.span.zip(moment);
        times.is_some_and(|((first, last), moment)| {
            first.saturating_sub(moment.ns) > last.saturating_sub(first)
        })
    }
}
