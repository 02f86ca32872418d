//! Damaged traces: what can be read is read, at least as much as trace_processor reads, and what
//! can't is reported.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::common::{Input, text, trace};
use protolog_reader::{Log, Trace, merge};

/// Copies of a trace that are damaged; `cargo xtask soak` sets more.
const COPIES: &str = "PROTOLOG_DAMAGED_COPIES";

const ROWS: &str = "SELECT message FROM protolog";

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
            0x8899_aabb_5566_7700u64 + id
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
        let (sequence, id) = (2 + index % THREADS, 0x8899_aabb_5566_7701 + index * 7 % 40);
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

/// Most places of a copy that are damaged.
const FLIPS: usize = 4;

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// A copy with bits flipped, ranges cut out or overwritten, or the end cut off.
fn damage(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut copy = bytes.to_vec();
    for _ in 0..=random.below(FLIPS) {
        let at = random.below(copy.len());
        let end = (at + 1 + random.below(100)).min(copy.len());
        match (seed % 8, random.below(8)) {
            (0..4, _) => copy[at] ^= 1 << random.below(8),
            (4 | 5, _) => drop(copy.drain(at..end)),
            (6, _) | (7, 1..) => {
                copy[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8);
            }
            _ => copy.truncate(at.max(bytes.len() / 2)),
        }
    }
    copy
}

fn is_reported(log: &Log) -> bool {
    !log.summary().to_string().is_empty()
}

/// Entries, and those of them with a text.
fn amounts(log: &Log) -> (usize, usize) {
    let texts = log.entries().filter(|entry| entry.values().message().is_some());
    (log.entries().count(), texts.count())
}

/// Rows of the trace that `merge` makes of one, and those that are said to be lost.
fn merged_rows(bytes: &[u8]) -> usize {
    let mut out = Vec::new();
    let merged = merge(&[&Input(bytes)], &mut out).unwrap();
    let log = Trace::from_bytes(out).read().unwrap();
    let lost: u64 = log.losses().iter().filter_map(|loss| loss.count).sum();
    amounts(&log).0 + (merged.malformed + lost) as usize
}

/// The session in each way in which a trace is compressed.
fn compressed_sessions() -> Vec<(&'static str, Vec<u8>)> {
    let session = session(100);
    let lines: Vec<&str> = session.lines().collect();
    let whole = |by| trace(&format!("whole({by})\n{session}"));
    let bundles = |by| {
        let bundle = |lines: &[&str]| format!("bundle({by}) {{\n{}\n}}\n", lines.join("\n"));
        trace(&lines.chunks(100).map(bundle).collect::<String>())
    };
    vec![
        ("gzip", whole("gzip")),
        ("zstd", whole("zstd")),
        ("bundles of zlib", bundles("zlib")),
        ("bundles of gzip", bundles("gzip")),
        ("bundles of zstd", bundles("zstd")),
    ]
}

#[test]
fn a_broken_compressed_trace_is_merged_as_far_as_it_is_read() {
    let copies: u64 = std::env::var(COPIES).map_or(60, |copies| copies.parse().unwrap());
    for (name, whole) in compressed_sessions() {
        assert_eq!(Trace::from_bytes(whole.clone()).read().unwrap().entries().count(), 400);
        let (mut read, mut partial) = (0, 0);
        for seed in 0..copies {
            let bytes = damage(&whole, seed);
            let Ok(log) = Trace::from_bytes(bytes.clone()).read() else { continue };
            if log.entries().count() == 0 {
                continue;
            }
            let mut out = Vec::new();
            let merged = merge(&[&Input(&bytes)], &mut out).unwrap();
            let again = Trace::from_bytes(out).read().unwrap();
            let ((rows, texts), (least, least_texts)) = (amounts(&again), amounts(&log));
            assert!(rows >= least, "{name}, {seed}: {rows} rows of {least}");
            // The rest of a damaged text is not copied, and counted.
            let has_texts = texts >= least_texts || merged.malformed_elements > 0;
            assert!(has_texts, "{name}, {seed}: {texts} texts of {least_texts}");
            assert!(log.is_complete() || !merged.is_whole(), "{name}, {seed}: nothing is said");
            read += 1;
            partial += usize::from(log.entries().count() < 400);
        }
        println!("{name}: {read} of {copies} were read, {partial} of them in part");
        assert!(partial > 0, "{name}");
    }
}

