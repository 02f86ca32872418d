//! Metrics of logs: how often each template was logged, what was lost, and histograms of chosen
//! arguments, as a file in OpenMetrics' text.
//!
//! ```text
//! protolog_messages_total{group="app::Net",level="INFO",template="sent %d bytes"} 1500
//! protolog_lost_messages_total{group="app::Net",reason="buffer_full"} 12
//! ```
//!
//! Invariants: totals are those of the traces, whatever was sent before this run, since each trace
//! is read from its beginning; there are at most [`MOST_ROWS`] rows, and what is in none of them is
//! counted in the row `other`; the file is replaced whole.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashMapExt};
use protolog_core::Arg;
use protolog_files::{Location, StagedFile};

use crate::failure::{Failure, Result};

/// The most rows of all metrics together.
const MOST_ROWS: usize = 2_000;

/// The time between two files.
const INTERVAL: Duration = Duration::from_secs(1);

/// The most traces that are gone and may come back, as one that is compressed does.
const MOST_GONE: usize = 256;

/// The mode of the file, which others collect: it has templates, and no arguments.
const MODE: u32 = 0o644;

/// The upper bounds of buckets: 1, 2.5 and 5 of each power of ten.
const BOUNDS: [f64; 28] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0,
    100.0, 250.0, 500.0, 1e3, 2.5e3, 5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6,
];

/// An argument of which there is a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) argument: usize,
    pub(super) template: String,
}

/// What a row counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Row {
    Messages {
        group: String,
        level: &'static str,
        template: String,
    },
    /// Messages of which it is known how many are lost.
    Lost {
        group: String,
        reason: &'static str,
    },
    /// Places where an unknown number is lost.
    Unknown {
        reason: &'static str,
    },
}

/// The number of a row.
pub(super) type RowNumber = usize;

/// See the module.
#[derive(Debug)]
pub(super) struct Metrics {
    path: PathBuf,
    chosen: Vec<Chosen>,
    rows: Vec<Row>,
    numbers: HashMap<Row, RowNumber>,
    /// What is in traces that are gone for good.
    settled: Counts,
    /// Those that are gone, the last one at the end.
    gone: VecDeque<(Arc<str>, Counts)>,
    traces: HashMap<Arc<str>, Counts>,
    is_changed: bool,
    written: Option<Instant>,
}

/// The counts of a trace.
#[derive(Clone, Debug, Default)]
struct Counts {
    /// By number; the last three are those of `other`.
    rows: Vec<u64>,
    other: [u64; 3],
    histograms: Vec<Histogram>,
}

/// Values of an argument.
#[derive(Clone, Debug)]
struct Histogram {
    buckets: [u64; BOUNDS.len() + 1],
    sum: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [0; BOUNDS.len() + 1], sum: 0.0 }
    }
}

/// The row of what has no row of its own: which kind of them.
const OTHER: [RowNumber; 3] = [usize::MAX, usize::MAX - 1, usize::MAX - 2];

impl Metrics {
    pub(super) fn new(path: PathBuf, chosen: Vec<Chosen>) -> Self {
        Self {
            path,
            chosen,
            rows: Vec::new(),
            numbers: HashMap::new(),
            settled: Counts::default(),
            gone: VecDeque::new(),
            traces: HashMap::new(),
            is_changed: true,
            written: None,
        }
    }

    /// The number of a row; that of `other` if there are too many.
    pub(super) fn number(&mut self, row: Row) -> RowNumber {
        if let Some(number) = self.numbers.get(&row) {
            return *number;
        }
        if self.rows.len() >= MOST_ROWS {
            return OTHER[kind(&row)];
        }
        self.rows.push(row.clone());
        self.numbers.insert(row, self.rows.len() - 1);
        self.rows.len() - 1
    }

    /// The histograms of a template: each with the argument of which it is.
    pub(super) fn histograms_of(&self, template: &str) -> Vec<(usize, usize)> {
        let all = self.chosen.iter().enumerate();
        let of = all.filter(|(_, chosen)| chosen.template == template);
        of.map(|(at, chosen)| (at, chosen.argument)).collect()
    }

