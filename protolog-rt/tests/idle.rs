//! Many threads that log little: idle threads hold no chunks, no thread starves, and threads that
//! end leave no memory behind.
#![allow(unsafe_code)] // Asks the kernel for `membarrier`.

mod common;

use common::{record, wire};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, i};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Idle,
    Short,
}

/// Longer than any thread stalls unless something is wrong.
const LONG: Duration = Duration::from_secs(60);

/// True if the kernel has `membarrier`, without which chunks of idle threads are not reclaimed.
fn has_barrier() -> bool {
    // SAFETY: the call takes two integers and touches no memory of the program.
    let known = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_QUERY, 0) };
    known > 0 && known as libc::c_int & libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED != 0
}

/// Number of short-lived threads; `PROTOLOG_SOAK` raises it.
fn short_threads() -> usize {
    if std::env::var_os("PROTOLOG_SOAK").is_some() { 100_000 } else { 10_000 }
}

#[test]
fn a_thousand_idle_threads_starve_no_writer() {
    const THREADS: usize = 1_000;
    if !has_barrier() {
        return;
    }
    // The buffer has chunks for 448 threads. The others stall until the session's thread reclaims a
    // chunk.
    let recording = record(|session| {
        session.group("Idle", Level::Info).buffer_size(128 << 10).wait_at_most(LONG)
    });
    let (done, all_done) = mpsc::channel();
    let mut turns = Vec::new();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (turn, wait) = mpsc::channel();
            turns.push(turn);
            let done = done.clone();
            scope.spawn(move || {
                for round in wait {
                    i!(Log::Idle, "%d:%d", thread, round);
                    done.send(()).unwrap();
                }
            });
        }
        for round in 0..3u64 {
            for turn in &turns {
                turn.send(round).unwrap();
                all_done.recv().unwrap();
            }
        }
        turns.clear();
    });
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (3 * THREADS as u64, 0));
    assert_eq!(trace.messages().len(), 3 * THREADS);
}

/// Resident memory of the process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("read statm");
    let pages: usize = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4096
}

/// Growth of the process in bytes while the second half of `threads` short-lived threads run
/// `work`, one after the other. The first half warms up: it is more threads than a session has
/// sequences, each of which takes memory.
fn growth(threads: usize, work: fn(usize)) -> usize {
    let mut before = 0;
    for thread in 0..threads {
        if thread == threads / 2 {
            before = resident();
        }
        thread::spawn(move || work(thread)).join().unwrap();
    }
    resident().saturating_sub(before)
}

#[test]
fn short_threads_leave_no_memory_behind() {
    let threads = short_threads();
    // Sanitizers keep a record of each thread, so threads that log nothing are the baseline.
    let silent = growth(threads, |_| ());
    let recording = record(|session| session.group("Short", Level::Info).buffer_size(64 << 10));
    let logging = growth(threads, |thread| i!(Log::Short, "%d", thread));
    let trace = recording.stop();
    assert_eq!(trace.summary.messages + trace.summary.lost(), threads as u64);
    // Beside much else, the session's thread is slow to empty so small a buffer.
    assert!(trace.summary.messages > threads as u64 / 16, "{:?}", trace.summary);
    assert!(logging < silent + (4 << 20), "grew by {logging} bytes, without logging by {silent}");
}

/// Sizes of buffers in bytes: `few`, or all powers of two if `PROTOLOG_SOAK` is set.
fn sizes(few: usize) -> Vec<usize> {
    let is_soak = std::env::var_os("PROTOLOG_SOAK").is_some();
    if is_soak { (16..=28).map(|log| 1 << log).collect() } else { vec![few] }
}

/// Starts more threads than a session has sequences, one after the other. Each logs three messages,
/// which are in the trace or were overwritten; and the process does not grow with the number of
/// threads.
fn many_threads_log(what: &str, few: usize, session: impl Fn(Builder) -> Builder) {
    let threads = if std::env::var_os("PROTOLOG_SOAK").is_some() { 200_000 } else { 34_000 };
    for size in sizes(few) {
        let recording =
            record(|builder| session(builder.group("Short", Level::Info)).buffer_size(size));
        let grown = growth(threads, |thread| {
            (0..3).for_each(|number| i!(Log::Short, "%d:%d", thread, number));
        });
        let trace = recording.stop();
        let what = format!("{what} of {size} bytes");
        let lost: u64 = trace.losses().values().sum();
        assert_eq!(trace.summary.messages + lost, 3 * threads as u64, "{what}");
        let overwritten = wire(LossCause::Overwritten);
        let is_overwritten = trace.losses().keys().all(|(_, cause)| *cause == overwritten);
        assert!(is_overwritten, "{what}: {:?}", trace.losses());
        // The buffer itself may be touched for the first time.
        assert!(grown < size + (8 << 20), "{what}: grew by {grown} bytes");
    }
}

#[test]
fn more_threads_than_sequences_log_to_a_ring() {
    many_threads_log("a ring", 8 << 20, Builder::keep_newest);
}

#[test]
fn more_threads_than_sequences_log_to_a_stream() {
    many_threads_log("a stream", 32 << 20, |session| session.wait_at_most(LONG));
}
