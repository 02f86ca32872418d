//! Cases: descriptions of traces with the expected text, and the same traces in Perfetto's own
//! reader.
//!
//! `UPDATE_EXPECT=1` rewrites the expectations.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{cases, rows, text};
use protolog_reader::Trace;

const ROWS: &str =
    "SELECT ts, level, tag, message, location, stacktrace FROM protolog ORDER BY ts, id";

#[test]
fn texts_and_rows() {
    for case in cases() {
        println!("{}", case.name());
        match Trace::from_bytes(case.trace()).read() {
            Ok(log) => case.expect(&[("text", text(&log)), ("summary", log.summary().to_string())]),
            Err(error) => case.expect(&[("error", format!("{error}\nhelp: {}", error.help()))]),
        }
    }
    trace_processor_shows_the_same();
}

/// Not a test of its own, because both rewrite the same files.
fn trace_processor_shows_the_same() {
    let dir = protolog_testkit::temp_dir();
    let mut failed = false;
    for mut case in cases() {
        println!("{} in trace_processor", case.name());
        let Ok(log) = Trace::from_bytes(case.trace()).read() else {
            continue;
        };
        let file = dir.path().join(format!("{}.pftrace", case.name()));
        fs::write(&file, case.trace()).unwrap();
        let Some(reading) = protolog_testkit::read_trace(&file, &[ROWS]) else {
            return;
        };
        let check = AssertUnwindSafe(|| case.expect_rows(&rows(&log), &reading.tables[0]));
        failed |= catch_unwind(check).is_err();
    }
    assert!(!failed, "see above; a `--- trace_processor: reason` section says why rows differ");
}