    /// Adds to a row.
    pub(super) fn add(&mut self, source: &Arc<str>, row: RowNumber, count: u64) {
        self.is_changed = true;
        let counts = self.counts(source);
        if let Some(kind) = OTHER.iter().position(|other| *other == row) {
            add(&mut counts.other[kind], count);
            return;
        }
        if counts.rows.len() <= row {
            counts.rows.resize(row + 1, 0);
        }
        add(&mut counts.rows[row], count);
    }

    /// Adds the value of an argument to a histogram. What is no number is in none.
    pub(super) fn observe(&mut self, source: &Arc<str>, histogram: usize, value: Arg<'_>) {
        let value = match value {
            Arg::Int(value) => value as f64,
            Arg::Uint(value) => value as f64,
            Arg::Float(value) if !value.is_nan() => value,
            Arg::Float(_) | Arg::Str(_) | Arg::Bool(_) => return,
        };
        let counts = self.counts(source);
        if counts.histograms.len() <= histogram {
            counts.histograms.resize(histogram + 1, Histogram::default());
        }
        let of = &mut counts.histograms[histogram];
        of.buckets[BOUNDS.partition_point(|bound| *bound < value)] += 1;
        of.sum += value;
    }

    /// Forgets what was counted of a trace, which is read again.
    pub(super) fn forget(&mut self, source: &str) {
        self.traces.remove(source);
        self.gone.retain(|(gone, _)| **gone != *source);
    }

    /// A trace is gone.
    pub(super) fn settle(&mut self, source: &str) {
        self.gone.extend(self.traces.remove_entry(source));
        if self.gone.len() > MOST_GONE {
            let first = self.gone.pop_front();
            if let Some((_, counts)) = &first {
                self.settled.add(counts);
            }
        }
    }

    fn counts(&mut self, source: &Arc<str>) -> &mut Counts {
        if !self.traces.contains_key(source) {
            self.traces.insert(source.clone(), Counts::default());
        }
        self.traces.get_mut(source).expect("it was just put there")
    }

    /// Writes the file if something changed, and it was not written for a while.
    pub(super) fn write_if_due(&mut self) -> Result<()> {
        if self.written.is_some_and(|written| written.elapsed() < INTERVAL) {
            return Ok(());
        }
        self.write()
    }

    /// Writes the file if something changed.
    pub(super) fn write(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        self.written = Some(Instant::now());
        let text = self.text();
        let written = (|| {
            let place = Location::of_new(&self.path)?;
            let (staged, mut file) = StagedFile::new(&place, ".protolog-", MODE)?;
            file.write_all(text.as_bytes())?;
            staged.commit(&place)
        })();
        written.map_err(|error| Failure::cant_write(&self.path, &error))
    }

    fn text(&self) -> String {
        let mut sum = self.settled.clone();
        self.gone.iter().for_each(|(_, counts)| sum.add(counts));
        self.traces.values().for_each(|counts| sum.add(counts));
        let mut text = String::new();
        self.put(&mut text, &sum).expect("a string takes every write");
        text
    }

    fn put(&self, out: &mut String, sum: &Counts) -> fmt::Result {
        let mut rows: Vec<(&Row, u64)> = self
            .rows
            .iter()
            .zip(sum.rows.iter().copied())
            .filter(|(_, count)| *count > 0)
            .collect();
        rows.sort();
        for (at, (name, help)) in NAMES.into_iter().enumerate() {
            writeln!(out, "# TYPE {name} counter\n# HELP {name} {help}")?;
            for (row, count) in rows.iter().filter(|(row, _)| kind(row) == at) {
                writeln!(out, "{name}_total{{{}}} {count}", Labels(row))?;
            }
            if sum.other[at] > 0 {
                writeln!(out, "{name}_total{{other=\"true\"}} {}", sum.other[at])?;
            }
        }
        let name = "protolog_argument";
        writeln!(out, "# TYPE {name} histogram\n# HELP {name} Values of chosen arguments.")?;
        for (chosen, histogram) in self.chosen.iter().zip(&sum.histograms) {
            let Chosen { argument, template } = chosen;
            let labels = format!("argument=\"{argument}\",template=\"{}\"", Escaped(template));
            let mut count = 0;
            let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (bucket, bound) in histogram.buckets.iter().zip(bounds) {
                count += bucket;
                writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
            }
            writeln!(out, "{name}_count{{{labels}}} {count}")?;
            writeln!(out, "{name}_sum{{{labels}}} {}", histogram.sum)?;
        }
        out.write_str("# EOF\n")
    }
}

