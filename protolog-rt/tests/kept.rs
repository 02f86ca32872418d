//! Sessions that keep the newest or the first messages: what is in the trace is right, and what is not is counted.

mod common;

use common::{Trace, alone, record, record_beside, wire};
use protolog_reader::Rendering;
use protolog_rt::{Builder, Error, Level, LossCause, ProtoLogGroup, Session, d, i};
use protolog_testkit::temp_dir;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Other,
}

fn newest(session: Builder) -> Builder {
    session.group("Work", Level::Info).keep_newest().buffer_size(64 << 10)
}

/// A message that says where it is from, of a length that varies.
fn log(thread: usize, number: usize) {
    i!(
        Log::Work,
        "%d:%d %s",
        thread,
        number,
        &"................................"[..number * 7 % 32]
    );
}

/// The numbers in the trace by thread; each message whole, each thread's in order.
#[track_caller]
fn numbers(trace: &Trace) -> HashMap<usize, Vec<usize>> {
    let mut numbers: HashMap<usize, Vec<usize>> = HashMap::new();
    let lines = trace.messages();
    assert_eq!(lines.len() as u64, trace.summary.messages);
    for line in lines {
        let text = line.strip_prefix("INFO Work ").expect("the group");
        let (thread, rest) = text.split_once(':').expect("a thread");
        let (number, filler) = rest.split_once(' ').expect("a filler");
        let number: usize = number.parse().expect("a number");
        assert_eq!(filler, ".".repeat(number * 7 % 32), "{text}");
        numbers.entry(thread.parse().expect("a thread")).or_default().push(number);
    }
    assert!(numbers.values().all(|all| all.is_sorted_by(|a, b| a < b)));
    numbers
}

/// The only losses are those of one cause, as many as are missing of `sent`.
#[track_caller]
fn check_losses(trace: &Trace, cause: LossCause, sent: u64) {
    let losses: BTreeMap<u32, u64> =
        trace.losses().into_iter().fold(BTreeMap::new(), |mut all, ((_, cause), count)| {
            *all.entry(cause).or_default() += count;
            all
        });
    let missing = sent - trace.summary.messages;
    let expected: Vec<_> = (missing > 0).then_some((wire(cause), missing)).into_iter().collect();
    assert_eq!(losses.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn what_fits_is_all_there() {
    let recording = record(newest);
    (0..100).for_each(|number| log(0, number));
    let snapshot = recording.snapshot();
    (100..200).for_each(|number| log(0, number));
    let second = recording.snapshot();
    let last = recording.stop();
    for (trace, count) in [(snapshot, 100), (second, 200), (last, 200)] {
        assert_eq!(numbers(&trace)[&0], (0..count).collect::<Vec<_>>());
        check_losses(&trace, LossCause::Overwritten, count as u64);
    }
}

#[test]
fn the_newest_stay() {
    let recording = record(newest);
    (0..100_000).for_each(|number| log(0, number));
    let snapshot = recording.snapshot();
    (100_000..150_000).for_each(|number| log(0, number));
    let last = recording.stop();
    for (trace, end) in [(snapshot, 100_000), (last, 150_000)] {
        let numbers = &numbers(&trace)[&0];
        assert!(numbers.len() > 1000, "64 KiB hold more than {}", numbers.len());
        assert_eq!(*numbers, (end - numbers.len()..end).collect::<Vec<_>>(), "without a hole");
        check_losses(&trace, LossCause::Overwritten, end as u64);
    }
}

#[test]
fn the_first_stay() {
    let recording = record(|session| newest(session).keep_first());
    (0..50_000).for_each(|number| log(0, number));
    let snapshot = recording.snapshot();
    (50_000..100_000).for_each(|number| log(0, number));
    thread::spawn(|| log(1, 0)).join().unwrap();
    let last = recording.stop();
    for (trace, sent) in [(snapshot, 50_000), (last, 100_001)] {
        let numbers = &numbers(&trace)[&0];
        assert!(numbers.len() > 1000);
        assert_eq!(*numbers, (0..numbers.len()).collect::<Vec<_>>(), "without a hole");
        check_losses(&trace, LossCause::BufferFull, sent);
        let full = trace.losses()[&(Log::Work.info().id, wire(LossCause::BufferFull))];
        assert_eq!(full, sent - trace.summary.messages, "by group");
    }
}

#[test]
fn threads_share_a_ring_and_every_message_is_there_or_counted() {
    const THREADS: usize = 6;
    const COUNT: usize = 30_000;
    let recording = record(|session| newest(session).buffer_size(256 << 10));
    let left = &AtomicUsize::new(THREADS);
    let mut snapshots = Vec::new();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                (0..COUNT).for_each(|number| log(thread, number));
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while left.load(Ordering::Relaxed) > 0 && snapshots.len() < 30 {
            snapshots.push(recording.snapshot());
        }
    });
    snapshots.push(recording.snapshot());
    let last = recording.stop();
    let mut before = 0;
    for (index, trace) in snapshots.iter().enumerate() {
        let told = trace.summary.messages + trace.summary.lost();
        assert!(before <= told && told <= (THREADS * COUNT) as u64, "{:?}", trace.summary);
        before = told;
        trace.losses();
        if index % 8 == 0 {
            numbers(trace);
        }
    }
    let snapshot = snapshots.pop().expect("a snapshot");
    for trace in [snapshot, last] {
        check_losses(&trace, LossCause::Overwritten, (THREADS * COUNT) as u64);
        numbers(&trace);
    }
}

