//! Sessions that keep the newest or the first messages in memory: each message is in the trace or
//! counted as lost.

mod common;

use common::{Trace, lock_sessions, record, record_concurrently, wire};
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

/// Logs a message with its thread, its number and filler of varying length.
fn log(thread: usize, number: usize) {
    i!(
        Log::Work,
        "%d:%d %s",
        thread,
        number,
        &"................................"[..number * 7 % 32]
    );
}

/// The numbers in the trace by thread. Checks that each message is complete and each thread's
/// numbers ascend.
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

/// Checks that all losses have one cause, and that they and the messages add up to `sent`.
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
fn messages_that_fit_are_all_kept() {
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
fn a_ring_buffer_keeps_the_newest_messages() {
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
fn a_discard_buffer_keeps_the_first_messages() {
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
fn every_message_of_threads_that_share_a_ring_is_kept_or_counted() {
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
        let reported = trace.summary.messages + trace.summary.lost();
        assert!(before <= reported && reported <= (THREADS * COUNT) as u64, "{:?}", trace.summary);
        before = reported;
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
fn losses_are_reported_where_messages_are_missing() {
    let recording = record(newest);
    let (logged, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    thread::scope(|scope| {
        let slow = thread::Builder::new().name("slow".into());
        let body = || {
            // The thread keeps its first chunk. Later its messages have gaps where other threads
            // overwrote its chunks.
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
    let mut gaps = 0;
    for loss in read.losses().iter().filter(|loss| loss.count.is_some()) {
        let thread = read.thread_of(loss);
        assert!(thread.tid.is_some() && thread.name.is_some(), "{loss:?} is of {thread:?}");
        let of_thread = || read.entries().filter(|entry| entry.thread() == thread);
        let before = of_thread().filter(|entry| entry.time() < loss.time).count();
        let missing = of_thread().nth(before).map(|entry| entry.values().text(Rendering::Bare));
        // The gap is directly before the message that follows it: no kept message is in between.
        let first: u64 = missing.map_or(30_000, |text| {
            text.split([':', ' ']).nth(1).and_then(|number| number.parse().ok()).expect("a number")
        });
        let losses = read.losses().iter();
        let losses = losses.filter(|l| read.thread_of(l) == thread && l.time <= loss.time);
        let reported = before as u64 + losses.filter_map(|loss| loss.count).sum::<u64>();
        assert_eq!(first, reported, "{loss:?} before message {first}, after {before}");
        gaps += 1;
    }
    assert!(gaps >= 1, "{:?}", read.losses());
    // trace_processor reads the messages after a gap too.
    trace.messages();
}

#[test]
fn messages_of_ended_threads_are_counted_and_the_threads_forgotten() {
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
    assert!(threads.len() < 250, "the trace still has {} threads", threads.len());
}

#[test]
fn large_messages_are_complete_or_counted() {
    let recording = record(|session| newest(session).max_string_bytes(1000));
    let text = |seed: usize| -> String {
        (0..1000).map(|at| char::from(b'a' + ((seed + at) % 26) as u8)).collect()
    };
    let mut sent = 0u64;
    for number in 0..2_000usize {
        let t = text(number);
        // Two or three chunks; every third time a small message follows.
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
fn idle_threads_keep_their_messages_while_others_overwrite() {
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
fn a_ring_buffer_and_a_stream_run_at_once() {
    let stream = record(|session| session.group("Other", Level::Info).buffer_size(8 << 20));
    let ring = record_concurrently(|session| newest(session).group("Other", Level::Debug));
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
fn loss_counts_survive_overwriting() {
    let recording = record(|session| newest(session).max_string_bytes(100));
    i!(Log::Work, "0:0 %s", "x".repeat(200));
    (0..20_000).for_each(|number| log(0, number));
    let truncated =
        |trace: &Trace| trace.losses()[&(Log::Work.info().id, wire(LossCause::Truncated))];
    assert_eq!(truncated(&recording.snapshot()), 1);
    assert_eq!(truncated(&recording.snapshot()), 1);
    assert_eq!(truncated(&recording.stop()), 1, "though its chunk is overwritten");
}

#[test]
fn a_large_buffer_is_written_completely() {
    const COUNT: usize = 300_000;
    let recording = record(|session| {
        newest(session).keep_first().buffer_size(32 << 20).max_string_bytes(4 << 20)
    });
    let long = |number: usize| "abc".repeat(1 << 20) + &number.to_string();
    for number in 0..COUNT {
        log(0, number);
        if number == 100_000 {
            // Larger than one write.
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
fn a_ring_of_64_mib_keeps_as_much() {
    // Each in a chunk of 4 KiB: 55 MiB.
    const COUNT: usize = 14_000;
    let text = "0123456789".repeat(380);
    let recording = record(|session| newest(session).buffer_size(64 << 20));
    (0..COUNT).for_each(|number| i!(Log::Work, "%d %s", number, text.as_str()));
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (COUNT as u64, 0));
    assert_eq!(trace.summary.buffer.size, 64 << 20);
    let lines = trace.lines();
    assert_eq!(lines.len(), COUNT);
    for (number, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("INFO Work {number} 0123456789")), "message {number}");
    }
}

#[test]
fn the_largest_buffer_has_256_mib() {
    let recording = record(|session| newest(session).buffer_size(usize::MAX));
    i!(Log::Work, "in a large buffer");
    let trace = recording.stop();
    assert_eq!(trace.summary.buffer.size, 256 << 20);
    assert_eq!(trace.lines(), ["INFO Work in a large buffer"]);
}

#[test]
fn a_large_buffer_that_can_not_be_written_is_an_error() {
    let _lock = lock_sessions();
    let session = newest(Session::builder()).keep_first().buffer_size(8 << 20).file("/dev/full");
    let session = session.start().unwrap();
    (0..200_000).for_each(|number| log(0, number));
    let error = session.stop().unwrap_err();
    assert!(matches!(&error, Error::File { path, .. } if path.ends_with("full")), "{error}");
}

/// A directory has the name of the file, and goes, or another file is named.
#[test]
fn a_stop_that_failed_is_repeated() {
    let _lock = lock_sessions();
    for (record, elsewhere) in [(false, false), (true, false), (false, true), (true, true)] {
        let dir = temp_dir();
        let [path, other] = ["kept.pftrace", "other.pftrace"].map(|name| dir.path().join(name));
        let builder = newest(Session::builder()).file(&path);
        let builder =
            if record { builder.record_at(dir.path().join("recording")) } else { builder };
        let mut session = builder.start().unwrap();
        (0..3).for_each(|number| log(0, number));
        std::fs::create_dir(&path).unwrap();
        for _ in 0..2 {
            let error = session.try_stop().unwrap_err();
            assert!(matches!(error.error(), Error::File { .. }), "{error}");
            assert_eq!((error.summary().messages, error.summary().lost()), (3, 0));
            log(0, 3); // It is over.
        }
        assert_eq!(dir.path().join("recording").exists(), record);
        std::fs::remove_dir(&path).unwrap();
        let summary = if elsewhere { session.try_stop_at(&other) } else { session.try_stop() };
        assert_eq!(summary.unwrap().messages, 3);
        assert_eq!(session.try_stop().unwrap().messages, 0, "it has ended");
        drop(session);
        let file = if elsewhere { other } else { path };
        let log = protolog_reader::Trace::open(&file).unwrap().read().unwrap();
        assert_eq!(log.entries().count(), 3);
        let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(names.collect::<Vec<_>>(), [file], "nothing else stays");
    }
}

/// Nobody can remove a file on which another one is mounted.
struct Mounted(std::path::PathBuf);

impl Mounted {
    /// None without the rights.
    fn on(path: &std::path::Path) -> Option<Self> {
        let mut mount = std::process::Command::new("mount");
        let output = mount.arg("--bind").args([path, path]).output();
        output.is_ok_and(|it| it.status.success()).then(|| Self(path.to_path_buf()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_trace_is_written_once_though_its_recording_can_t_be_removed() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let [path, recording] = ["kept.pftrace", "recording"].map(|name| dir.path().join(name));
    let builder = newest(Session::builder()).file(&path).record_at(&recording).truncate();
    let mut session = builder.start().unwrap();
    (0..3).for_each(|number| log(0, number));
    let Some(mounted) = Mounted::on(&recording) else { return };
    let error = session.try_stop().unwrap_err();
    drop(mounted);
    assert_eq!(error.summary().messages, 3, "{error}");
    assert_eq!(session.try_stop().unwrap().messages, 0, "it has ended");
    drop(session);
    let log = protolog_reader::Trace::open(&path).unwrap().read().unwrap();
    assert_eq!(log.entries().count(), 3);
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let _lock = lock_sessions();
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

/// Of each thread, the numbers that a trace has are the newest, none missing, and those before them
/// are counted.
#[track_caller]
fn check_newest(trace: &Trace, sent: Option<usize>) {
    for (thread, numbers) in numbers(trace) {
        let (first, next) = (numbers[0], numbers[numbers.len() - 1] + 1);
        assert_eq!(numbers, (first..next).collect::<Vec<_>>(), "thread {thread}: without a hole");
        assert!(sent.is_none_or(|sent| sent == next), "thread {thread}: up to the last one");
    }
    let overwritten = wire(LossCause::Overwritten);
    assert!(trace.losses().keys().all(|(_, cause)| *cause == overwritten));
}

/// Threads that are preempted anywhere, and log at various rates: each gives way after so many
/// messages.
#[test]
fn a_ring_keeps_the_newest_of_all_threads() {
    const SENT: usize = 30_000;
    for size in [64 << 10, 256 << 10] {
        let recording = record(|session| newest(session).buffer_size(size));
        thread::scope(|scope| {
            for thread in 0..12 {
                scope.spawn(move || {
                    for number in 0..SENT {
                        log(thread, number);
                        if thread > 5 && number % (10 * thread) == 0 {
                            thread::yield_now();
                        }
                    }
                });
            }
            for _ in 0..4 {
                check_newest(&recording.snapshot(), None);
            }
        });
        let last = recording.stop();
        check_newest(&last, Some(SENT));
        check_losses(&last, LossCause::Overwritten, 12 * SENT as u64);
    }
}
