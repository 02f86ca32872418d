//! The exit of the process: functions that run then.
//!
//! Invariant: one function for each step, registered once.

use super::once::ForkOnce;
use std::panic::catch_unwind;

/// A function's place in the order in which they run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Sessions end.
    Sessions,
    /// Text is written, that of the sessions' ends included.
    Text,
}

static FUNCTIONS: [ForkOnce<fn()>; 2] = [const { ForkOnce::new() }; 2];

/// Runs `function` when the process exits: by `exit`, or by the return of `main`. Later functions
/// for the same step are ignored.
pub(crate) fn at_exit(step: Step, function: fn()) {
    static IS_REGISTERED: ForkOnce<()> = ForkOnce::new();
    IS_REGISTERED.get_or_make(|| {
        // SAFETY: the function may be called at any time, and takes nothing. That it can't be registered leaves things as they were.
        let _ = unsafe { libc::atexit(run) };
    });
    if let Some(slot) = FUNCTIONS.get(step as usize) {
        slot.get_or_make(|| function);
    }
}

extern "C" fn run() {
    for function in FUNCTIONS.iter().filter_map(ForkOnce::get) {
        // A panic that left this function would abort the process.
        let _ = catch_unwind(*function);
    }
}
