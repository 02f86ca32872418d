//! Waiting for a word to change: the kernel's futex, or macOS's like of it.
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
#[cfg(any(target_os = "linux", target_os = "android"))]
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
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn wake_all(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives through the call, which only looks up its address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, i32::MAX) };
}

#[cfg(target_vendor = "apple")]
pub(crate) use darwin::{wait, wake_all};

/// As LLVM's C++ library waits: older than the functions that macOS 14.4 documents.
#[cfg(target_vendor = "apple")]
mod darwin {
    use super::{AtomicU32, Duration};
    use std::ffi::{c_int, c_void};

    const COMPARE_AND_WAIT: u32 = 1;
    const WAKE_ALL: u32 = 0x100;

    unsafe extern "C" {
        fn __ulock_wait(operation: u32, word: *mut c_void, expected: u64, micros: u32) -> c_int;
        fn __ulock_wake(operation: u32, word: *mut c_void, value: u64) -> c_int;
    }

    /// As on Linux.
    pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        // 0 is no limit, and a wait may end early.
        let micros = |timeout: Duration| timeout.as_micros().clamp(1, 1 << 30) as u32;
        let micros = timeout.map_or(0, micros);
        // SAFETY: the word lives through the call.
        unsafe { __ulock_wait(COMPARE_AND_WAIT, word.as_ptr().cast(), expected.into(), micros) };
    }

    /// As on Linux.
    pub(crate) fn wake_all(word: &AtomicU32) {
        // SAFETY: the word lives through the call, which only looks up its address.
        unsafe { __ulock_wake(COMPARE_AND_WAIT | WAKE_ALL, word.as_ptr().cast(), 0) };
    }
}
