//! Results of the benches: tables, printed as they come, and kept for a file in JSON.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::table;
use xtask::Result;

/// The tables of a run.
#[derive(Default)]
pub(super) struct Report {
    tables: Vec<Value>,
    skipped: Vec<String>,
}

impl Report {
    /// Prints a table and keeps it. Its first column is text; a cell that is a number is one in
    /// JSON too.
    pub(super) fn add(&mut self, title: &str, head: &[&str], rows: &[Vec<String>]) {
        println!("\n### {title}\n\n{}", table::markdown(head, rows));
        let row =
            |cells: &Vec<String>| -> Vec<Value> { cells.iter().map(|cell| value(cell)).collect() };
        let rows: Vec<_> = rows.iter().map(row).collect();
        self.tables.push(json!({ "title": title, "columns": head, "rows": rows }));
    }

    /// Says what is not measured, and why.
    pub(super) fn skip(&mut self, what: &str) {
        println!("skipped: {what}");
        self.skipped.push(what.to_owned());
    }

    /// Writes all tables to a file, with the machine and the command.
    pub(super) fn write(&self, machine: &str, command: &str, path: &Path) -> Result<()> {
        let all = json!({
            "machine": machine,
            "command": command,
            "skipped": self.skipped,
            "tables": self.tables,
        });
        let written = fs::write(path, format!("{all:#}\n"));
        written.map_err(|error| format!("can't write `{}`: {error}", path.display()))?;
        println!("figures in JSON: {}", path.display());
        Ok(())
    }
}

fn value(cell: &str) -> Value {
    cell.parse::<f64>().map_or_else(|_| cell.into(), Value::from)
}

/// The value in the middle.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Measures each of `what` as often, by turns, so that what disturbs hits all alike.
pub(super) fn rounds<T, R>(
    count: usize,
    what: &[T],
    measure: impl Fn(&T) -> Result<R>,
) -> Result<Vec<Vec<R>>> {
    let mut all: Vec<Vec<R>> = what.iter().map(|_| Vec::new()).collect();
    for _ in 0..count {
        for (one, measured) in what.iter().zip(&mut all) {
            measured.push(measure(one)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers() {
        assert_eq!(value("1.5"), json!(1.5));
        assert_eq!(value("two integers"), json!("two integers"));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]).to_string(), "2");
        assert!(median([]).is_nan());
    }
}
