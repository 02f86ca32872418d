//! The exit of the process: a function that runs then.
//!
//! Invariant: one function, registered once.

use super::once::ForkOnce;
use std::panic::catch_unwind;

static FUNCTION: ForkOnce<fn()> = ForkOnce::new();

/// Runs `function` when the process exits: by `exit`, or by the return of `main`. Later functions are ignored.
pub(crate) fn at_exit(function: fn()) {
    FUNCTION.get_or_make(|| {
        // SAFETY: the function may be called at any time, and takes nothing. That it can't be registered leaves things as they were.
        let _ = unsafe { libc::atexit(run) };
        function
    });
}

extern "C" fn run() {
    if let Some(function) = FUNCTION.get() {
        // A panic that left this function would abort the process.
        let _ = catch_unwind(function);
    }
}
