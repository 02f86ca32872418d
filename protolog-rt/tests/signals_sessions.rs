//! Signal handlers that log while sessions start and stop. A handler may interrupt any instruction
//! of a message, and sessions may have changed since that message began; no message is torn or
//! written twice, and no freed memory is used. A separate binary, since a signal may hit any thread
//! of the process. AddressSanitizer makes the test stronger.
#![allow(unsafe_code)] // sigaction, timers.

mod common;
#[path = "common/timer.rs"]
mod timer;

use common::{SetOnDrop, record};
use protolog_rt::{Level, LossCause, ProtoLogGroup, d, i};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use timer::Timer;

#[derive(ProtoLogGroup)]
enum Log {
    Main,
    Handler,
}

static SIGNALS: AtomicU64 = AtomicU64::new(0);

/// Logs. A thread's first message of all allocates memory, which is safe here: the interrupted
/// thread does nothing but log, and holds no lock of the allocator wherever a handler may log.
extern "C" fn handler(_: libc::c_int) {
    let number = SIGNALS.fetch_add(1, Ordering::Relaxed);
    d!(Log::Handler, "%d", number);
}

/// The length of the test; `PROTOLOG_SOAK` makes it longer.
fn duration() -> Duration {
    Duration::from_secs(if std::env::var_os("PROTOLOG_SOAK").is_some() { 30 } else { 2 })
}

#[test]
fn handlers_log_while_sessions_start_and_stop() {
    // SAFETY: a zeroed sigaction is one without flags; the handler does only what a signal handler
    // may.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: the pointers are to a sigaction of ours and null.
    let set = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = SetOnDrop(done);
        for _ in 0..2 {
            scope.spawn(move || {
                let _timer = Timer::start(20);
                let mut number = 0u64;
                while !done.load(Ordering::Relaxed) {
                    i!(Log::Main, "%d", number);
                    number += 1;
                }
            });
        }
        let end = Instant::now() + duration();
        let mut rounds = 0u64;
        // On a busy machine the test takes longer.
        while Instant::now() < end || rounds <= 10 || SIGNALS.load(Ordering::Relaxed) <= 1_000 {
            round(rounds);
            rounds += 1;
        }
        println!("{rounds} rounds, {} signals", SIGNALS.load(Ordering::Relaxed));
    });
}

/// Runs one session, or two at once.
fn round(number: u64) {
    let start = |session: protolog_rt::Builder| {
        let session = session.log_from(Level::Debug).buffer_size(64 << 10 << (number % 4));
        if number % 2 == 0 { session } else { session.keep_newest() }
    };
    let first = record(start);
    let second = (number % 3 == 0).then(|| common::record_concurrently(start));
    thread::sleep(Duration::from_micros(100 * (number % 5)));
    for recording in [Some(first), second].into_iter().flatten() {
        let trace = recording.stop();
        // Reading is the slowest part.
        if number % 16 != 0 {
            continue;
        }
        let log = trace.log();
        let mut last: HashMap<(Option<u32>, String), u64> = HashMap::new();
        for entry in log.entries() {
            let values = entry.values();
            let tag = values.group(&log).expect("a group").tag.clone();
            let text = values.text(protolog_reader::Rendering::Bare);
            let now = text.parse().expect("a number");
            if tag == "Main" {
                let before = last.insert((entry.thread().tid, tag), now);
                assert!(before.is_none_or(|before| before < now), "{before:?} before {now}");
            }
        }
        assert_eq!(log.entries().len() as u64, trace.summary.messages);
        let causes = [LossCause::BufferFull, LossCause::Reentrant, LossCause::Overwritten];
        let losses = &trace.summary.losses;
        assert!(losses.iter().all(|loss| causes.contains(&loss.cause)), "{losses:?}");
    }
}
