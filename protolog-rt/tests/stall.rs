//! Sessions that stall when their buffer is full: a slow sink loses no message, a stuck one delays
//! a writer by no more than the timeout, and `stop` ends every stall.

mod common;
#[path = "common/pipe.rs"]
mod pipe;

use common::{Trace, lock_sessions, wire};
use pipe::{Pipe, wait_until_stalled};
use protolog_rt::{Error, Level, LossCause, ProtoLogGroup, Session, Summary, i};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

const TIMEOUT: Duration = Duration::from_secs(3600);

/// Starts a session with the smallest buffer that writes to `pipe`.
fn start(pipe: &Pipe, timeout: Duration) -> Session {
    let session = Session::builder().file(&pipe.path).log_from(Level::Info);
    session.buffer_size(64 << 10).wait_at_most(timeout).start().expect("start a session")
}

/// The trace that went through the pipe.
fn finish(pipe: Pipe, summary: Summary) -> Trace {
    let path = pipe.copy.clone();
    Trace::of(path, summary, pipe.finish())
}

/// Checks that messages and losses add up to `sent`, and that every loss is of a full buffer.
#[track_caller]
fn check(trace: &Trace, sent: u64) {
    assert_eq!(trace.summary.messages + trace.summary.lost(), sent, "{:?}", trace.summary);
    let losses: Vec<_> = trace.losses().into_iter().collect();
    let lost = trace.summary.lost();
    let full = (lost > 0).then_some(((Log::Work.info().id, wire(LossCause::BufferFull)), lost));
    assert_eq!(losses, full.into_iter().collect::<Vec<_>>());
    assert_eq!(trace.messages().len() as u64, trace.summary.messages);
}

#[test]
fn a_stalling_session_loses_nothing_to_a_slow_sink() {
    const THREADS: u64 = 4;
    const COUNT: u64 = 15_000;
    let _lock = lock_sessions();
    let pipe = Pipe::stalled();
    pipe.read(Duration::from_millis(2));
    let session = start(&pipe, TIMEOUT);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let large = "x".repeat(1000);
                for number in 0..COUNT {
                    if number % 500 == 0 {
                        // Longer than a chunk, so it stalls in the middle.
                        i!(
                            Log::Work,
                            "%d:%d %s%s%s%s%s",
                            thread,
                            number,
                            large,
                            large,
                            large,
                            large,
                            large
                        );
                    } else {
                        i!(Log::Work, "%d:%d", thread, number);
                    }
                }
            });
        }
    });
    let trace = finish(pipe, session.stop().unwrap());
    check(&trace, THREADS * COUNT);
    assert_eq!(trace.summary.lost(), 0, "{:?}", trace.summary);
    let lines = trace.messages();
    for thread in 0..THREADS {
        let of = lines.iter().filter_map(|line| {
            let rest = line.strip_prefix(&format!("INFO Work {thread}:"))?;
            rest.split(' ').next()?.parse::<u64>().ok()
        });
        assert!(of.eq(0..COUNT), "thread {thread}");
    }
}

#[test]
fn a_stuck_sink_stalls_for_the_timeout_and_the_rest_is_counted() {
    const TIMEOUT: Duration = Duration::from_millis(300);
    let _lock = lock_sessions();
    let pipe = Pipe::stalled();
    let session = start(&pipe, TIMEOUT);
    let mut stalls = 0;
    // More than the pipe, the file buffer and the session's buffer hold together.
    for number in 0..100_000u64 {
        let before = Instant::now();
        i!(Log::Work, "%d", number);
        stalls += u32::from(before.elapsed() >= TIMEOUT);
    }
    assert!(stalls > 0, "no message stalled");
    // The chunks that were freed during a stall may not suffice, so there may be some stalls, but
    // not one per message.
    assert!(stalls < 100, "{stalls} of 100,000 messages stalled");
    pipe.read(Duration::ZERO);
    let trace = finish(pipe, session.stop().unwrap());
    assert!(trace.summary.lost() > 10_000, "{:?}", trace.summary);
    check(&trace, 100_000);
}

#[test]
fn stop_ends_every_stall() {
    const THREADS: usize = 3;
    let _lock = lock_sessions();
    let pipe = Pipe::stalled();
    let session = start(&pipe, TIMEOUT);
    let (sent, done) = (&AtomicU64::new(0), &AtomicBool::new(false));
    let summary = thread::scope(|scope| {
        let loggers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        i!(Log::Work, "%d", 7);
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        wait_until_stalled(sent);
        done.store(true, Ordering::Relaxed);
        let stopping = scope.spawn(move || session.stop().unwrap());
        let begun = Instant::now();
        for logger in loggers {
            logger.join().unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        assert!(!stopping.is_finished(), "the file is not written yet");
        pipe.read(Duration::ZERO);
        stopping.join().unwrap()
    });
    let trace = finish(pipe, summary);
    // The stalled messages are lost.
    assert_eq!(trace.summary.lost(), THREADS as u64);
    check(&trace, sent.load(Ordering::Relaxed));
}

#[test]
fn a_broken_sink_does_not_stall() {
    let _lock = lock_sessions();
    let session = Session::builder().file("/dev/full").log_from(Level::Info);
    let session = session.buffer_size(64 << 10).wait_at_most(TIMEOUT).start().unwrap();
    for number in 0..20_000u64 {
        i!(Log::Work, "%d", number);
    }
    assert!(session.flush().is_err());
    assert!(session.stop().is_err());
}

#[test]
fn in_memory_sessions_refuse_a_stall_timeout() {
    let _lock = lock_sessions();
    let session = Session::builder().file("ring.pftrace").keep_newest().wait_at_most(TIMEOUT);
    let error = session.start().unwrap_err();
    assert!(matches!(error, Error::OnlyStreams { option: "wait_at_most" }));
    assert_eq!(error.to_string(), "`wait_at_most` is for sessions that stream to a file");
    // `pin` keeps messages in memory, too, and so do triggers: who has asked for neither
    // `keep_newest` nor `keep_first` is to find what it was.
    assert!(error.help().contains("`record`, `triggers` or `pin`"), "{}", error.help());
}
