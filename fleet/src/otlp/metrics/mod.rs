//! Metrics of logs: how often each template was logged, what was lost, and histograms of chosen
//! arguments; as a file in OpenMetrics' text, and to the collector.
//!
//! ```text
//! protolog_messages_total{service="app",group="app::Net",level="INFO",template="sent %d bytes"} 15
//! protolog_lost_messages_total{service="app",group="app::Net",reason="buffer_full"} 12
//!
//! rows       what is counted            →  numbers
//! counts     numbers                    →  sums
//! text       sums                       →  a file in OpenMetrics' text
//! points     sums                       →  data points of OTLP
//! push       data points, by a thread   →  the collector
//! saved      the counts of each trace   →  a file, for the next run
//! ```
//!
//! While a disk is full, metrics are published without being saved.
//!
//! Invariants: totals are those of the traces, whatever was sent before this run, since each trace
//! is read from its beginning; what was published never gets less, as long as the start is the
//! same; there are at most [`MOST_ROWS`] rows, and what is in none of them is counted in the row
//! `other`; files are replaced whole.

mod counts;
mod points;
mod publish;
mod push;
mod rows;
mod saved;
mod text;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foldhash::{HashMap, HashMapExt};
use protolog_core::Arg;

use self::counts::Counts;
use self::push::Push;
use self::rows::{Kind, Table};
pub(super) use self::rows::{Row, RowNumber};
use self::saved::{Saved, SavedTrace};
use super::delivery::Delivery;
use super::resource::Labels;
use super::upkeep::Upkeep;
use crate::failure::Result;

/// The most rows of counters.
const MOST_ROWS: usize = 2_000;

/// The most histograms.
const MOST_HISTOGRAMS: usize = 100;

/// The most traces that are gone and may come back, as one that is compressed does. What others had
/// is in one sum, so the file of counts has these and those that are there.
const MOST_GONE: usize = 256;

/// An argument of which there is a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) argument: usize,
    pub(super) template: String,
}

/// See the module.
pub(super) struct Metrics {
    chosen: Vec<Chosen>,
    counters: Table,
    histograms: Table,
    /// When counting began, in nanoseconds since 1970.
    start: u64,
    /// The counts of traces that are gone for good.
    settled: Counts,
    /// The counts that were published last.
    total: Counts,
    /// Those that are gone, the last one at the end.
    gone: VecDeque<Arc<str>>,
    traces: HashMap<Arc<str>, Trace>,
    is_saved: bool,
    is_written: bool,
    written: Option<Instant>,
    file: Option<PathBuf>,
    saved: Option<PathBuf>,
    push: Option<Push>,
    /// Of both files.
    upkeep: [Upkeep; 2],
}

/// The counts of a trace.
#[derive(Debug, Default)]
struct Trace {
    /// As far as it is read.
    now: Counts,
    /// The greatest of those that were published, or that an earlier run has saved.
    published: Counts,
    /// The time of the last item that is counted, by the clock of the trace.
    last: i64,
    /// When it was last there, in seconds since 1970, if it is not.
    seen: u64,
    is_there: bool,
}

impl Metrics {
    /// With histograms of these arguments, and the counts that an earlier run with this state has
    /// saved.
    pub(super) fn new(chosen: Vec<Chosen>, state: Option<&Path>) -> Result<Self> {
        let mut metrics = Self {
            chosen,
            counters: Table::new(&Kind::COUNTERS, MOST_ROWS),
            histograms: Table::new(&[Kind::Argument], MOST_HISTOGRAMS),
            start: now(),
            settled: Counts::default(),
            total: Counts::default(),
            gone: VecDeque::new(),
            traces: HashMap::new(),
            is_saved: false,
            is_written: false,
            written: None,
            file: None,
            saved: state.map(saved::path_beside),
            push: None,
            upkeep: Default::default(),
        };
        if let Some(path) = &metrics.saved
            && let Some(saved) = Saved::load(path)?
        {
            metrics.resume(saved);
        }
        Ok(metrics)
    }

    /// Goes on when a file can't be written, until the end.
    pub(super) fn be_patient(&mut self, is_patient: bool) {
        self.upkeep = [Upkeep::new(is_patient), Upkeep::new(is_patient)];
    }

    /// Keeps them in a file, too.
    pub(super) fn write_to(&mut self, path: PathBuf) {
        self.file = Some(path);
    }

    /// Sends them to a collector, too, as often as this.
    pub(super) fn push_to(&mut self, to: Delivery, labels: Arc<Labels>, interval: Duration) {
        self.push = Some(Push::start(to, labels, interval));
    }

