//! Metrics of logs have the totals of their traces.

mod common;

use std::collections::BTreeMap;
use std::fs;

use common::sink::Sink;
use common::{damaged, fleet, lines_of, trace};
use protolog_testkit::temp_dir;
use serde_json::Value;

/// Sums of rows, by their labels.
fn rows(text: &str, name: &str) -> BTreeMap<String, u64> {
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let Some((of, value)) = line.rsplit_once(' ') else { continue };
        if let Some(labels) = of.strip_prefix(&format!("{name}{{")) {
            rows.insert(labels.trim_end_matches('}').to_owned(), value.parse().unwrap());
        }
    }
    rows
}

#[test]
fn totals_are_those_of_the_trace_whatever_was_sent_before() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let url = sink.url();
    let histogram = "0:round %d of %s";
    let args = ["otlp", &url, "--state", "s", "--metrics-file", "m", "--histogram", histogram, "."];
    let output = fleet(&args, dir.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(dir.path().join("m")).unwrap();
    let mut values = Vec::<u64>::new();
    let (mut messages, mut lost) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    for line in lines_of(trace()).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| line[name].as_str().unwrap_or("").to_owned();
        if line["type"] == "message" {
            let (group, template) = (of("group"), of("template").replace('"', "\\\""));
            let level = of("level");
            let row = format!("group=\"{group}\",level=\"{level}\",template=\"{template}\"");
            if of("template") == "round %d of %s" {
                values.push(of("message").split(' ').nth(1).unwrap().parse().unwrap());
            }
            *messages.entry(row).or_default() += 1;
        } else if line["type"] == "loss" {
            let row = format!("group=\"{}\",reason=\"{}\"", of("group"), of("reason"));
            *lost.entry(row).or_default() += line["count"].as_u64().unwrap();
        }
    }
    assert_eq!(rows(&text, "protolog_messages_total"), messages);
    assert_eq!(rows(&text, "protolog_lost_messages_total"), lost);
    assert!(!lost.is_empty());
    let labels = "argument=\"0\",template=\"round %d of %s\"";
    assert!(!values.is_empty());
    assert_eq!(rows(&text, "protolog_argument_count")[labels], values.len() as u64);
    assert_eq!(rows(&text, "protolog_argument_sum")[labels], values.iter().sum::<u64>());
    let buckets = rows(&text, "protolog_argument_bucket");
    let most_100 = values.iter().filter(|value| **value <= 100).count();
    assert_eq!(buckets[&format!("{labels},le=\"100\"")], most_100 as u64);
    // Another run has nothing to send, and the same totals.
    fs::remove_file(dir.path().join("m")).unwrap();
    assert!(fleet(&args, dir.path()).status.success());
    assert_eq!(fs::read_to_string(dir.path().join("m")).unwrap(), text);
}

#[test]
fn a_trace_that_is_damaged_is_counted_once() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let damaged = damaged();
    fs::write(dir.path().join("bad.pftrace"), &damaged).unwrap();
    let args = ["otlp", &sink.url(), "--metrics-file", "m", "bad.pftrace"];
    assert_eq!(fleet(&args, dir.path()).status.code(), Some(3));
    let text = fs::read_to_string(dir.path().join("m")).unwrap();
    let messages = lines_of(&damaged).unwrap().matches("\"type\":\"message\"").count();
    let counted: u64 = rows(&text, "protolog_messages_total").values().sum();
    assert_eq!(counted as usize, messages);
}
