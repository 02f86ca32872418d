//! Time: the kernel's clocks, the id of the machine's boot.
//!
//! Invariant: MONOTONIC and BOOTTIME are those of the machine, also in a time namespace
//! (time_namespaces(7)), as containers and restored processes may have: traces of processes inside
//! and outside have one clock.

use std::sync::atomic::{AtomicI64, Ordering};

/// A clock of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// The time of day.
    Realtime,
    /// Time since the machine's start, without suspends.
    Monotonic,
    /// Time since the machine's start.
    Boottime,
}

/// Time since the machine's start, as the C library calls it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const BOOTTIME: libc::clockid_t = libc::CLOCK_BOOTTIME;
/// The same of macOS, whose `CLOCK_MONOTONIC` may be set.
#[cfg(target_vendor = "apple")]
pub(super) const BOOTTIME: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;

/// Time without suspends.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MONOTONIC: libc::clockid_t = libc::CLOCK_MONOTONIC;
#[cfg(target_vendor = "apple")]
const MONOTONIC: libc::clockid_t = libc::CLOCK_UPTIME_RAW;

/// The offsets that a time namespace adds to MONOTONIC and BOOTTIME, in nanoseconds.
static ADDED: [AtomicI64; 2] = [const { AtomicI64::new(0) }; 2];

/// Finds out the offsets of this process's time namespace; before any time is used.
pub(crate) fn prepare_clocks() {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    for (added, found) in ADDED.iter().zip(added_by(&offsets)) {
        added.store(found, Ordering::Relaxed);
    }
}

/// Returns the offsets of MONOTONIC and BOOTTIME from lines of a clock, seconds and nanoseconds.
fn added_by(offsets: &str) -> [i64; 2] {
    let of = |name: &str| {
        let field = |line: &str| {
            let mut fields = line.split_whitespace();
            let is_it = fields.next()? == name;
            let mut number = || fields.next()?.parse::<i64>().ok();
            let (seconds, nanos) = (number()?, number()?);
            is_it.then(|| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos))
        };
        offsets.lines().find_map(field).unwrap_or(0)
    };
    [of("monotonic"), of("boottime")]
}

/// Asks the kernel for the time, in nanoseconds.
#[inline]
pub(crate) fn nanos(clock: Clock) -> u64 {
    let (id, added) = match clock {
        Clock::Realtime => (libc::CLOCK_REALTIME, 0),
        Clock::Monotonic => (MONOTONIC, ADDED[0].load(Ordering::Relaxed)),
        Clock::Boottime => (BOOTTIME, ADDED[1].load(Ordering::Relaxed)),
    };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    (time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64).wrapping_sub(added as u64)
}

/// Asks the kernel for BOOTTIME, in nanoseconds.
#[inline]
pub(crate) fn boottime() -> u64 {
    nanos(Clock::Boottime)
}

/// As [`boottime`] in a process that has read `last` before. BOOTTIME of a machine goes on for
/// ever; where it was set back by more than a second, the process was restored from a checkpoint,
/// maybe on another machine. Then it goes on from where it was: all times would be the same until
/// the new clock had come as far.
pub(crate) fn boottime_after(last: u64) -> u64 {
    let added = ADDED[1].load(Ordering::Relaxed);
    let now = boottime();
    let back = last.saturating_sub(now);
    if back < MIN_STEP_BACK {
        return now;
    }
    // Another thread may have done it meanwhile.
    let ahead = added.wrapping_sub(back as i64);
    let _ = ADDED[1].compare_exchange(added, ahead, Ordering::Relaxed, Ordering::Relaxed);
    boottime()
}

/// Nanoseconds by which the clock of a restored process goes back, at least.
const MIN_STEP_BACK: u64 = 1_000_000_000;

/// True where the process may read the processor's time stamp counter.
pub(crate) fn may_read_counter() -> bool {
    #[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android")))]
    {
        let mut mode: libc::c_int = 0;
        // SAFETY: the kernel writes one int to the address.
        let answer = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        answer == 0 && mode == libc::PR_TSC_ENABLE
    }
    #[cfg(not(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android"))))]
    false
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn boot_id_as_text() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

#[cfg(target_vendor = "apple")]
fn boot_id_as_text() -> Option<String> {
    let (mut text, name) = ([0_u8; 64], c"kern.bootsessionuuid");
    let (to, mut size, none) = (text.as_mut_ptr().cast(), text.len(), std::ptr::null_mut());
    // SAFETY: the name is a C string; the system writes at most `size` bytes to the array.
    let result = unsafe { libc::sysctlbyname(name.as_ptr(), to, &raw mut size, none, 0) };
    let text = text.get(..size).filter(|_| result == 0)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns the id of the machine's boot, which tells times of BOOTTIME before and after a start
/// apart.
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    let text = boot_id_as_text()?;
    let mut digits = text.chars().filter_map(|c| c.to_digit(16));
    let mut id = [0; 16];
    for place in &mut id {
        *place = (digits.next()? << 4 | digits.next()?) as u8;
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_says_what_it_adds() {
        for (offsets, added) in [
            ("monotonic           0         0\nboottime            0         0\n", [0, 0]),
            (
                "monotonic           5         6\nboottime       -1   999999999\n",
                [5_000_000_006, -1],
            ),
            ("boottime x 1\nmonotonic 1 1\n", [1_000_000_001, 0]),
            ("", [0, 0]),
        ] {
            assert_eq!(added_by(offsets), added, "{offsets}");
        }
    }
}
