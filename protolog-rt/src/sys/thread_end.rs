//! The end of a thread, after the destructors of its thread-local values.
//!
//! Such destructors may log. The functions that Rust calls at a thread's end run among them, in an
//! order of the system's. The C library's own thread-specific values come after them, or with them
//! in rounds: a value that its destructor sets again has another round. So the functions here wait
//! for the last round but one.
//!
//! Invariant: *pinned*: the library that has this code is never unloaded once a thread has a value.

use super::once::ForkOnce;
use super::pin;
use std::ffi::c_void;
use std::ptr;

/// The round in which the function runs. Each system has four (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUND: usize = 3;

/// None where the process has no key left.
static KEY: ForkOnce<Option<libc::pthread_key_t>> = ForkOnce::new();
static FUNCTION: ForkOnce<fn()> = ForkOnce::new();

thread_local! {
    static INSTEAD: AtEnd = const { AtEnd };
}

/// Calls the function when the thread's values are dropped, where the system has no place for it.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(function) = FUNCTION.get() {
            function();
        }
    }
}

/// Calls `function` when the calling thread ends; not when the process does. There is one function
/// for all threads.
pub(crate) fn at_thread_end(function: fn()) {
    if FUNCTION.get().is_none() {
        pin::keep_runtime_loaded();
        FUNCTION.get_or_make(|| function);
    }
    let is_set = KEY.get_or_make(new_key).is_some_and(|key| set(key, 1));
    if !is_set {
        // In a thread that drops its values already, nothing is left to call it.
        let _ = INSTEAD.try_with(|_| ());
    }
}

fn new_key() -> Option<libc::pthread_key_t> {
    let mut key = 0;
    // SAFETY: the key is written to an integer of ours; *pinned*.
    let result = unsafe { libc::pthread_key_create(&raw mut key, Some(end_round)) };
    (result == 0).then_some(key)
}

/// Sets the calling thread's value. False without memory for it.
fn set(key: libc::pthread_key_t, round: usize) -> bool {
    // SAFETY: the key was created and is never deleted; the value is a number.
    unsafe { libc::pthread_setspecific(key, ptr::without_provenance_mut::<c_void>(round)) == 0 }
}

/// Ends a round of destructors.
unsafe extern "C" fn end_round(round: *mut c_void) {
    let round = round.addr();
    let key = KEY.get().copied().flatten();
    if round < ROUND && key.is_some_and(|key| set(key, round + 1)) {
        return;
    }
    if let Some(function) = FUNCTION.get() {
        function();
    }
}
