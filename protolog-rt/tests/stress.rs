//! Many short-lived threads that share the smallest buffer: each message is in the trace once,
//! complete and in the order of its thread, or is counted by group and cause.
//!
//! Takes a few seconds; `PROTOLOG_STRESS_SECONDS` makes it longer.

mod common;

use common::{Trace, record, wire};
use protolog_reader::{Arg, Trace as TraceFile};
use protolog_rt::{Level, LossCause, ProtoLogGroup, d, w};
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Small,
    Large,
}

/// Number of concurrent threads.
const THREADS: u64 = 8;

/// Number of messages that the threads logged, by group.
#[derive(Default)]
struct Sent {
    small: AtomicU64,
    large: AtomicU64,
}

/// The string of message `number` of `thread`, of `length` bytes. A torn or mixed one differs from
/// it.
fn pattern(thread: u64, number: u64, length: usize) -> String {
    let start = thread * 31 + number * 7;
    (0..length as u64).map(|at| char::from(b'!' + ((start + at) % 90) as u8)).collect()
}

fn length(thread: u64, number: u64) -> usize {
    ((thread * 131 + number * 7919) % 97) as usize
}

/// Logs a few hundred messages as thread `thread`.
fn work(thread: u64, sent: &Sent) {
    for number in 0..100 + thread * 37 % 1_500 {
        if (thread + number) % 61 == 0 {
            // Longer than a chunk.
            let part = pattern(thread, number, 900 + length(thread, number));
            w!(Log::Large, "%d %d %s %s %s %s %s", thread, number, part, part, part, part, part);
            sent.large.fetch_add(1, Ordering::Relaxed);
        } else {
            let part = pattern(thread, number, length(thread, number));
            d!(Log::Small, "%d %d %s", thread, number, part);
            sent.small.fetch_add(1, Ordering::Relaxed);
        }
        if number % 32 == thread % 32 {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Number of messages in the trace by group. Checks that each is complete and in the order of its
/// thread.
fn received(trace: &Trace) -> BTreeMap<String, u64> {
    let log = TraceFile::open(&trace.path).expect("open the trace").read().expect("read the trace");
    let mut last: HashMap<i64, i64> = HashMap::new();
    let mut counts = BTreeMap::new();
    for entry in log.entries() {
        let values = entry.values();
        let args = values.args();
        let [Arg::Int(thread), Arg::Int(number), texts @ ..] = args.as_slice() else {
            panic!("torn: {args:?}");
        };
        let large = texts.len() > 1;
        let size = length(*thread as u64, *number as u64) + if large { 900 } else { 0 };
        let expected = pattern(*thread as u64, *number as u64, size);
        assert!(texts.iter().all(|text| *text == Arg::Str(&expected)), "torn: {args:?}");
        let before = last.insert(*thread, *number);
        assert!(before < Some(*number), "thread {thread}: {before:?} before {number}");
        let group = if large { Log::Large } else { Log::Small };
        *counts.entry(group.info().name.to_owned()).or_default() += 1;
    }
    assert_eq!(counts.values().sum::<u64>(), trace.summary.messages);
    counts
}

fn round(first: u64, until: Instant) -> (u64, u64) {
    let sent = Sent::default();
    let recording = record(|session| session.log_from(Level::Debug).buffer_size(64 << 10));
    thread::scope(|scope| {
        for lane in 0..THREADS {
            let sent = &sent;
            scope.spawn(move || {
                let mut thread = first + lane;
                // One thread after the other, each with its own sequence.
                while Instant::now() < until {
                    thread::scope(|inner| inner.spawn(|| work(thread, sent)).join().unwrap());
                    thread += THREADS;
                }
            });
        }
    });
    let trace = recording.stop();
    let received = received(&trace);
    let losses = trace.losses();
    assert!(losses.keys().all(|(_, cause)| *cause == wire(LossCause::BufferFull)), "{losses:?}");
    for (group, sent) in [(Log::Small, sent.small), (Log::Large, sent.large)] {
        let info = group.info();
        let lost = losses.get(&(info.id, wire(LossCause::BufferFull))).copied().unwrap_or(0);
        let arrived = received.get(info.name).copied().unwrap_or(0);
        assert_eq!(arrived + lost, sent.into_inner(), "{}: {arrived} and {lost} lost", info.name);
    }
    (trace.summary.messages, trace.summary.lost())
}

#[test]
fn every_message_arrives_or_is_counted() {
    let seconds = env::var("PROTOLOG_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs_f64(seconds.unwrap_or(3.0));
    let (mut messages, mut lost, mut rounds) = (0, 0, 0);
    while Instant::now() < end || messages < 1_000 {
        let until = Instant::now() + Duration::from_millis(150);
        let (arrived, missing) = round(rounds * 1_000_000, until);
        (messages, lost, rounds) = (messages + arrived, lost + missing, rounds + 1);
    }
    println!("{messages} messages and {lost} lost in {rounds} rounds");
}
