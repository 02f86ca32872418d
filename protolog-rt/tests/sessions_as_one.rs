//! Traces of several sessions of one program, merged: each message and each span is there once, as
//! in a trace that has all of them, also in Perfetto's trace_processor.
#![allow(unsafe_code)] // fork

mod common;
#[path = "common/fork.rs"]
mod fork;
#[path = "common/spans.rs"]
mod spans;

use common::{SetOnDrop, Trace, record, record_concurrently};
use fork::{has_process_of_its_own, spawn, wait};
use protolog_reader::{MergeInput, Recording, merge};
use protolog_rt::{Builder, Level, Pinned, ProtoLogGroup, Session, Summary, d, i, span, w};
use protolog_testkit::temp_dir;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Disk,
}

struct Input(PathBuf);

impl MergeInput for Input {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(std::fs::File::open(&self.0)?))
    }
}

/// Merges traces.
fn merged(paths: &[&Path]) -> (Trace, u64) {
    let inputs: Vec<Input> = paths.iter().map(|path| Input(path.to_path_buf())).collect();
    let inputs: Vec<&dyn MergeInput> = inputs.iter().map(|input| input as _).collect();
    let (dir, mut bytes) = (temp_dir(), Vec::new());
    let found = merge(&inputs, &mut bytes).expect("a merge");
    assert_eq!((found.truncated.len(), found.malformed, found.damaged_bytes), (0, 0, 0));
    let path = dir.path().join("merged.pftrace");
    std::fs::write(&path, bytes).expect("write");
    (Trace::of(path, Summary::default(), dir), found.duplicates)
}

/// Logs in all ways on this thread.
fn log(round: u32) {
    let request = span!(Log::Net, "request %d of %s", round, "a host");
    for number in 0..40 {
        let _inner = span!(Log::Disk, "read %d", block = number);
        d!(Log::Net, "%d: a number", number);
        i!(Log::Disk, "%d: %s", round, &format!("a text of its own {number}"));
        // Equal ones, one after the other.
        w!(Log::Net, "again");
        w!(Log::Net, "again");
    }
    // Longer than a chunk.
    i!(Log::Disk, "%d: %s", round, &"long ".repeat(3000));
    drop(request);
}

/// Logs on several threads at a time.
fn log_on_threads(round: u32) {
    thread::scope(|scope| {
        (0..3).for_each(|at| _ = scope.spawn(move || log(10 * round + at)));
    });
}

fn complete(session: Builder) -> Builder {
    session.enable_all().buffer_size(1 << 20).wait_at_most(Duration::from_secs(60))
}

/// Checks that traces, of which `whole` has all, are that when they are merged.
#[track_caller]
fn check(whole: &Trace, other: &Trace) {
    let (messages, slices) = (whole.messages(), spans::slices(whole));
    let texts = other.messages();
    assert!(!texts.is_empty());
    let orders = [[whole, other], [other, whole]];
    for order in orders {
        let (merged, duplicates) = merged(&order.map(|trace| trace.path.as_path()));
        assert_eq!(merged.messages(), messages);
        assert_eq!(spans::slices(&merged), slices);
        assert_eq!(duplicates, texts.len() as u64);
        let log = spans::read(&merged);
        assert!(log.slices().iter().all(|slice| slice.duration().is_some()));
    }
}

/// Logs while two sessions run; the second one misses what comes before it starts.
#[track_caller]
fn check_beside(configure: impl FnOnce(Builder) -> Builder) {
    let whole = record(complete);
    log(1);
    let around = span!(Log::Net, "around the start");
    let other = record_concurrently(configure);
    log(2);
    log_on_threads(3);
    let other = other.stop();
    log(4);
    drop(around);
    let whole = whole.stop();
    assert_eq!(whole.summary.lost(), 0);
    check(&whole, &other);
}

#[test]
fn a_ring_beside_a_stream() {
    check_beside(|session| session.enable_all().keep_newest().buffer_size(1 << 20));
}

