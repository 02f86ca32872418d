//! Traces of several sessions of one program, merged: each message and each span is there once, as
//! in a trace that has all of them, also in Perfetto's trace_processor.

mod common;
#[path = "common/spans.rs"]
mod spans;

use common::{Trace, record, record_concurrently};
use protolog_reader::{MergeInput, Recording, merge};
use protolog_rt::{Builder, Level, Pinned, ProtoLogGroup, Session, Summary, d, i, span, w};
use protolog_testkit::temp_dir;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
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
    std::thread::scope(|scope| {
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
