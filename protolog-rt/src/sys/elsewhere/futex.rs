//! Waiting for a word to change.
//!
//! Invariant: a wait may end early; the caller looks at the word again.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

#[cfg(windows)]
#[link(name = "api-ms-win-core-synch-l1-2-0", kind = "raw-dylib")]
unsafe extern "system" {
    fn WaitOnAddress(word: *const u32, expected: *const u32, size: usize, milliseconds: u32)
    -> i32;
    fn WakeByAddressAll(word: *const u32);
}

/// Waits until somebody wakes, while `word` has the value `expected`, for at most `timeout`; none
/// is no limit.
#[cfg(windows)]
pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    // The largest number is no limit.
    let milliseconds = timeout.map_or(u32::MAX, |it| it.as_millis().clamp(1, 1 << 30) as u32);
    // SAFETY: both words live through the call.
    unsafe { WaitOnAddress(word.as_ptr(), &raw const expected, 4, milliseconds) };
}

/// Wakes all threads that wait for `word`.
#[cfg(windows)]
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: the word lives through the call, which only looks up its address.
    unsafe { WakeByAddressAll(word.as_ptr()) };
}

/// Waits for nobody: there is one thread.
#[cfg(not(windows))]
pub(crate) fn wait(_: &AtomicU32, _: u32, timeout: Option<Duration>) {
    std::thread::sleep(timeout.unwrap_or_default().min(Duration::from_millis(1)));
}

#[cfg(not(windows))]
pub(crate) fn wake_all(_: &AtomicU32) {}
