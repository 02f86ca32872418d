//! A trace that is read in parts, wherever it is parted, has the items that it has as a whole.

use crate::common::trace;
use protolog_reader::{Follower, Item, Level, Log, ReadErrorKind, Rendering, SpanSlice, Trace};
use std::collections::BTreeMap;

/// Two sequences with clocks of their own, strings that later messages refer to, losses.
const APP: &str = r#"
group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "sent %d bytes") message(0x12, WARN, 1, "slow: %s")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 ts=1000000 log(0x11, 512)
@1 needs ts=1000000 string(1, "write") log(0x12, $1)
@2 cleared snapshot(64=0, boot=1000500000, incremental=64) default_clock=64 info(100, 102, "worker") loss(1, 1, 3)
@2 ts=5 log(0x11, 1024)
@1 needs ts=1000000 log(0x12, $1)
@2 needs ts=7 log(0x12, $9)
@2 ts=9 loss(1, 1, 4)
@1 ts=1 log(0x77, 1)
"#;

/// Nested spans of two threads, of which one does not end, and the end of one that began before.
const SPANS: &str = r#"
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=1 end(track=5)
@1 needs ts=1 begin("request", "demo::net", track=5, id=5)
@1 needs ts=1 log(0x77, 1)
@1 needs ts=1 named(2, 1, "parse") begin($1, track=5)
@2 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 102, "worker") begin("wait", "demo")
@1 needs ts=1 end(track=5, status=200)
@2 needs ts=9 begin("inner", "demo")
@2 needs ts=1 end()
@1 needs ts=1 begin("parse again", "demo", track=5)
@1 needs ts=1 end(track=5)
@1 needs ts=1 end(track=5, id=6)
"#;

fn items(log: &Log) -> Vec<(i64, String)> {
    let show = |item: Item<'_>| match item {
        Item::Entry(entry) => {
            let thread = entry.thread().name.clone().unwrap_or_default();
            (entry.time(), format!("{thread}: {}", entry.values().text(Rendering::Full)))
        }
        Item::Loss(loss) => (loss.time, loss.describe(log.dictionary())),
        Item::SpanBegin(slice) => (slice.begin, span(log, slice, false)),
        Item::SpanEnd(slice) => (slice.end.expect("an end"), span(log, slice, true)),
    };
    log.items().map(show).collect()
}

fn span(log: &Log, slice: &SpanSlice, is_end: bool) -> String {
    let thread = log.thread_of_slice(slice).name.clone().unwrap_or_default();
    format!("{thread}: {} {} {}", if is_end { '<' } else { '>' }, slice.text(is_end), slice.depth)
}

/// The items of all parts, in the order of time.
fn followed(parts: &[&[u8]]) -> Vec<(i64, String)> {
    followed_by(Follower::new(Vec::new()), parts)
}

fn followed_by(mut follower: Follower, parts: &[&[u8]]) -> Vec<(i64, String)> {
    let (mut rest, mut found) = (Vec::new(), Vec::new());
    for part in parts {
        rest.extend_from_slice(part);
        let taken =
            follower.read(&rest, |_| None, |log| found.extend(items(log))).expect("a trace");
        rest.drain(..taken);
    }
    assert!(rest.is_empty(), "{rest:?}");
    found.sort();
    found
}

/// Two groups, levels and hours; the third record of the first thread is of another hour.
const SAMPLED: &str = r#"
group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "sent %d bytes")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared default_clock=6 info(100, 101, "main") ts=1000000000 passed_over(1, 1, 5) log(0x11, 1)
@1 ts=2000000000 passed_over(1, 1, 6) passed_over(1, 3, 7) rate(1, 10) log(0x11, 2)
@2 cleared default_clock=6 info(100, 102, "worker") ts=3000000000 passed_over(1, 1, 8) log(0x11, 3)
@1 ts=3600000000001 passed_over(0, 0, 9)
@1 ts=3600000000002 passed_over(1, 1, 18446744073709551615)
"#;

/// What sampling passed over: thread, hour, group and level, with the number and the last time.
type PassedOver = BTreeMap<(String, i64, Option<u32>, Option<Level>), (u64, i64)>;

fn add_passed_over(all: &mut PassedOver, log: &Log) {
    for one in log.passed_over() {
        let thread = log.thread_of_passed_over(one).name.clone().unwrap_or_default();
        let key = (thread, one.time / 3_600_000_000_000, one.group, one.level);
        let (sum, last) = all.entry(key).or_default();
        (*sum, *last) = (sum.saturating_add(one.count), one.time.max(*last));
    }
}

#[test]
fn what_sampling_passed_over_is_in_the_part_that_says_so() {
    let bytes = trace(SAMPLED);
    let log = Trace::from_bytes(bytes.clone()).read().unwrap();
    let mut whole = PassedOver::new();
    add_passed_over(&mut whole, &log);
    let main = |hour, group, level| whole[&("main".to_owned(), hour, group, level)];
    assert_eq!(main(0, Some(1), Some(Level::Debug)), (11, 2_000_000_000));
    assert_eq!(main(0, Some(1), Some(Level::Info)), (7, 2_000_000_000));
    assert_eq!(main(1, None, None), (9, 3_600_000_000_001));
    assert_eq!(main(1, Some(1), Some(Level::Debug)), (u64::MAX, 3_600_000_000_002));
    // One number for each thread, group, level and hour.
    assert_eq!((whole.len(), log.passed_over().len()), (5, 5));
    for at in 0..=bytes.len() {
        let mut follower = Follower::new(Vec::new());
        let mut parts = PassedOver::new();
        let mut read =
            |bytes| follower.read(bytes, |_| None, |log| add_passed_over(&mut parts, log));
        let taken = read(&bytes[..at]).unwrap();
        read(&bytes[taken..]).unwrap();
        assert_eq!(parts, whole, "{at}");
    }
}