    fn resume(&mut self, saved: Saved) {
        let Saved { start, rows, histograms, settled, total, traces } = saved;
        let rows: Vec<_> = rows.into_iter().map(|row| Some(self.counters.number(row))).collect();
        let is_chosen = |row: &Row| {
            let is_of = |it: &Chosen| row.is_argument(it.argument, &it.template);
            row.is_other() || self.chosen.iter().any(is_of)
        };
        let number = |row: Row| is_chosen(&row).then(|| self.histograms.number(row));
        let histograms: Vec<_> = histograms.into_iter().map(number).collect();
        (self.start, self.settled) = (start, settled.renumbered(&rows, &histograms));
        self.total = total.renumbered(&rows, &histograms);
        for (source, SavedTrace { counts, last, seen }) in traces {
            let published = counts.renumbered(&rows, &histograms);
            self.traces.insert(source.into(), Trace { published, last, seen, ..Trace::default() });
        }
    }

    /// The number of a row; that of `other` if there are too many.
    pub(super) fn number(&mut self, row: Row) -> RowNumber {
        self.counters.number(row)
    }

    /// The histograms of a service's template: each with the argument of which it is.
    pub(super) fn histograms_of(
        &mut self,
        service: &str,
        template: &str,
    ) -> Vec<(RowNumber, usize)> {
        let of = self.chosen.iter().filter(|chosen| chosen.template == template);
        let mut all = Vec::new();
        for Chosen { argument, template } in of {
            let row = Row::argument(service, *argument, template);
            all.push((self.histograms.number(row), *argument));
        }
        all
    }

    /// Adds to a row, for an item of this time by the clock of the trace.
    pub(super) fn add(&mut self, source: &Arc<str>, time: i64, row: RowNumber, count: u64) {
        (self.is_saved, self.is_written) = (false, false);
        let trace = self.trace(source);
        trace.last = trace.last.max(time);
        trace.now.count(row, count);
    }

    /// Adds the value of an argument to a histogram. What is no number is in none.
    pub(super) fn observe(&mut self, source: &Arc<str>, histogram: RowNumber, value: Arg<'_>) {
        let value = match value {
            Arg::Int(value) => value as f64,
            Arg::Uint(value) => value as f64,
            Arg::Float(value) if !value.is_nan() => value,
            Arg::Float(_) | Arg::Str(_) | Arg::Bool(_) => return,
        };
        self.trace(source).now.observe(histogram, value);
    }

    /// A trace is read from its beginning, and counted from there.
    pub(super) fn read_again(&mut self, source: &Arc<str>) {
        self.gone.retain(|gone| gone != source);
        let trace = self.trace(source);
        (trace.now, trace.is_there) = (Counts::default(), true);
    }

    /// A recording is read that may have less than was counted of it: only what is later than the
    /// time that this returns is to be counted.
    pub(super) fn read_on(&mut self, source: &Arc<str>) -> Option<i64> {
        self.gone.retain(|gone| gone != source);
        let is_known = self.traces.contains_key(source);
        let trace = self.trace(source);
        let published = trace.published.clone();
        trace.now.raise(&published);
        trace.is_there = true;
        is_known.then_some(trace.last)
    }

    /// A trace is gone.
    pub(super) fn settle(&mut self, source: &str) {
        let known = self.traces.get_key_value(source).filter(|(_, trace)| trace.is_there);
        let Some(source) = known.map(|(source, _)| source.clone()) else { return };
        let trace = self.trace(&source);
        (trace.is_there, trace.seen) = (false, now() / 1_000_000_000);
        self.gone.push_back(source);
        self.forget_first();
    }

