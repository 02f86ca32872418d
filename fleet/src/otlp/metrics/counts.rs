//! Counts of a trace, or of several.
//!
//! Invariant: no sum overflows, whatever a trace or a file says.

use serde::{Deserialize, Serialize};

/// The upper bounds of buckets: 1, 2.5 and 5 of each power of ten.
pub(super) const BOUNDS: [f64; 28] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0,
    100.0, 250.0, 500.0, 1e3, 2.5e3, 5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6,
];

/// By the numbers of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Sparse", into = "Sparse")]
pub(super) struct Counts {
    pub(super) rows: Vec<u64>,
    pub(super) histograms: Vec<Histogram>,
}

/// Counts in a file: those that are not zero, each with its number.
#[derive(Serialize, Deserialize)]
struct Sparse {
    rows: Vec<(usize, u64)>,
    histograms: Vec<(usize, Histogram)>,
}

/// The greatest number of a row in a file is less.
const MOST_NUMBERS: usize = 1 << 16;

impl From<Counts> for Sparse {
    fn from(counts: Counts) -> Self {
        let rows = counts.rows.into_iter().enumerate().filter(|(_, count)| *count > 0);
        let histograms = counts.histograms.into_iter().enumerate();
        let histograms = histograms.filter(|(_, histogram)| histogram.count() > 0);
        Self { rows: rows.collect(), histograms: histograms.collect() }
    }
}

impl TryFrom<Sparse> for Counts {
    type Error = &'static str;

    fn try_from(sparse: Sparse) -> Result<Self, Self::Error> {
        let mut counts = Self::default();
        let numbers = sparse.rows.iter().map(|(number, _)| *number);
        if numbers.chain(sparse.histograms.iter().map(|(number, _)| *number)).max()
            >= Some(MOST_NUMBERS)
        {
            return Err("a number of a row is too large");
        }
        for (number, count) in sparse.rows {
            counts.count(number, count);
        }
        for (number, histogram) in sparse.histograms {
            counts.grow_histograms(number + 1);
            counts.histograms[number] = histogram;
        }
        Ok(counts)
    }
}

/// Values of an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Histogram {
    /// As many as bounds, and one more.
    buckets: Vec<u64>,
    /// None if a value is negative, or infinite: a sum only grows.
    sum: Option<f64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BOUNDS.len() + 1], sum: Some(0.0) }
    }
}

impl Histogram {
    pub(super) fn observe(&mut self, value: f64) {
        let bucket = &mut self.buckets[BOUNDS.partition_point(|bound| *bound < value)];
        *bucket = bucket.saturating_add(1);
        let value = Some(value).filter(|value| value.is_finite() && *value >= 0.0);
        self.sum = sum(self.sum, value);
    }

    pub(super) fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    pub(super) fn sum(&self) -> Option<f64> {
        self.sum
    }

    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    fn add(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, count)| add(sum, *count));
        self.sum = sum(self.sum, other.sum);
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    let sum = one? + other?;
    Some(sum).filter(|sum| sum.is_finite())
}

/// Adds to a count, which a trace may say to be any number.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

impl Counts {
    /// Adds to a row.
    pub(super) fn count(&mut self, row: usize, count: u64) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, 0);
        }
        add(&mut self.rows[row], count);
    }

    /// Adds a value to a histogram.
    pub(super) fn observe(&mut self, histogram: usize, value: f64) {
        self.grow_histograms(histogram + 1);
        self.histograms[histogram].observe(value);
    }

    /// Adds those of another trace.
    pub(super) fn add(&mut self, other: &Self) {
        self.grow(other);
        self.rows.iter_mut().zip(&other.rows).for_each(|(sum, count)| add(sum, *count));
        let histograms = self.histograms.iter_mut().zip(&other.histograms);
        histograms.for_each(|(sum, of)| sum.add(of));
    }

    /// Takes those of another reading of the same trace where they are greater.
    pub(super) fn raise(&mut self, other: &Self) {
        self.grow(other);
        self.rows.iter_mut().zip(&other.rows).for_each(|(most, count)| *most = *count.max(most));
        for (most, of) in self.histograms.iter_mut().zip(&other.histograms) {
            if of.count() > most.count() {
                most.clone_from(of);
            }
        }
    }

    /// Keeps sums of floats from getting less than they were: they depend on the order in which the
    /// traces are added.
    pub(super) fn keep_sums(&mut self, before: &Self) {
        for (now, before) in self.histograms.iter_mut().zip(&before.histograms) {
            now.sum = now.sum.map(|sum| sum.max(before.sum.unwrap_or(0.0)));
        }
    }

    fn grow(&mut self, other: &Self) {
        let rows = self.rows.len().max(other.rows.len());
        self.rows.resize(rows, 0);
        self.grow_histograms(other.histograms.len());
    }

    fn grow_histograms(&mut self, least: usize) {
        let histograms = self.histograms.len().max(least);
        self.histograms.resize(histograms, Histogram::default());
    }

    /// With other numbers; what gets none is left out.
    pub(super) fn renumbered(&self, rows: &[Option<usize>], histograms: &[Option<usize>]) -> Self {
        let mut renumbered = Self::default();
        for (number, count) in rows.iter().zip(&self.rows) {
            if let Some(number) = number {
                renumbered.count(*number, *count);
            }
        }
        for (number, histogram) in histograms.iter().zip(&self.histograms) {
            if let Some(number) = *number {
                renumbered.grow_histograms(number + 1);
                renumbered.histograms[number].add(histogram);
            }
        }
        renumbered
    }

    /// Returns whether the counts are those of a table with so many rows and histograms.
    pub(super) fn fit(&self, rows: usize, histograms: usize) -> bool {
        let is_whole = |it: &Histogram| it.buckets.len() == BOUNDS.len() + 1;
        self.rows.len() <= rows
            && self.histograms.len() <= histograms
            && self.histograms.iter().all(is_whole)
    }
}