#[test]
fn a_damaged_trace_has_no_fewer_rows_than_in_trace_processor() {
    let whole = trace(&session(100));
    let copies = std::env::var(COPIES).map_or(60, |copies| copies.parse().unwrap());
    let dir = protolog_testkit::temp_dir();
    let path = dir.path().join("damaged.pftrace");
    let (mut sums, mut fewer) = ([0; 4], Vec::new());
    for seed in 0..copies {
        let bytes = damage(&whole, seed);
        let amounts = Trace::from_bytes(bytes.clone()).read().map_or((0, 0), |log| {
            let (rows, _) = amounts(&log);
            assert!(merged_rows(&bytes) >= rows, "{seed}: rows that `merge` leaves out silently");
            // A flipped bit may make a message a field that nobody knows, which is no damage that
            // can be seen.
            let is_whole = rows + FLIPS >= 400;
            assert!(is_whole || is_reported(&log), "{seed}: {rows} rows, and nothing is said");
            amounts(&log)
        });
        std::fs::File::create(&path).unwrap().write_all(&bytes).unwrap();
        let Some(reading) = protolog_testkit::read_trace(&path, &[ROWS]) else { return };
        let rows = &reading.tables[0].rows;
        let texts =
            rows.iter().filter(|row| row[0].as_str().is_some_and(|it| it.starts_with("event")));
        let theirs = (rows.len(), texts.count());
        for (sum, count) in sums.iter_mut().zip([amounts.0, theirs.0, amounts.1, theirs.1]) {
            *sum += count;
        }
        if amounts.0 < theirs.0 || amounts.1 < theirs.1 {
            fewer.push((seed, amounts, theirs));
        }
    }
    println!(
        "{copies} copies: rows {} (trace_processor {}), texts {} ({})",
        sums[0], sums[1], sums[2], sums[3]
    );
    assert!(fewer.is_empty(), "seed, (rows, texts), those of trace_processor: {fewer:?}");
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

/// A trace of one message, whose dictionary has its id and text and then a location that is no
/// text.
fn with_a_bad_location() -> Vec<u8> {
    let mut bytes = trace(
        "group(1, \"app::Log::Net\", \"Net\") message(0x11, INFO, 1, \"sent %d\", \"net.rs:77\")\n\
         @1 cleared info(1, 2, \"main\")\n@1 needs ts=5 log(0x11, 7)",
    );
    let at = bytes.windows(9).position(|bytes| bytes == b"net.rs:77").unwrap();
    // Longer than the rest of the trace.
    bytes[at - 1] = 0x7f;
    bytes
}

#[test]
fn what_is_left_of_a_dictionary_entry_is_merged() {
    let bad = with_a_bad_location();
    let shown = text(&Trace::from_bytes(bad.clone()).read().unwrap());
    assert!(shown.contains("sent 7"), "{shown}");
    let mut out = Vec::new();
    let report = merge(&[&Input(&bad)], &mut out).unwrap();
    assert_eq!((report.malformed_elements, report.is_whole()), (1, false));
    let log = Trace::from_bytes(out).read().unwrap();
    assert_eq!(text(&log), shown);
    // A whole one counts, whichever comes first.
    let good = trace(
        "message(0x11, INFO, 1, \"sent %d\", \"net.rs:77\") group(1, \"app::Log::Net\", \"Net\")",
    );
    for inputs in [[&good, &bad], [&bad, &good]] {
        let inputs = inputs.map(|bytes| Input(bytes));
        let mut out = Vec::new();
        merge(&[&inputs[0], &inputs[1]], &mut out).unwrap();
        let log = Trace::from_bytes(out).read().unwrap();
        let location = log.entries().next().unwrap().message().unwrap().location.clone();
        assert_eq!((log.dictionary().conflicts(), location.as_str()), (0, "net.rs:77"));
    }
}