    /// All traces that are there were opened: others that an earlier run has counted are gone,
    /// those first that were gone first.
    pub(super) fn settle_others(&mut self) {
        if self.gone.len() == self.traces.len() {
            return;
        }
        let others = self.traces.iter().filter(|(_, trace)| !trace.is_there);
        let mut others: Vec<_> =
            others.map(|(source, trace)| (trace.seen, source.clone())).collect();
        if others.len() > self.gone.len() {
            others.sort();
            self.gone = others.into_iter().map(|(_, source)| source).collect();
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        while self.gone.len() > MOST_GONE {
            let first = self.gone.pop_front().and_then(|source| self.traces.remove(&source));
            if let Some(mut trace) = first {
                trace.published.raise(&trace.now);
                self.settled.add(&trace.published);
                // The sums are the same, and the file is not.
                self.is_saved = false;
            }
        }
    }

    fn trace(&mut self, source: &Arc<str>) -> &mut Trace {
        if !self.traces.contains_key(source) {
            self.traces.insert(source.clone(), Trace::default());
        }
        self.traces.get_mut(source).expect("it was just put there")
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics() -> Metrics {
        Metrics::new(Vec::new(), None).unwrap()
    }

    fn text_of(metrics: &mut Metrics) -> String {
        let sum = metrics.sum().unwrap();
        text::text(&metrics.counters, &metrics.histograms, &sum)
    }

    #[test]
    fn a_trace_that_is_compressed_is_counted_once() {
        let mut metrics = metrics();
        let row = metrics.number(Row::unknown("app", "dropped"));
        let sources: Vec<Arc<str>> = (0..2 * MOST_GONE).map(|n| n.to_string().into()).collect();
        for source in &sources {
            metrics.read_again(source);
            metrics.add(source, 0, row, 1);
            metrics.settle(source);
        }
        let last = sources.last().unwrap();
        metrics.read_again(last);
        metrics.add(last, 0, row, 1);
        let (text, count) = (text_of(&mut metrics), sources.len());
        let expected = format!("{{service=\"app\",reason=\"dropped\"}} {count}\n");
        assert!(text.contains(&expected), "{text}");
        assert_eq!(metrics.gone.len(), MOST_GONE - 1);
    }

    #[test]
    fn a_count_that_a_trace_makes_up_is_no_overflow() {
        let mut metrics = metrics();
        let row = metrics.number(Row::lost("app", "g", "buffer_full"));
        for source in ["s", "s", "t"] {
            // The second one is `other`.
            for row in [row, 1] {
                metrics.add(&source.into(), 0, row, u64::MAX);
            }
        }
        metrics.settle("t");
        let text = text_of(&mut metrics);
        assert_eq!(text.matches(&format!("}} {}\n", u64::MAX)).count(), 2, "{text}");
    }

    #[test]
    fn what_has_no_row_is_counted_as_other() {
        let mut metrics = metrics();
        let source: Arc<str> = "s".into();
        for number in 0..MOST_ROWS + 5 {
            let template = format!("\"{number}\"");
            let row = metrics.number(Row::messages("app", "g", "INFO", &template));
            metrics.add(&source, 0, row, 2);
        }
        metrics.settle("s");
        let text = text_of(&mut metrics);
        assert!(text.contains("protolog_messages_total{other=\"true\"} 10\n"), "{text}");
        let labels = "service=\"app\",group=\"g\",level=\"INFO\",template=\"\\\"7\\\"\"";
        let row = format!("protolog_messages_total{{{labels}}} 2\n");
        assert!(text.contains(&row) && text.ends_with("# EOF\n"));
        let values = text.lines().filter(|line| line.starts_with("protolog_messages_total"));
        let values = values.map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap());
        assert_eq!(values.sum::<usize>(), 2 * (MOST_ROWS + 5));
    }

    #[test]
    fn what_was_published_never_gets_less() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        let chosen = vec![Chosen { argument: 0, template: "%d".to_owned() }];
        let begin = || Metrics::new(chosen.clone(), Some(&state)).unwrap();
        let one: Arc<str> = "one".into();
        let mut first = begin();
        let row = first.number(Row::messages("app", "g", "INFO", "%d"));
        let (histogram, _) = first.histograms_of("app", "%d")[0];
        first.read_again(&one);
        for value in 0..10 {
            first.add(&one, value, row, 1);
            first.observe(&one, histogram, Arg::Int(value));
        }
        let before = text_of(&mut first);
        assert!(before.contains("template=\"%d\"} 10\n"), "{before}");
        // It is removed while nothing runs; another one comes, which has a row before that.
        let mut second = begin();
        assert_eq!((text_of(&mut second), second.start), (before, first.start));
        let two: Arc<str> = "two".into();
        second.read_again(&two);
        let lost = second.number(Row::lost("app", "g", "dropped"));
        second.add(&two, 0, lost, 3);
        second.settle_others();
        let after = text_of(&mut second);
        assert!(after.contains("template=\"%d\"} 10\n") && after.contains("\"} 3\n"), "{after}");
        // The first one is back, and read again.
        let mut third = begin();
        third.read_again(&one);
        third.add(&one, 0, row, 4);
        let sum = text_of(&mut third);
        assert!(sum.contains("template=\"%d\"} 10\n"), "{sum}");
        third.add(&one, 0, row, 7);
        let sum = text_of(&mut third);
        assert!(sum.contains("template=\"%d\"} 11\n") && sum.contains("_sum{"), "{sum}");
        // Nobody asks for the histogram any more.
        let mut fourth = Metrics::new(Vec::new(), Some(&state)).unwrap();
        let sum = text_of(&mut fourth);
        assert!(!sum.contains("_sum{") && sum.contains("template=\"%d\"} 11\n"), "{sum}");
    }

