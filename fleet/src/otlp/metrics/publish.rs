//! Publishing: the sum of all traces goes to the file of counts for the next run, to the file in
//! OpenMetrics' text and to the collector.
//!
//! Invariant: what is published is saved before, unless the disk is full.

use std::io::Write as _;
use std::time::{Duration, Instant};

use protolog_files::{Location, StagedFile};

use super::counts::Counts;
use super::points::{Point, points};
use super::push::Push;
use super::saved::{Saved, SavedTrace};
use super::{Metrics, Trace, now, text};
use crate::failure::{Failure, Result};
use crate::otlp::delivery::Totals;

/// The time between two files.
const INTERVAL: Duration = Duration::from_secs(1);

/// The mode of the file, which others collect: it has templates, and no arguments.
const MODE: u32 = 0o644;

impl Metrics {
    /// Publishes what is due.
    pub(in crate::otlp) fn publish_if_due(&mut self) -> Result<()> {
        let is_pushed = self.push.as_ref().is_some_and(Push::is_due);
        let is_written = self.file.is_some()
            && !self.is_written
            && self.written.is_none_or(|written| written.elapsed() >= INTERVAL);
        if !is_pushed && !is_written {
            return Ok(());
        }
        let sum = self.sum()?;
        if is_written {
            self.write(&sum)?;
        }
        if is_pushed {
            let points = self.points(&sum);
            if let Some(push) = &mut self.push {
                push.send(points);
            }
        }
        Ok(())
    }

    /// Publishes the last counts. Returns what was sent.
    pub(in crate::otlp) fn finish(mut self) -> Result<Totals> {
        self.be_patient(false);
        let sum = self.sum()?;
        self.write(&sum)?;
        let points = self.points(&sum);
        self.push.map_or(Ok(Totals::default()), |push| push.finish(points))
    }

    /// Returns whether nothing can be sent any more.
    pub(in crate::otlp) fn is_gone(&self) -> bool {
        self.push.as_ref().is_some_and(Push::has_ended)
    }

    /// Returns the sum of all traces, which is saved before it is published.
    pub(super) fn sum(&mut self) -> Result<Counts> {
        let mut sum = self.settled.clone();
        for trace in self.traces.values_mut() {
            trace.published.raise(&trace.now);
            sum.add(&trace.published);
        }
        sum.keep_sums(&self.total);
        if sum != self.total {
            self.is_saved = false;
            self.total.clone_from(&sum);
        }
        if let Some(path) = self.saved.as_ref().filter(|_| !self.is_saved) {
            let saved = self.to_save().write(path);
            self.is_saved = self.upkeep[0].take(saved)?;
        }
        Ok(sum)
    }

    fn to_save(&self) -> Saved {
        let now = now() / 1_000_000_000;
        let saved = |trace: &Trace| SavedTrace {
            counts: trace.published.clone(),
            last: trace.last,
            seen: if trace.is_there { now } else { trace.seen },
        };
        let traces = self.traces.iter().map(|(source, trace)| (source.to_string(), saved(trace)));
        Saved {
            start: self.start,
            rows: self.counters.rows().to_vec(),
            histograms: self.histograms.rows().to_vec(),
            settled: self.settled.clone(),
            total: self.total.clone(),
            traces: traces.collect(),
        }
    }

    fn points(&self, sum: &Counts) -> Vec<Point> {
        points(&self.counters, &self.histograms, sum, (self.start, now()))
    }

    /// Writes the file if something changed.
    fn write(&mut self, sum: &Counts) -> Result<()> {
        let Some(path) = self.file.as_ref().filter(|_| !self.is_written) else { return Ok(()) };
        let text = text::text(&self.counters, &self.histograms, sum);
        let written = (|| {
            let place = Location::of_new(path)?;
            let (staged, mut file) = StagedFile::new(&place, ".protolog-", MODE)?;
            file.write_all(text.as_bytes())?;
            staged.commit(&place)
        })();
        let written = written.map_err(|error| Failure::cant_write(path, &error));
        self.written = Some(Instant::now());
        self.is_written = self.upkeep[1].take(written)?;
        Ok(())
    }
}
