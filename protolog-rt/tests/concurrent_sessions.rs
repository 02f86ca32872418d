//! Sessions of every kind that start and stop concurrently while threads log. Each gets the
//! messages that it enabled and no others, each thread's in order, with every gap counted.

mod common;

use common::{SetOnDrop, TestSession, record, record_concurrently};
use protolog_reader::Trace as TraceFile;
use protolog_rt::{Builder, Level, ProtoLogGroup, Summary, d, i};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Load,
    Noise,
}

const THREADS: usize = 3;

const KINDS: [fn(Builder) -> Builder; 6] = [
    |session| session.buffer_size(64 << 10),
    |session| session.buffer_size(64 << 10).wait_at_most(Duration::from_secs(60)),
    |session| session.buffer_size(64 << 10).keep_newest(),
    |session| session.buffer_size(64 << 10).keep_first(),
    |session| session.segment_bytes(100 << 10).wait_at_most(Duration::from_secs(60)),
    |session| session.segment_age(Duration::from_millis(3)),
];

/// The numbers by thread in all files of a session, in the order of the files.
fn numbers(dir: &Path) -> HashMap<usize, Vec<u64>> {
    let mut numbers: HashMap<usize, Vec<u64>> = HashMap::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).expect("list").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let log = TraceFile::open(&path).expect("open the trace").read().expect("read the trace");
        assert_eq!(log.stats().unknown_messages, 0);
        for entry in log.entries() {
            let text = entry.values().text(protolog_reader::Rendering::Bare);
            let (thread, number) = text.split_once(':').expect("a message of `Load`");
            let number = number.parse().expect("a number");
            numbers.entry(thread.parse().expect("a thread")).or_default().push(number);
        }
    }
    numbers
}

/// Stops and checks a session during which at most `logged` messages were logged.
#[track_caller]
fn check(kind: usize, recording: TestSession, logged: impl FnOnce() -> u64) -> Summary {
    let dir = recording.path.parent().expect("a directory").to_path_buf();
    let trace = recording.stop();
    let (numbers, summary) = (numbers(&dir), &trace.summary);
    let count: usize = numbers.values().map(Vec::len).sum();
    assert_eq!(count as u64, summary.messages, "kind {kind}");
    assert!(summary.messages + summary.lost() <= logged(), "kind {kind}: {summary:?}");
    let mut gaps = 0;
    for (thread, numbers) in numbers {
        for pair in numbers.windows(2) {
            assert!(pair[0] < pair[1], "kind {kind}, thread {thread}: {pair:?}");
            gaps += pair[1] - pair[0] - 1;
        }
    }
    assert!(gaps <= summary.lost(), "kind {kind}: {gaps} are missing, {summary:?}");
    trace.summary.clone()
}

#[test]
fn each_session_gets_the_messages_it_enabled() {
    let steady = record(|session| {
        session
            .group("Load", Level::Info)
            .buffer_size(8 << 20)
            .wait_at_most(Duration::from_secs(60))
    });
    let (sent, done) = (&AtomicU64::new(0), &AtomicBool::new(false));
    thread::scope(|scope| {
        let end = SetOnDrop(done);
        for thread in 0..THREADS {
            scope.spawn(move || {
                let mut number = 0u64;
                while !done.load(Ordering::Relaxed) {
                    // Counted first, so that no session has more messages than `sent`.
                    sent.fetch_add(1, Ordering::SeqCst);
                    i!(Log::Load, "%d:%d", thread, number);
                    d!(Log::Load, "no session enables this level");
                    d!(Log::Noise, "no session enables this group, %d", number);
                    number += 1;
                    if number % 100 == 0 {
                        thread::sleep(Duration::from_micros(500));
                    }
                }
            });
        }
        thread::scope(|inner| {
            // Two sessions of different kinds run at a time.
            for lane in 0..2usize {
                inner.spawn(move || {
                    for round in 0..12 {
                        let kind = (round + 3 * lane) % KINDS.len();
                        let before = sent.load(Ordering::SeqCst);
                        let other = record_concurrently(|session| {
                            KINDS[kind](session.group("Load", Level::Info))
                        });
                        thread::sleep(Duration::from_millis(5 + 7 * (round as u64 % 3)));
                        let slack = THREADS as u64;
                        let summary =
                            check(kind, other, || sent.load(Ordering::SeqCst) - before + slack);
                        // `stop` ends every stall, and the stalled messages are lost.
                        let waits = matches!(kind, 1 | 4);
                        let allowed = if waits { THREADS as u64 } else { u64::MAX };
                        assert!(summary.lost() <= allowed, "kind {kind}: {summary:?}");
                    }
                });
            }
        });
        drop(end);
    });
    let sent = sent.load(Ordering::SeqCst);
    let summary = check(usize::MAX, steady, || sent);
    assert_eq!((summary.messages, summary.lost()), (sent, 0));
}