/// Names of the counters.
const NAMES: [(&str, &str); 3] = [
    ("protolog_messages", "Messages by template."),
    ("protolog_lost_messages", "Messages that are missing."),
    ("protolog_losses_without_count", "Places where an unknown number is missing."),
];

fn kind(row: &Row) -> usize {
    match row {
        Row::Messages { .. } => 0,
        Row::Lost { .. } => 1,
        Row::Unknown { .. } => 2,
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        let most = self.rows.len().max(other.rows.len());
        self.rows.resize(most, 0);
        self.rows.iter_mut().zip(&other.rows).for_each(|(sum, count)| add(sum, *count));
        self.other.iter_mut().zip(other.other).for_each(|(sum, count)| add(sum, count));
        let most = self.histograms.len().max(other.histograms.len());
        self.histograms.resize(most, Histogram::default());
        for (sum, of) in self.histograms.iter_mut().zip(&other.histograms) {
            sum.buckets.iter_mut().zip(of.buckets).for_each(|(sum, count)| *sum += count);
            sum.sum += of.sum;
        }
    }
}

/// Adds to a count, which a trace may say to be any number.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

/// The labels of a row.
struct Labels<'a>(&'a Row);

impl fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Row::Messages { group, level, template } => {
                let (group, template) = (Escaped(group), Escaped(template));
                write!(f, "group=\"{group}\",level=\"{level}\",template=\"{template}\"")
            }
            Row::Lost { group, reason } => {
                write!(f, "group=\"{}\",reason=\"{reason}\"", Escaped(group))
            }
            Row::Unknown { reason } => write!(f, "reason=\"{reason}\""),
        }
    }
}

/// A text as the value of a label.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_that_is_compressed_is_counted_once() {
        let mut metrics = Metrics::new(PathBuf::new(), Vec::new());
        let row = metrics.number(Row::Unknown { reason: "dropped" });
        let sources: Vec<Arc<str>> = (0..2 * MOST_GONE).map(|n| n.to_string().into()).collect();
        for source in &sources {
            metrics.add(source, row, 1);
            metrics.settle(source);
        }
        let last = sources.last().unwrap();
        metrics.forget(last);
        metrics.add(last, row, 1);
        let (text, count) = (metrics.text(), sources.len());
        assert!(text.contains(&format!("{{reason=\"dropped\"}} {count}\n")), "{text}");
    }

    #[test]
    fn a_count_that_a_trace_makes_up_is_no_overflow() {
        let mut metrics = Metrics::new(PathBuf::new(), Vec::new());
        let row = metrics.number(Row::Lost { group: "g".into(), reason: "buffer_full" });
        for source in ["s", "s", "t"] {
            for row in [row, OTHER[1]] {
                metrics.add(&source.into(), row, u64::MAX);
            }
        }
        metrics.settle("t");
        let text = metrics.text();
        assert_eq!(text.matches(&format!("}} {}\n", u64::MAX)).count(), 2, "{text}");
    }

    #[test]
    fn what_has_no_row_is_counted_as_other() {
        let mut metrics = Metrics::new(PathBuf::new(), Vec::new());
        let source: Arc<str> = "s".into();
        for number in 0..MOST_ROWS + 5 {
            let template = format!("\"{number}\"");
            let row = metrics.number(Row::Messages { group: "g".into(), level: "INFO", template });
            metrics.add(&source, row, 2);
        }
        metrics.settle("s");
        let text = metrics.text();
        assert!(text.contains("protolog_messages_total{other=\"true\"} 10\n"), "{text}");
        let row = "protolog_messages_total{group=\"g\",level=\"INFO\",template=\"\\\"7\\\"\"} 2\n";
        assert!(text.contains(row) && text.ends_with("# EOF\n"));
        let values = text.lines().filter(|line| line.starts_with("protolog_messages_total"));
        let values = values.map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap());
        assert_eq!(values.sum::<usize>(), 2 * (MOST_ROWS + 5));
    }
}