#[test]
fn what_is_missing_is_told_where_it_is_missing() {
    let recording = record(newest);
    let (logged, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    thread::scope(|scope| {
        let slow = thread::Builder::new().name("slow".into());
        let body = || {
            // A chunk of its own, which it keeps; then it goes round, with holes where others took what it had given back.
            log(1, 0);
            logged.wait();
            go_on.wait();
            (1..30_000).for_each(|number| log(1, number));
        };
        slow.spawn_scoped(scope, body).unwrap();
        logged.wait();
        (0..30_000).for_each(|number| log(0, number));
        go_on.wait();
    });
    let trace = recording.stop();
    check_losses(&trace, LossCause::Overwritten, 60_000);
    let read = trace.log();
    let mut holes = 0;
    for loss in read.losses().iter().filter(|loss| loss.count.is_some()) {
        let thread = read.thread_of(loss);
        assert!(thread.tid.is_some() && thread.name.is_some(), "{loss:?} is of {thread:?}");
        let of_thread = || read.entries().filter(|entry| entry.thread() == thread);
        let before = of_thread().filter(|entry| entry.time() < loss.time).count();
        let missing = of_thread().nth(before).map(|entry| entry.values().text(Rendering::Bare));
        // Nothing that is there was logged between what is missing and what it stands before.
        let first: u64 = missing.map_or(30_000, |text| {
            text.split([':', ' ']).nth(1).and_then(|number| number.parse().ok()).expect("a number")
        });
        let losses = read.losses().iter();
        let losses = losses.filter(|l| read.thread_of(l) == thread && l.time <= loss.time);
        let told = before as u64 + losses.filter_map(|loss| loss.count).sum::<u64>();
        assert_eq!(first, told, "{loss:?} before message {first}, after {before}");
        holes += 1;
    }
    assert!(holes >= 1, "{:?}", read.losses());
    // Perfetto has every message behind a hole too.
    trace.messages();
}

#[test]
fn threads_that_are_long_gone_are_counted_and_forgotten() {
    let recording = record(newest);
    let mut sent = 0u64;
    for thread in 0..300 {
        thread::spawn(move || (0..50).for_each(|number| log(thread, number))).join().unwrap();
        sent += 50;
        if thread % 50 == 0 {
            (0..5_000).for_each(|number| log(1_000 + thread, number));
            sent += 5_000;
        }
    }
    let trace = recording.stop();
    check_losses(&trace, LossCause::Overwritten, sent);
    numbers(&trace);
    let threads = trace.packets().into_iter().filter_map(|packet| Some(packet.info?.1));
    let threads: std::collections::HashSet<u32> = threads.collect();
    assert!(threads.len() < 250, "{} threads are still known", threads.len());
}

#[test]
fn large_messages_are_whole_or_counted() {
    let recording = record(|session| newest(session).max_text(1000));
    let text = |seed: usize| -> String {
        (0..1000).map(|at| char::from(b'a' + ((seed + at) % 26) as u8)).collect()
    };
    let mut sent = 0u64;
    for number in 0..2_000usize {
        let t = text(number);
        // Two chunks or three, now and then a small one.
        i!(Log::Work, "%d %s %s %s %s %s %s", number, t, t, t, t, t, t);
        if number % 3 == 0 {
            i!(Log::Work, "%d", number);
            sent += 1;
        }
        sent += 1;
        if number % 500 == 77 {
            let snapshot = recording.snapshot();
            check_losses(&snapshot, LossCause::Overwritten, sent);
            snapshot.messages();
        }
    }
    let trace = recording.stop();
    check_losses(&trace, LossCause::Overwritten, sent);
    let lines = trace.messages();
    assert!(lines.len() > 5);
    for line in lines {
        let words: Vec<&str> = line.split(' ').skip(2).collect();
        let number: usize = words[0].parse().unwrap();
        assert!(words[1..].iter().all(|word| *word == text(number)), "{line}");
        assert!(matches!(words.len(), 1 | 7), "{line}");
    }
}

#[test]
fn idle_threads_keep_their_messages_while_others_go_round() {
    let recording = record(newest);
    let (logged, done) = (std::sync::Barrier::new(9), std::sync::Barrier::new(9));
    thread::scope(|scope| {
        for thread in 1..9 {
            let (logged, done) = (&logged, &done);
            scope.spawn(move || {
                log(thread, 0);
                logged.wait();
                done.wait();
                log(thread, 1);
            });
        }
        logged.wait();
        (0..50_000).for_each(|number| log(0, number));
        let snapshot = recording.snapshot();
        let numbers = numbers(&snapshot);
        assert!((1..9).all(|thread| numbers[&thread] == [0]), "{:?}", numbers.keys());
        check_losses(&snapshot, LossCause::Overwritten, 50_008);
        done.wait();
    });
    check_losses(&recording.stop(), LossCause::Overwritten, 50_016);
}

#[test]
fn a_ring_beside_a_stream() {
    let stream = record(|session| session.group("Other", Level::Info).buffer_size(8 << 20));
    let ring = record_beside(|session| newest(session).group("Other", Level::Debug));
    for number in 0..20_000usize {
        log(0, number);
        d!(Log::Other, "debug");
        if number % 10 == 0 {
            i!(Log::Other, "info");
        }
    }
    let ring = ring.stop();
    check_losses(&ring, LossCause::Overwritten, 42_000);
    ring.messages();
    let stream = stream.stop();
    assert_eq!((stream.summary.messages, stream.summary.lost()), (2_000, 0));
}

#[test]
fn losses_of_other_kinds_survive_the_ring() {
    let recording = record(|session| newest(session).max_text(100));
    i!(Log::Work, "0:0 %s", "x".repeat(200));
    (0..20_000).for_each(|number| log(0, number));
    let cut = |trace: &Trace| trace.losses()[&(Log::Work.info().id, wire(LossCause::Truncated))];
    assert_eq!(cut(&recording.snapshot()), 1);
    assert_eq!(cut(&recording.snapshot()), 1);
    assert_eq!(cut(&recording.stop()), 1, "though the chunk that had it is gone");
}

#[test]
fn much_is_written_whole() {
    const COUNT: usize = 300_000;
    let recording =
        record(|session| newest(session).keep_first().buffer_size(32 << 20).max_text(4 << 20));
    let long = |number: usize| "abc".repeat(1 << 20) + &number.to_string();
    for number in 0..COUNT {
        log(0, number);
        if number == 100_000 {
            // Larger than what is written at once.
            i!(Log::Work, "long %s", long(number));
        }
    }
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (COUNT as u64 + 1, 0));
    assert_eq!(trace.summary.bytes, std::fs::metadata(&trace.path).unwrap().len());
    let mut lines = trace.lines();
    assert_eq!(lines.remove(100_001), format!("INFO Work long {}", long(100_000)));
    for (number, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("INFO Work 0:{number} ")), "{line}");
    }
    trace.check_stats();
}

