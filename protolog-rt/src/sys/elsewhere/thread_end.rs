//! The end of a thread: among the destructors of its thread-local values, in an order of the
//! system's.

use crate::sys::once::ForkOnce;
use crate::sys::pin;

static FUNCTION: ForkOnce<fn()> = ForkOnce::new();

thread_local! {
    static AT_END: AtEnd = const { AtEnd };
}

/// Calls the function when the thread's values are dropped.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(function) = FUNCTION.get() {
            function();
        }
    }
}

/// Calls `function` when the calling thread ends. There is one function for all threads.
pub(crate) fn at_thread_end(function: fn()) {
    if FUNCTION.get().is_none() {
        pin::keep_runtime_loaded();
        FUNCTION.get_or_make(|| function);
    }
    // In a thread that drops its values already, nothing is left to call it.
    let _ = AT_END.try_with(|_| ());
}
