//! Time: the system's clocks.

#[cfg(not(windows))]
use crate::sys::{once::ForkOnce, process::random_id};
use std::time::{SystemTime, UNIX_EPOCH};

/// A clock of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// The time of day.
    Realtime,
    /// Time since the machine's start.
    Monotonic,
    /// The same: suspends are no time that is told apart.
    Boottime,
}

/// Finds out what times are in; before any time is used.
pub(crate) fn prepare_clocks() {}

/// Asks the system for the time, in nanoseconds.
#[inline]
pub(crate) fn nanos(clock: Clock) -> u64 {
    match clock {
        Clock::Realtime => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            since.as_nanos() as u64
        }
        Clock::Monotonic | Clock::Boottime => boottime(),
    }
}

/// Asks the system for the time since its start, in nanoseconds.
#[cfg(windows)]
#[inline]
pub(crate) fn boottime() -> u64 {
    use crate::sync::{AtomicU64, Ordering};
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn QueryPerformanceCounter(count: *mut u64) -> i32;
        fn QueryPerformanceFrequency(frequency: *mut u64) -> i32;
    }
    static FREQUENCY: AtomicU64 = AtomicU64::new(0);
    let mut frequency = FREQUENCY.load(Ordering::Relaxed);
    if frequency == 0 {
        // SAFETY: the answer goes to a number of ours.
        unsafe { QueryPerformanceFrequency(&raw mut frequency) };
        frequency = frequency.max(1);
        FREQUENCY.store(frequency, Ordering::Relaxed);
    }
    let mut count = 0;
    // SAFETY: the answer goes to a number of ours.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    // As most machines have it, in one step.
    if frequency == 10_000_000 {
        return count * 100;
    }
    (u128::from(count) * 1_000_000_000 / u128::from(frequency)) as u64
}

#[cfg(not(windows))]
pub(crate) fn boottime() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// As [`boottime`] in a process that has read `last` before.
pub(crate) fn boottime_after(_: u64) -> u64 {
    boottime()
}

/// True where the process may read the processor's time stamp counter. The system does it here.
pub(crate) fn may_read_counter() -> bool {
    false
}

/// Returns the id of the machine's boot, which Windows does not tell.
#[cfg(windows)]
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    None
}

/// The clock of each process may begin where it likes, as that of each boot.
#[cfg(not(windows))]
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    static ID: ForkOnce<[u8; 16]> = ForkOnce::new();
    Some(*ID.get_or_make(random_id))
}
