//! Signal handlers that log: inside a message their own is counted as reentrant, elsewhere it is
//! logged. A separate binary, since a signal may hit any thread of the process.
#![allow(unsafe_code)] // sigaction, pthread_kill.

mod common;

use common::{SetOnDrop, record, wire};
use protolog_rt::{Level, LossCause, ProtoLogGroup, d, i};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Main,
    Handler,
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    d!(Log::Handler, "%d", HANDLED.fetch_add(1, Ordering::Relaxed));
}

#[test]
fn a_handler_logs_or_its_message_is_counted_as_reentrant() {
    let recording = record(|session| session.log_from(Level::Debug).buffer_size(16 << 20));
    // The first message registers the thread and the enum, which a handler must not do.
    i!(Log::Main, "%d", 0);
    // SAFETY: a zeroed sigaction is one without flags; the handler does only what a signal handler
    // may.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: the pointers are to a sigaction of ours and null.
    let set = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
    // SAFETY: no arguments.
    let this = unsafe { libc::pthread_self() };
    let done = AtomicBool::new(false);
    let mut sent = 1u64;
    thread::scope(|scope| {
        let _end = SetOnDrop(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(this, libc::SIGUSR1) };
                thread::sleep(Duration::from_micros(20));
            }
        });
        let start = Instant::now();
        let nested = || {
            let losses = recording.session().summary().losses;
            losses.iter().any(|loss| loss.cause == LossCause::Reentrant)
        };
        let is_enough = || {
            let handled = HANDLED.load(Ordering::Relaxed);
            start.elapsed() > Duration::from_millis(200) && handled > 100 && nested()
        };
        while !is_enough() && start.elapsed() < Duration::from_secs(60) {
            for _ in 0..100 {
                i!(Log::Main, "%d", sent);
                sent += 1;
            }
            // Slower than the trace is written, so that only the handler loses messages. It must
            // not sleep, or most signals would hit the sleep.
            let pause = Instant::now();
            while pause.elapsed() < Duration::from_micros(30) {}
        }
    });
    let handled = HANDLED.load(Ordering::Relaxed);
    let trace = recording.stop();
    let losses = trace.losses();
    let nested =
        losses.get(&(Log::Handler.info().id, wire(LossCause::Reentrant))).copied().unwrap_or(0);
    assert!(nested > 0, "{handled} signals, none of them within a message");
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert_eq!(trace.summary.messages, sent + handled - nested);
    assert!(handled > 100, "{handled} signals");
    let sql = "select tag, count(*) as n, count(distinct message) as different from protolog group by tag";
    if let Some(table) = trace.query(sql) {
        let logged = handled - nested;
        let expected = format!("Handler | {logged} | {logged}\nMain | {sent} | {sent}\n");
        assert_eq!(table.to_string(), expected, "{nested} nested");
    }
    trace.check_stats();
}