#[test]
fn much_that_can_not_be_written_is_an_error() {
    let _alone = alone();
    let session = newest(Session::builder()).keep_first().buffer_size(8 << 20).file("/dev/full");
    let session = session.start().unwrap();
    (0..200_000).for_each(|number| log(0, number));
    let error = session.stop().unwrap_err();
    assert!(matches!(&error, Error::File { path, .. } if path.ends_with("full")), "{error}");
}

#[test]
fn files_are_whole_or_not_there() {
    let _alone = alone();
    let dir = temp_dir();
    let path = dir.path().join("kept.pftrace");
    let session = newest(Session::builder()).file(&path).start().unwrap();
    log(0, 0);
    let error = session.snapshot(dir.path().join("no/such")).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing yet");
    session.flush().unwrap();
    drop(session);
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(names, [path]);
    let missing = dir.path().join("missing/kept.pftrace");
    let refused = newest(Session::builder()).file(missing).start().unwrap_err();
    assert!(matches!(refused, Error::File { .. }), "{refused}");
    let full = newest(Session::builder()).file("/dev/full").start().unwrap();
    assert!(full.stop().is_err());
    let stream = Session::builder().file(dir.path().join("stream")).start().unwrap();
    let refused = stream.snapshot(dir.path().join("snapshot")).unwrap_err();
    assert_eq!(refused.to_string(), "a snapshot of a session that keeps nothing");
}