#[test]
fn a_ring_that_has_the_newest_only() {
    check_beside(|session| session.enable_all().keep_newest().buffer_size(64 << 10));
}

#[test]
fn one_that_drops_what_has_no_room() {
    check_beside(|session| session.enable_all().keep_first().buffer_size(64 << 10));
}

#[test]
fn a_ring_with_pinned_messages() {
    let pinned = Pinned::new().level(Level::Info);
    check_beside(|session| session.enable_all().keep_newest().buffer_size(1 << 20).pin(pinned));
}

#[test]
fn a_stream_of_some_levels() {
    check_beside(|session| session.group("Net", Level::Warn).group("Disk", Level::Debug));
}

#[test]
fn a_recording_beside_a_ring() {
    let whole = record(|session| session.enable_all().keep_newest().buffer_size(4 << 20));
    let dir = temp_dir();
    let recording = dir.path().join("app.rec");
    let other = Session::builder().enable_all().record_at(&recording).start().expect("start");
    log_on_threads(1);
    // As after the program was killed.
    let mut bytes = Vec::new();
    let left = std::fs::read(&recording).expect("read");
    Recording::parse(&left).expect("a recording").write(&mut bytes).expect("recover");
    let summary = other.stop().expect("stop");
    let path = dir.path().join("recovered.pftrace");
    std::fs::write(&path, bytes).expect("write");
    check(&whole.stop(), &Trace::of(path, summary, dir));
}

/// Spans and events of `tracing`, by the bridge.
#[cfg(feature = "tracing")]
#[test]
fn spans_of_tracing() {
    use tracing_subscriber::layer::SubscriberExt as _;

    let whole = record(complete);
    let other = record_concurrently(|session| session.enable_all().keep_newest());
    let subscriber = tracing_subscriber::registry().with(protolog_rt::bridge::tracing_layer());
    tracing::subscriber::with_default(subscriber, || {
        for number in 0..30 {
            let request = tracing::info_span!("request", number, path = "/index");
            for part in 0..3 {
                let _entered = request.enter();
                tracing::info!(part, "sent");
                tracing::info_span!("inner", text = "a text").in_scope(|| tracing::warn!("slow"));
            }
        }
    });
    let other = other.stop();
    check(&whole.stop(), &other);
}

/// What two sessions that lose each their own part have together.
#[test]
fn each_has_what_the_other_one_lost() {
    let whole = record(complete);
    let early = record_concurrently(|session| session.enable_all().keep_first());
    log(1);
    let late = record_concurrently(|session| session.enable_all().keep_newest());
    log(2);
    let early = early.stop();
    log(3);
    let late = late.stop();
    let whole = whole.stop();
    for order in [[&early, &late], [&late, &early]] {
        let (merged, duplicates) = merged(&order.map(|trace| trace.path.as_path()));
        assert_eq!(merged.messages(), whole.messages());
        assert_eq!(spans::slices(&merged), spans::slices(&whole));
        assert_eq!(duplicates, 161);
    }
}

/// The segments of a session that has ended, in their order.
fn segments(trace: &Trace) -> Vec<PathBuf> {
    let dir = std::fs::read_dir(trace.path.parent().expect("a directory")).expect("list");
    let mut segments: Vec<PathBuf> = dir.map(|entry| entry.expect("an entry").path()).collect();
    segments.sort();
    assert!(segments.len() > 2, "{segments:?}");
    segments
}

/// Checks that these traces together are the one that has all.
#[track_caller]
fn check_paths(whole: &Trace, parts: &[&Path]) {
    let (all, _) = merged(parts);
    assert_eq!(all.messages(), whole.messages());
    assert_eq!(spans::slices(&all), spans::slices(whole));
}

