//! Many threads that log little: they hold no memory while they are idle, and none of them starves; nor is anything left
//! of threads that end.
#![allow(unsafe_code)] // Asking whether the system can take chunks back.

mod common;

use common::record;
use protolog_rt::{Level, ProtoLogGroup, i};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Idle,
    Short,
}

/// Nobody waits so long unless something is wrong.
const LONG: Duration = Duration::from_secs(60);

/// Whether the system has `membarrier`, without which idle threads keep their chunks.
fn has_barrier() -> bool {
    // SAFETY: the call takes two integers and touches no memory of the program.
    let known = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_QUERY, 0) };
    known > 0 && known as libc::c_int & libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED != 0
}

/// How many short threads; `PROTOLOG_SOAK` makes them more.
fn short_threads() -> usize {
    if std::env::var_os("PROTOLOG_SOAK").is_some() { 100_000 } else { 10_000 }
}

#[test]
fn a_thousand_idle_threads_starve_nobody() {
    const THREADS: usize = 1_000;
    if !has_barrier() {
        return;
    }
    // Chunks for 448 threads. Who finds none waits until one is taken back, however late the session's thread gets to run.
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

/// Bytes of the process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("read statm");
    let pages: usize = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4096
}

/// By how many bytes the process grows while threads come and go that do `work`, once it has got used to them: half of the most
/// are more than a session has sequences, about each of which it knows something.
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
fn short_threads_leave_nothing() {
    let threads = short_threads();
    // What looks for errors in memory keeps a record of each thread.
    let silent = growth(threads, |_| ());
    let recording = record(|session| session.group("Short", Level::Info).buffer_size(64 << 10));
    let logging = growth(threads, |thread| i!(Log::Short, "%d", thread));
    let trace = recording.stop();
    assert_eq!(trace.summary.messages + trace.summary.lost(), threads as u64);
    assert!(trace.summary.messages > threads as u64 / 2, "{:?}", trace.summary);
    assert!(logging < silent + (4 << 20), "grew by {logging} bytes, without logging by {silent}");
}