#[test]
fn parts_have_what_the_whole_has() {
    let bytes = trace(APP);
    let mut whole = items(&Trace::from_bytes(bytes.clone()).read().unwrap());
    whole.sort();
    assert_eq!(whole.len(), 8);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(followed(&[first, second]), whole, "parted at {at}");
        let (middle, last) = second.split_at(second.len() / 2);
        assert_eq!(followed(&[first, &[], middle, last]), whole, "parted at {at} and behind it");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(followed(&single), whole);
}

#[test]
fn spans_end_in_later_parts() {
    let bytes = trace(SPANS);
    let mut whole = items(&Trace::from_bytes(bytes.clone()).with_slices().read().unwrap());
    whole.sort();
    assert_eq!(whole.len(), 9 + 1);
    for (_, line) in &mut whole {
        *line = line.replace(" (its end is not in the trace)", "");
    }
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        let follower = Follower::new(Vec::new()).with_slices();
        assert_eq!(followed_by(follower, &[first, second]), whole, "parted at {at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(followed_by(Follower::new(Vec::new()).with_slices(), &single), whole);
    assert!(followed(&single).iter().all(|(_, line)| !line.contains(['<', '>'])));
}

#[test]
fn spans_end_in_the_next_trace_of_a_process() {
    let segment = |packets: &str| {
        trace(&format!(
            "@9 snapshot(real=1795199221000000000, boot=1000000000)\n\
             @3 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, \"main\")\n\
             {packets}"
        ))
    };
    let (mut follower, mut found) = (Follower::new(Vec::new()).with_slices(), Vec::new());
    let one = segment("@3 needs ts=5 begin(\"request\", \"net\", track=5, id=5)\n");
    let two = segment("@3 needs ts=9 end(track=5, status=200)\n");
    follower.read(&one, |_| None, |log| found.extend(items(log))).unwrap();
    follower.next_trace();
    follower.read(&two, |_| None, |log| found.extend(items(log))).unwrap();
    let expected = [
        (1_000_000_005, "main: > request id=5 0".to_owned()),
        (1_000_000_009, "main: < request took 4 ns id=5 status=200 0".to_owned()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_no_growing_trace_is_an_error() {
    let kind = |bytes: &[u8]| {
        let error = Follower::new(Vec::new()).read(bytes, |_| None, |_| {}).expect_err("no trace");
        assert!(!error.to_string().is_empty() && !error.help().is_empty());
        format!("{:?}", error.kind())
    };
    assert_eq!(kind(b"text"), "NotATrace(Text)");
    assert_eq!(kind(&[0x1f, 0x8b, 8]), format!("{:?}", ReadErrorKind::Compressed));
    let mut damaged = trace(APP);
    let end = damaged.len() as u64;
    damaged.extend([0x0f; 40]);
    assert_eq!(kind(&damaged), format!("{:?}", ReadErrorKind::Damaged(end)));
}

/// A string of zeros, of which a part has come, looks like a hole to the end.
#[test]
fn a_packet_that_is_not_whole_has_no_hole() {
    let zeros = "\\x00".repeat(300);
    let bytes = trace(&format!("{APP}@1 needs ts=1 string(2, \"{zeros}\") log(0x12, $2)\n{APP}"));
    let whole = followed(&[&bytes]);
    for end in (1..bytes.len()).step_by(7) {
        let (mut follower, mut found) = (Follower::new(Vec::new()), Vec::new());
        let taken = follower.read(&bytes[..end], |_| None, |log| found.extend(items(log)));
        let rest = &bytes[taken.unwrap()..];
        follower.read(rest, |_| None, |log| found.extend(items(log))).unwrap();
        found.sort_by_key(|(time, _)| *time);
        assert_eq!(found.len(), whole.len(), "parted at {end}");
    }
}

/// Zeros come in parts, and what follows them.
#[test]
fn a_hole_that_comes_in_parts_is_skipped() {
    let bytes = [trace(APP), vec![0; 3000], trace(&APP.replace("100, 10", "200, 20"))].concat();
    let mut whole = 0;
    let taken = Follower::new(Vec::new()).read(&bytes, |_| None, |log| whole = items(log).len());
    assert_eq!(taken.unwrap(), bytes.len());
    for size in [700, 1500] {
        let (mut follower, mut found, mut at) = (Follower::new(Vec::new()), 0, 0);
        let mut skipped = 0;
        for end in (size..bytes.len()).step_by(size).chain([bytes.len()]) {
            let read = follower.read(
                &bytes[at..end],
                |_| None,
                |log| {
                    found += items(log).len();
                    skipped = log.stats().skipped_bytes;
                },
            );
            at += read.unwrap();
        }
        // A packet of the dictionary that was alone in its part may be skipped with the zeros.
        assert_eq!((at, found), (bytes.len(), whole), "in parts of {size}");
        assert!((3000..3200).contains(&skipped), "{skipped} in parts of {size}");
    }
}

/// A packet that is not whole yet may look like damage with packets in it: a string that is a
/// trace.
#[test]
fn a_packet_that_is_not_whole_is_not_searched() {
    let inner = r"\x0a\x04\x40\x05\x50\x02".repeat(3);
    let text = format!("{APP}@1 needs ts=1 string(5, \"{inner}\") log(0x12, $5)\n");
    let bytes = trace(&text);
    let mut whole = items(&Trace::from_bytes(bytes.clone()).read().unwrap());
    whole.sort();
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(followed(&single), whole);
}
