//! Records on their way: gathered to batches, which the sender takes one by one.
//!
//! Invariant: the place in a trace goes with or behind the records before it.

use std::mem;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::{HashMap, HashMapExt};

use super::batch::Batch;
use super::delivery::Totals;
use super::metrics::Metrics;
use super::records::Records;
use super::sender::SenderThread;
use super::state::{Mark, Sent};
use crate::failure::{Failure, Result};

/// Marks of traces without records that are handed over at once.
const MOST_MARKS: usize = 1_000;

/// See the module.
pub(super) struct Output {
    batch: Batch,
    thread: SenderThread,
    /// The sender does not take anything any more.
    is_gone: bool,
    /// The place up to which each trace was handed over.
    sent: HashMap<Arc<str>, Sent>,
    /// The part that is being handed over, and its items so far.
    part: Option<Mark>,
    pub(super) metrics: Option<Metrics>,
    /// The nanoseconds since 1970 when the records of the batch were read.
    pub(super) observed: u64,
}

/// Why reading a trace stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// Nothing can be sent any more.
    Sender,
    /// The trace can't be read.
    Trace(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Trace(failure)
    }
}

impl Records for Output {
    fn push(&mut self, resource: &Arc<[u8]>, scope: &Arc<str>, record: &[u8]) {
        self.batch.push(resource, scope, record);
        if let Some(part) = &mut self.part {
            part.sent.items += 1;
        }
        if self.batch.is_full() {
            self.flush();
        }
    }

    fn metrics(&mut self) -> Option<&mut Metrics> {
        self.metrics.as_mut()
    }
}

impl Output {
    /// With the traces that were sent before.
    pub(super) fn new<'a>(
        thread: SenderThread,
        sent: impl Iterator<Item = (&'a String, &'a Sent)>,
        metrics: Option<Metrics>,
    ) -> Self {
        let mut all = HashMap::new();
        all.extend(sent.map(|(source, sent)| (Arc::from(source.as_str()), *sent)));
        let mut output = Self {
            batch: Batch::default(),
            thread,
            is_gone: false,
            sent: all,
            part: None,
            metrics,
            observed: 0,
        };
        output.look_at_clock();
        output
    }

    /// Returns the place up to which a trace was handed over.
    pub(super) fn sent(&self, source: &str) -> Sent {
        self.sent.get(source).copied().unwrap_or_default()
    }

    /// Begins with a part of a trace, of which `sent` says what was handed over before.
    pub(super) fn begin_part(&mut self, source: &Arc<str>, sent: Sent) {
        self.part = Some(Mark { source: source.clone(), sent });
    }

    /// A trace is read from its beginning, and counted from there.
    pub(super) fn count_again(&mut self, source: &Arc<str>) {
        if let Some(metrics) = &mut self.metrics {
            metrics.read_again(source);
        }
    }

    /// A recording is read, of which only what is later than the time that this returns is counted.
    pub(super) fn count_on(&mut self, source: &Arc<str>) -> Option<i64> {
        self.metrics.as_mut().and_then(|metrics| metrics.read_on(source))
    }

    /// A trace is gone, and what was counted of it stays.
    pub(super) fn settle(&mut self, source: &str) {
        if let Some(metrics) = &mut self.metrics {
            metrics.settle(source);
        }
    }

    /// Ends a part of which nothing, or nothing more, is handed over.
    pub(super) fn end_part(&mut self) {
        self.part = None;
    }

    /// Notes that all records of a trace before a place were handed over.
    pub(super) fn mark(&mut self, source: &Arc<str>, sent: Sent) -> std::result::Result<(), Stop> {
        self.part = None;
        self.sent.insert(source.clone(), sent);
        self.batch.marks.push(Mark { source: source.clone(), sent });
        if self.batch.marks.len() >= MOST_MARKS {
            self.flush();
        }
        if self.is_gone() { Err(Stop::Sender) } else { Ok(()) }
    }

    /// Notes that a trace is still there, so that it is not forgotten.
    pub(super) fn renew(&mut self, source: &Arc<str>) -> std::result::Result<(), Stop> {
        match self.sent.get(source).copied() {
            Some(sent) => self.mark(source, sent),
            None => Ok(()),
        }
    }

    /// Hands over what there is.
    pub(super) fn flush(&mut self) {
        self.is_gone |= self.thread.has_ended();
        self.batch.marks.extend(self.part.clone());
        if !self.batch.is_empty() {
            self.is_gone |= self.thread.send(mem::take(&mut self.batch)).is_err();
        }
        self.look_at_clock();
    }

    /// Returns whether nothing can be sent any more.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone || self.metrics.as_ref().is_some_and(Metrics::is_gone)
    }

    /// Waits until everything is sent: the records, and the data points of metrics.
    pub(super) fn finish(mut self) -> Result<[Totals; 2]> {
        self.flush();
        let logs = self.thread.finish();
        let metrics = self.metrics.map_or(Ok(Totals::default()), Metrics::finish);
        Ok([logs?, metrics?])
    }

    fn look_at_clock(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.observed = now.as_nanos() as u64;
    }
}
