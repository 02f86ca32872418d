//! The exit of the process: functions that run then, after those that the program has registered
//! for it (`atexit`) and the destructors of the main thread's values. All of them may log.
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

/// The module's last function. A library that is unloaded has it called as well; then no function
/// is registered, since a registered function keeps the library loaded.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = run;

/// Runs `function` when the process exits: by `exit`, or by the return of `main`. Later functions
/// for the same step are ignored.
pub(crate) fn at_exit(step: Step, function: fn()) {
    // A function that the linker has not kept would not run.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    std::hint::black_box(&AT_END);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    register();
    if let Some(slot) = FUNCTIONS.get(step as usize) {
        slot.get_or_make(|| function);
    }
}

/// Registers the functions, once. There is no other place for them here: they run before what the
/// program registered earlier.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn register() {
    static REGISTERED: ForkOnce<bool> = ForkOnce::new();
    REGISTERED.get_or_make(|| {
        // SAFETY: the function stays where it is: the runtime is never unloaded once it runs.
        unsafe { libc::atexit(run) == 0 }
    });
}

extern "C" fn run() {
    for function in FUNCTIONS.iter().filter_map(ForkOnce::get) {
        // A panic that left this function would abort the process.
        let _ = catch_unwind(*function);
    }
}
