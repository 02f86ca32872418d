//! A wall clock that is set while a session runs.
//!
//! A test of its own, since it has a clock of its own.
#![allow(unsafe_code)] // clock_gettime.

mod common;

use common::record;
use protolog_rt::{Level, ProtoLogGroup, i};
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// By how many seconds the wall clock was set.
static SET: AtomicI64 = AtomicI64::new(0);

/// Stands in for the C library's in this program.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    if clock == libc::CLOCK_REALTIME && result == 0 {
        // SAFETY: the kernel has just written to it.
        let time = unsafe { &mut *time };
        time.tv_sec += SET.load(Ordering::Relaxed);
    }
    result as libc::c_int
}

#[test]
fn what_follows_has_its_new_date() {
    const YEARS: i64 = 56 * 365 * 86_400;
    // No time server has been asked.
    SET.store(-YEARS, Ordering::Relaxed);
    let recording = record(|session| session.log_from(Level::Info));
    i!(Log::Work, "in the year of the machine's making");
    recording.session().flush().unwrap();
    SET.store(0, Ordering::Relaxed);
    recording.session().flush().unwrap();
    i!(Log::Work, "today");
    let trace = recording.stop();
    assert_eq!(trace.messages().len(), 2);
    let log = trace.log();
    let walls: Vec<i64> = log.entries().map(|entry| entry.wall_time().unwrap()).collect();
    let times: Vec<i64> = log.entries().map(|entry| entry.time()).collect();
    let seconds = (walls[1] - walls[0] - (times[1] - times[0])) as f64 / 1e9;
    assert!((seconds - YEARS as f64).abs() < 1.0, "{seconds}");
}
