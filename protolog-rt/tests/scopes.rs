//! Sessions of chosen threads, side by side with each other and with sessions of the process.

mod common;

use common::{SetOnDrop, TestSession, lock_sessions, record_concurrently};
use protolog_rt::{Builder, Level, ProtoLogGroup, d, i, w};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Starts a session of the calling thread.
fn record_this_thread(configure: impl FnOnce(Builder) -> Builder) -> TestSession {
    record_concurrently(|builder| configure(builder).this_thread())
}

#[test]
fn threads_side_by_side_do_not_see_each_other() {
    const MESSAGES: u64 = 2_000;
    let _lock = lock_sessions();
    let everybody = record_concurrently(|builder| builder.log_from(Level::Info));
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for (number, level) in [(1, Level::Debug), (2, Level::Info), (3, Level::Warn)] {
            let start = &start;
            scope.spawn(move || {
                let session = record_this_thread(|builder| builder.log_from(level));
                start.wait();
                for _ in 0..MESSAGES {
                    d!(Log::Work, "debug of %d", number);
                    i!(Log::Work, "info of %d", number);
                    w!(Log::Work, "warning of %d", number);
                }
                start.wait();
                let trace = session.stop();
                let lines = trace.lines();
                assert!(lines.iter().all(|line| line.ends_with(&format!(" of {number}"))));
                let levels = 4 - u64::from(level.severity());
                assert_eq!(lines.len() as u64, levels * MESSAGES, "{number}");
                assert_eq!((trace.summary.messages, trace.summary.lost()), (levels * MESSAGES, 0));
            });
        }
        start.wait();
        d!(Log::Work, "of none");
        i!(Log::Work, "of the process");
        start.wait();
    });
    let trace = everybody.stop();
    assert_eq!(trace.summary.messages, 3 * 2 * MESSAGES + 1);
    assert!(trace.lines().iter().all(|line| !line.starts_with("DEBUG")));
}

/// While a thread logs at levels that its session does not record, sessions of other threads that
/// record them come and go.
#[test]
fn a_session_of_other_threads_adds_nothing_to_the_one_that_runs() {
    const ROUNDS: usize = 100;
    let _lock = lock_sessions();
    let everybody = record_concurrently(|builder| builder.log_from(Level::Warn));
    let (done, logged) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    d!(Log::Work, "nobody records this");
                    if logged.fetch_add(1, Ordering::Relaxed) % 64 == 0 {
                        w!(Log::Work, "a warning");
                    }
                }
            });
        }
        let _done = SetOnDrop(&done);
        for round in 0..ROUNDS {
            let session = record_this_thread(Builder::enable_all);
            // The others have logged meanwhile.
            let now = logged.load(Ordering::Relaxed);
            while logged.load(Ordering::Relaxed) < now + 10 {
                thread::yield_now();
            }
            d!(Log::Work, "round %d", round);
            // Our reader alone: a hundred runs of the official ones take minutes.
            assert_eq!(session.stop().lines(), [format!("DEBUG Work round {round}")]);
        }
    });
    let trace = everybody.stop();
    assert!(trace.lines().iter().all(|line| line == "WARN Work a warning"));
    assert_eq!(trace.summary.lost(), 0);
}

#[test]
fn threads_enter_while_the_session_runs() {
    let _lock = lock_sessions();
    let session = record_this_thread(Builder::enable_all);
    let scope = session.session().thread_scope();
    d!(Log::Work, "the first thread");
    thread::spawn(move || {
        d!(Log::Work, "not yet");
        scope.enter();
        scope.enter();
        d!(Log::Work, "the second thread");
        let scope = scope.clone();
        let third = thread::spawn(move || {
            d!(Log::Work, "a child of it, not yet");
            scope.enter();
            d!(Log::Work, "the third thread");
        });
        third.join().unwrap();
    })
    .join()
    .unwrap();
    session.stop().check(&[
        "DEBUG Work the first thread",
        "DEBUG Work the second thread",
        "DEBUG Work the third thread",
    ]);
}

#[test]
fn a_thread_enters_several_sessions() {
    let _lock = lock_sessions();
    let first = record_this_thread(Builder::enable_all);
    let (scope, late) = (first.session().thread_scope(), first.session().thread_scope());
    d!(Log::Work, "one");
    let second = record_this_thread(|builder| builder.log_from(Level::Warn).keep_newest());
    d!(Log::Work, "two");
    w!(Log::Work, "three");
    let second = second.stop();
    let expected = ["DEBUG Work one", "DEBUG Work two", "WARN Work three", "DEBUG Work four"];
    d!(Log::Work, "four");
    // A worker that was in an earlier session.
    thread::scope(|threads| {
        threads.spawn(|| {
            let other = record_this_thread(Builder::enable_all);
            i!(Log::Work, "of the worker");
            scope.enter();
            i!(Log::Work, "of both");
            other.stop().check(&["INFO Work of the worker", "INFO Work of both"]);
            i!(Log::Work, "of the first");
        });
    });
    let first = first.stop();
    first.check(&[&expected[..], &["INFO Work of both", "INFO Work of the first"]].concat());
    second.check(&["WARN Work three"]);
    // It has ended.
    late.enter();
    d!(Log::Work, "of none");
}

/// A session of the process has all threads in any case.
#[test]
fn a_session_of_the_process_needs_no_entry() {
    let _lock = lock_sessions();
    let session = record_concurrently(Builder::enable_all);
    let scope = session.session().thread_scope();
    thread::spawn(move || {
        scope.enter();
        d!(Log::Work, "once");
    })
    .join()
    .unwrap();
    session.stop().check(&["DEBUG Work once"]);
}
