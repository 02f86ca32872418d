//! A wall clock that is set while a session runs.
//!
//! A separate binary, since it replaces `clock_gettime`.
#![allow(unsafe_code)] // clock_gettime.

mod common;

use common::record;
use protolog_rt::{Level, ProtoLogGroup, i};
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Seconds added to the wall clock.
static OFFSET: AtomicI64 = AtomicI64::new(0);

/// Replaces the C library's function in this program.
///
/// # Safety
/// `time` must be valid for a write, as for the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    // SAFETY: `time` is valid for a write, by the contract of this function.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    if clock == libc::CLOCK_REALTIME && result == 0 {
        // SAFETY: the kernel just wrote through the pointer, and only the caller has another one.
        let time = unsafe { &mut *time };
        time.tv_sec += OFFSET.load(Ordering::Relaxed);
    }
    result as libc::c_int
}

#[test]
fn messages_after_the_clock_is_set_have_the_new_date() {
    const YEARS: i64 = 56 * 365 * 86_400;
    // The clock before it is synchronised.
    OFFSET.store(-YEARS, Ordering::Relaxed);
    let recording = record(|session| session.log_from(Level::Info));
    i!(Log::Work, "before the clock is set");
    recording.session().flush().unwrap();
    OFFSET.store(0, Ordering::Relaxed);
    recording.session().flush().unwrap();
    i!(Log::Work, "after the clock is set");
    let trace = recording.stop();
    assert_eq!(trace.messages().len(), 2);
    let log = trace.log();
    let walls: Vec<i64> = log.entries().map(|entry| entry.wall_time().unwrap()).collect();
    let times: Vec<i64> = log.entries().map(|entry| entry.time()).collect();
    let seconds = (walls[1] - walls[0] - (times[1] - times[0])) as f64 / 1e9;
    assert!((seconds - YEARS as f64).abs() < 1.0, "{seconds}");
}
