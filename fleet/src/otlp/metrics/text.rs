//! Metrics as text of OpenMetrics.

use std::fmt::{self, Write as _};

use super::counts::{BOUNDS, Counts, Histogram};
use super::rows::{Kind, Row, Table};

/// The text of all rows in which something is counted.
pub(super) fn text(counters: &Table, histograms: &Table, sum: &Counts) -> String {
    let mut text = String::new();
    put(&mut text, counters, histograms, sum).expect("a string takes every write");
    text
}

fn put(out: &mut String, counters: &Table, histograms: &Table, sum: &Counts) -> fmt::Result {
    let rows = counters.rows().iter().zip(sum.rows.iter().copied());
    let mut rows: Vec<(&Row, u64)> = rows.filter(|(_, count)| *count > 0).collect();
    rows.sort();
    for kind in Kind::COUNTERS {
        put_head(out, kind, "counter")?;
        for (row, count) in rows.iter().filter(|(row, _)| row.kind == kind) {
            writeln!(out, "{}_total{{{}}} {count}", kind.name(), Labels(row))?;
        }
    }
    put_head(out, Kind::Argument, "histogram")?;
    for (row, histogram) in histograms.rows().iter().zip(&sum.histograms) {
        if histogram.count() > 0 {
            put_histogram(out, row, histogram)?;
        }
    }
    out.write_str("# EOF\n")
}

fn put_head(out: &mut String, kind: Kind, of: &str) -> fmt::Result {
    let (name, help) = (kind.name(), kind.help());
    writeln!(out, "# TYPE {name} {of}\n# HELP {name} {help}")
}

fn put_histogram(out: &mut String, row: &Row, histogram: &Histogram) -> fmt::Result {
    let (name, labels) = (row.kind.name(), Labels(row));
    let mut count = 0_u64;
    let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
    for (bucket, bound) in histogram.buckets().iter().zip(bounds) {
        count = count.saturating_add(*bucket);
        writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
    }
    // To parsers of OpenMetrics, a count without a sum is an error; the last bucket has it.
    match histogram.sum() {
        Some(sum) => {
            writeln!(out, "{name}_count{{{labels}}} {count}\n{name}_sum{{{labels}}} {sum}")
        }
        None => Ok(()),
    }
}

/// The labels of a row.
struct Labels<'a>(&'a Row);

impl fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(service) = &self.0.service else { return f.write_str("other=\"true\"") };
        write!(f, "service=\"{}\"", Escaped(service))?;
        for (name, value) in &self.0.labels {
            write!(f, ",{name}=\"{}\"", Escaped(value))?;
        }
        Ok(())
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