#[test]
fn segments_of_one_or_both() {
    let whole = record(complete);
    let by_size = record_concurrently(|session| complete(session).segment_bytes(24 << 10));
    let age = Duration::from_millis(10);
    let by_age = record_concurrently(|session| complete(session).segment_age(age));
    for round in 0..4 {
        log_on_threads(round);
        thread::sleep(age * 2);
    }
    let (by_size, by_age) = (by_size.stop(), by_age.stop());
    let whole = whole.stop();
    assert_eq!(whole.summary.lost(), 0);
    let (by_size, by_age) = (segments(&by_size), segments(&by_age));
    let of_both: Vec<&Path> = by_size.iter().chain(&by_age).map(PathBuf::as_path).collect();
    check_paths(&whole, &of_both);
    let beside: Vec<&Path> = [whole.path.as_path()].into_iter().chain(of_both).collect();
    check_paths(&whole, &beside);
    // What one of them has removed, the other one has.
    let holes: Vec<&Path> =
        by_size.iter().step_by(2).chain(&by_age).map(PathBuf::as_path).collect();
    check_paths(&whole, &holes);
}

/// Time and text of each message: several threads may log in one nanosecond.
fn timed(trace: &Trace) -> Vec<(i64, String)> {
    let times: Vec<i64> = trace.log().entries().map(|entry| entry.time()).collect();
    let mut timed: Vec<_> = times.into_iter().zip(trace.lines()).collect();
    timed.sort();
    timed
}

