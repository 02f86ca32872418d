//! Signal handlers never stall: not inside a message that does, and the session's own thread blocks
//! signals. A separate binary, since a signal may hit any thread of the process.
#![allow(unsafe_code)] // sigaction, tgkill.

mod common;
#[path = "common/pipe.rs"]
mod pipe;

use common::{Trace, lock_sessions, wire};
use pipe::{Pipe, wait_until_stalled};
use protolog_rt::{Level, LossCause, ProtoLogGroup, Session, d, i};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Main,
    Handler,
}

static ENTERED: AtomicU64 = AtomicU64::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    ENTERED.fetch_add(1, Ordering::SeqCst);
    d!(Log::Handler, "%d", 0);
    LEFT.fetch_add(1, Ordering::SeqCst);
}

/// The ids of the sessions' threads.
fn session_threads() -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("tasks").map(|task| task.unwrap());
    let named = tasks.filter(|task| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "protolog\n")
    });
    named.map(|task| task.file_name().to_str().unwrap().parse().unwrap()).collect()
}

/// True if the thread blocks `signal`.
fn blocks(thread: i32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("a mask") & 1 << (signal - 1) != 0
}

/// Interrupts a thread and waits until the handler returns.
fn interrupt(thread: i32) {
    let before = LEFT.load(Ordering::SeqCst);
    let process = std::process::id();
    // SAFETY: the call takes only integers; for a thread that ended it returns an error.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
    assert_eq!(sent, 0);
    let begun = Instant::now();
    while LEFT.load(Ordering::SeqCst) == before {
        assert!(begun.elapsed() < Duration::from_secs(60), "the handler stalls");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn signal_handlers_never_stall() {
    let _lock = lock_sessions();
    // SAFETY: a zeroed sigaction is one without flags; the handler does only what a signal handler
    // may.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: the pointers are to a sigaction of ours and null.
    let set = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
    let pipe = Pipe::stalled();
    let session = Session::builder().file(&pipe.path).log_from(Level::Debug);
    let session = session.buffer_size(64 << 10).wait_at_most(Duration::from_secs(3600));
    let session = session.start().unwrap();
    // The first message registers the enum, which a handler must not do.
    d!(Log::Handler, "%d", 1);
    let (sent, done, logger) = (&AtomicU64::new(1), &AtomicBool::new(false), &AtomicI32::new(0));
    let summary = thread::scope(|scope| {
        let work = scope.spawn(move || {
            // SAFETY: no arguments.
            logger.store(unsafe { libc::gettid() }, Ordering::SeqCst);
            while !done.load(Ordering::Relaxed) {
                i!(Log::Main, "%d", 7);
                sent.fetch_add(1, Ordering::Relaxed);
            }
        });
        wait_until_stalled(sent);
        interrupt(logger.load(Ordering::SeqCst));
        let [own] = session_threads()[..] else { panic!("one session has one thread") };
        assert!(blocks(own, libc::SIGUSR1), "a handler there could stall on itself");
        done.store(true, Ordering::Relaxed);
        pipe.read(Duration::ZERO);
        work.join().unwrap();
        session.stop().unwrap()
    });
    let path = pipe.copy.clone();
    let trace = Trace::of(path, summary, pipe.finish());
    assert_eq!(ENTERED.load(Ordering::SeqCst), 1);
    let losses = trace.losses();
    let of = |group: &Log, cause| losses.get(&(group.info().id, wire(cause))).copied();
    assert_eq!(of(&Log::Handler, LossCause::Reentrant), Some(1), "within a message: {losses:?}");
    let (sent, all) = (sent.load(Ordering::Relaxed), trace.summary.messages + trace.summary.lost());
    assert_eq!(all, sent + 1, "{:?}", trace.summary);
    trace.check_stats();
}
