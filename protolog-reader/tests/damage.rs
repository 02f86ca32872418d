//! Damaged dictionaries: what can be read is read, and what can't is reported.

mod common;

use std::fmt::Write as _;

use common::{Input, text, trace};
use protolog_reader::{Log, Trace, merge};

const THREADS: u64 = 4;

/// A session of four threads with forty messages, as text for [`trace`].
fn session(process: u64) -> String {
    let mut out =
        "@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000)\n".to_owned();
    out.push_str("@1 group(1, \"app::Log::Net\", \"Net\")");
    for id in 1..=40 {
        write!(
            out,
            " message({:#x}, DEBUG, 1, \"event {id} of %d: %s\", \"src/net.rs:{id}\")",
            0x5566_7700 + id
        )
        .unwrap();
    }
    out.push('\n');
    for thread in 0..THREADS {
        let tid = process + thread;
        writeln!(
            out,
            "@{} cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 \
             info({process}, {tid}, \"thread {thread}\")",
            2 + thread
        )
        .unwrap();
    }
    for index in 0..400u64 {
        let (sequence, id) = (2 + index % THREADS, 0x5566_7701 + index * 7 % 40);
        let string = index / THREADS % 20 + 1;
        let defined = if index / THREADS < 20 {
            format!("string({string}, \"value number {string}\") ")
        } else {
            String::new()
        };
        writeln!(out, "@{sequence} needs ts=1000 {defined}log({id:#x}, {index}, ${string})")
            .unwrap();
    }
    out
}

/// Entries, and those of them with a text.
fn amounts(log: &Log) -> (usize, usize) {
    let texts = log.entries().filter(|entry| entry.values().message().is_some());
    (log.entries().count(), texts.count())
}

/// The session with a length that is too small in its fifth dictionary element.
fn with_a_bad_element() -> Vec<u8> {
    let mut bytes = trace(&session(200));
    let text = b"event 5 of";
    let at = bytes.windows(text.len()).position(|bytes| bytes == text).unwrap();
    bytes[at - 1] += 0x40;
    bytes
}

#[test]
fn a_bad_element_of_a_dictionary_costs_its_own_text_only() {
    let log = Trace::from_bytes(with_a_bad_element()).read().unwrap();
    assert_eq!(amounts(&log), (400, 390));
    assert_eq!(log.stats().malformed_elements, 1);
    assert!(log.summary().to_string().contains("1 damaged dictionary entry, which was left out\n"));
}

#[test]
fn a_damaged_dictionary_does_not_hide_a_healthy_one() {
    let (good, bad) = (trace(&session(100)), with_a_bad_element());
    for inputs in [[&good, &bad], [&bad, &good]] {
        let mut out = Vec::new();
        let inputs = inputs.map(|bytes| Input(bytes));
        let report = merge(&[&inputs[0], &inputs[1]], &mut out).unwrap();
        assert_eq!(report.malformed_elements, 1);
        let log = Trace::from_bytes(out).read().unwrap();
        assert_eq!(amounts(&log), (800, 800));
        assert!(text(&log).contains("event 5 of"));
    }
}