    #[test]
    fn sums_of_floats_never_get_less_whatever_the_order_of_traces() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        let chosen = vec![Chosen { argument: 0, template: "%f".to_owned() }];
        let mut last = 0.0;
        for round in 0..40 {
            let mut metrics = Metrics::new(chosen.clone(), Some(&state)).unwrap();
            let (histogram, _) = metrics.histograms_of("app", "%f")[0];
            for (number, value) in [1e16, 1.0, 1.0, 3.0, 1.0, 1.0].into_iter().enumerate() {
                let source: Arc<str> = number.to_string().into();
                metrics.read_again(&source);
                metrics.observe(&source, histogram, Arg::Float(value));
            }
            let sum = metrics.sum().unwrap().histograms[histogram].sum().unwrap();
            assert!(sum >= last, "{round}: {sum} after {last}");
            last = sum;
        }
    }

    #[test]
    fn what_was_gone_first_is_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        let mut first = Metrics::new(Vec::new(), Some(&state)).unwrap();
        let row = first.number(Row::unknown("app", "dropped"));
        for number in 0..MOST_GONE + 10 {
            let source: Arc<str> = format!("{:04}", MOST_GONE + 10 - number).into();
            first.read_again(&source);
            first.add(&source, 0, row, 1);
            let trace = first.trace(&source);
            (trace.is_there, trace.seen) = (false, number as u64 + 1);
        }
        first.sum().unwrap();
        let mut second = Metrics::new(Vec::new(), Some(&state)).unwrap();
        second.settle_others();
        assert_eq!(second.traces.len(), MOST_GONE);
        let forgotten = format!("{:04}", MOST_GONE + 1);
        assert!(!second.traces.contains_key(forgotten.as_str()));
        assert!(second.traces.contains_key("0001"));
        let expected = format!("{{service=\"app\",reason=\"dropped\"}} {}\n", MOST_GONE + 10);
        assert!(text_of(&mut second).contains(&expected));
    }

    #[test]
    fn a_recording_is_counted_on() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        let begin = || Metrics::new(Vec::new(), Some(&state)).unwrap();
        let one: Arc<str> = "one".into();
        let mut first = begin();
        assert_eq!(first.read_on(&one), None);
        let row = first.number(Row::unknown("app", "dropped"));
        (1..=5).for_each(|time| first.add(&one, time, row, 1));
        first.sum().unwrap();
        let mut second = begin();
        assert_eq!(second.read_on(&one), Some(5));
        second.add(&one, 6, row, 1);
        assert!(text_of(&mut second).contains("} 6\n"));
    }

    #[test]
    fn a_sum_is_left_out_where_it_does_not_grow() {
        let chosen = vec![Chosen { argument: 0, template: "%d".to_owned() }];
        let mut metrics = Metrics::new(chosen, None).unwrap();
        let (histogram, _) = metrics.histograms_of("app", "%d")[0];
        let source: Arc<str> = "s".into();
        metrics.observe(&source, histogram, Arg::Float(1.5));
        let text = text_of(&mut metrics);
        let labels = "service=\"app\",argument=\"0\",template=\"%d\"";
        assert!(text.contains(&format!("protolog_argument_sum{{{labels}}} 1.5\n")), "{text}");
        for value in [Arg::Int(-1), Arg::Float(f64::INFINITY), Arg::Float(f64::NAN)] {
            metrics.observe(&source, histogram, value);
        }
        let text = text_of(&mut metrics);
        assert!(text.contains(&format!("_bucket{{{labels},le=\"+Inf\"}} 3\n")), "{text}");
        assert!(!text.contains("_sum{") && !text.contains("_count{"), "{text}");
    }

    #[test]
    fn a_file_that_is_damaged_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        let mut metrics = Metrics::new(Vec::new(), Some(&state)).unwrap();
        metrics.sum().unwrap();
        let path = saved::path_beside(&state);
        let whole = std::fs::read_to_string(&path).unwrap();
        for damaged in [
            "{".to_owned(),
            whole.replace("\"settled\":{\"rows\":[]", "\"settled\":{\"rows\":[[9,1]]"),
            whole.replace("\"settled\":{\"rows\":[]", "\"settled\":{\"rows\":[[99999999999,1]]"),
        ] {
            assert_ne!(damaged, whole);
            std::fs::write(&path, damaged).unwrap();
            let failure = Metrics::new(Vec::new(), Some(&state)).err().unwrap().to_string();
            assert!(failure.ends_with("help: remove it to begin to count again"), "{failure}");
        }
    }
}