/// Sessions that start and stop while several threads log.
#[test]
fn sessions_that_come_and_go() {
    let whole = record(complete);
    let is_over = AtomicBool::new(false);
    let others = thread::scope(|scope| {
        let _over = SetOnDrop(&is_over);
        for worker in 0..3 {
            let is_over = &is_over;
            scope.spawn(move || {
                for number in 0_u64.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let _span = span!(Log::Net, "worker %d", worker);
                    d!(Log::Net, "%d of %d", number, worker);
                    i!(Log::Disk, "%d: %s", number, &format!("text {number}"));
                    if number % 16 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
        let start = |ring: bool| {
            let configure = |session: Builder| {
                if ring {
                    session.enable_all().keep_newest().buffer_size(64 << 10)
                } else {
                    complete(session)
                }
            };
            let session = record_concurrently(configure);
            thread::sleep(Duration::from_millis(2));
            session
        };
        let mut others = Vec::new();
        for round in 0..8 {
            let [first, second] = [start(round % 2 == 0), start(round % 3 == 0)];
            others.push(first.stop());
            others.push(second.stop());
        }
        others
    });
    let whole = whole.stop();
    assert_eq!(whole.summary.lost(), 0);
    whole.messages();
    let (messages, mut slices) = (timed(&whole), spans::slices(&whole));
    slices.sort();
    let of_others: usize = others.iter().map(|other| other.lines().len()).sum();
    assert!(of_others > 1000, "{of_others}");
    let mut paths: Vec<&Path> = others.iter().map(|other| other.path.as_path()).collect();
    for at in [0, paths.len()] {
        paths.insert(at, &whole.path);
        let (all, duplicates) = merged(&paths);
        all.messages();
        let (found, mut found_slices) = (timed(&all), spans::slices(&all));
        found_slices.sort();
        let differs = found.iter().zip(&messages).find(|(found, expected)| found != expected);
        assert_eq!(differs, None, "of {} messages, of {}", found.len(), messages.len());
        assert_eq!((found.len(), duplicates), (messages.len(), of_others as u64));
        assert!(found_slices == slices, "{} slices, of {}", found_slices.len(), slices.len());
        paths.remove(at);
    }
}

#[test]
fn children_that_both_sessions_follow() {
    if !has_process_of_its_own("children_that_both_sessions_follow") {
        return;
    }
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    let start = |name, level| {
        let session = Session::builder().file(path(name)).log_from(level).buffer_size(1 << 20);
        let session = session.wait_at_most(Duration::from_secs(60)).follow_forks();
        session.start().expect("start")
    };
    let mut all = Some(start("all.pftrace", Level::Verbose));
    let mut some = Some(start("some.pftrace", Level::Info));
    log(1);
    let mut end = || {
        let [all, some] = [&mut all, &mut some].map(|it| it.take().expect("a session").stop());
        let [all, some] = [all, some].map(|summary| summary.expect("stop"));
        (all, some)
    };
    let child = spawn(fork::fork, || {
        log(2);
        log_on_threads(3);
        let (all, some) = end();
        all.lost() == 0 && some.messages > 0
    });
    log(4);
    wait(child);
    log(5);
    let (summary, _) = end();
    assert_eq!(summary.lost(), 0);
    let named = |name: &str| path(name);
    let both = |all: &str, some: &str| {
        let whole = Trace::of(named(all), Summary::default(), temp_dir());
        let other = Trace::of(named(some), Summary::default(), temp_dir());
        check(&whole, &other);
        whole
    };
    let parent = both("all.pftrace", "some.pftrace");
    let of_child = [format!("all-{child}.pftrace"), format!("some-{child}.pftrace")];
    let child = both(&of_child[0], &of_child[1]);
    let (alone, duplicates) = merged(&[&parent.path, &child.path]);
    assert_eq!(duplicates, 0);
    let others = [&of_child[1], "some.pftrace"].map(named);
    check_paths(&alone, &[&others[0], &parent.path, &child.path, &others[1]]);
}

/// The texts of a trace, each with whether it has a stack trace.
fn with_stacks(trace: &Trace) -> Vec<(String, bool)> {
    let log = trace.log();
    let has_stack = |entry: protolog_reader::Entry<'_>| entry.stack_trace().is_some();
    trace.lines().into_iter().zip(log.entries().map(has_stack)).collect()
}

/// Logs while two sessions run, and checks what both have of messages of which one has more.
#[track_caller]
fn check_unequal(
    whole: impl FnOnce(Builder) -> Builder,
    other: impl FnOnce(Builder) -> Builder,
    expected: impl Fn((String, bool), Option<&(String, bool)>) -> (String, bool),
) {
    let whole = record(|session| whole(complete(session)));
    log(1);
    let other = record_concurrently(|session| other(complete(session)));
    log(2);
    let other = other.stop();
    let whole = whole.stop();
    let (all, beside) = (with_stacks(&whole), with_stacks(&other));
    let before = all.len() - beside.len();
    let found = |(at, one): (usize, (String, bool))| {
        expected(one, at.checked_sub(before).map(|at| &beside[at]))
    };
    let expected: Vec<_> = all.into_iter().enumerate().map(found).collect();
    for order in [[&whole, &other], [&other, &whole]] {
        let (merged, duplicates) = merged(&order.map(|trace| trace.path.as_path()));
        merged.messages();
        assert_eq!(with_stacks(&merged), expected);
        assert_eq!(spans::slices(&merged), spans::slices(&whole));
        assert_eq!(duplicates, beside.len() as u64);
    }
}

#[test]
fn a_session_with_stack_traces_beside_one_without() {
    let traced = |session: Builder| session.collect_stacktrace("Net");
    check_unequal(traced, |session| session, |one, _| one);
    check_unequal(|session| session, traced, |one, other| other.cloned().unwrap_or(one));
    // Each has those of another group.
    let of_disk = |session: Builder| session.collect_stacktrace("Disk");
    check_unequal(traced, of_disk, |(text, has_stack), other| {
        (text, has_stack || other.is_some_and(|(_, has_stack)| *has_stack))
    });
}

#[test]
fn a_session_that_cuts_texts_beside_one_that_does_not() {
    let cuts = |session: Builder| session.max_string_bytes(15);
    check_unequal(|session| session, cuts, |one, _| one);
    check_unequal(cuts, |session| session, |one, other| other.cloned().unwrap_or(one));
}
