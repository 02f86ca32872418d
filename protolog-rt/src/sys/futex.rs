//! Waiting for a word to change: the kernel's futex.
//!
//! Unlike a mutex with a condition variable it has no state besides the word, so a forked child
//! finds nothing locked, and a signal handler may wake. Unlike parking it takes no token that the
//! thread's own code waits for.
//!
//! Invariant: a wait may end early; the caller looks at the word again.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Waits until somebody wakes, while `word` has the value `expected`, for at most `timeout`; none
/// is no limit.
pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let time = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().min(1 << 30) as libc::time_t,
        tv_nsec: timeout.subsec_nanos() as _,
    });
    let time: *const libc::timespec = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives through the call, and `time` is null or points to a time that does.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, time) };
}

/// Wakes all threads that wait for `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives through the call, which only looks up its address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, i32::MAX) };
}
