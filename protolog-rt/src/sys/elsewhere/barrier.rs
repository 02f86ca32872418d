//! A full memory barrier on all running threads of the process.
//!
//! Invariant: after [`heavy`] each other thread has either not yet acted after its next light
//! barrier, or its actions before its last one are visible here.

use crate::sync::{Ordering, fence};

/// Registers the process for the barrier.
pub(crate) fn prepare() {}

/// In a forked child, of which there are none.
pub(crate) fn in_child() {}

/// Returns true: the process has such a barrier, or one thread.
pub(crate) fn is_ready() -> bool {
    true
}

/// Passes the barrier.
pub(crate) fn heavy() -> bool {
    fence(Ordering::SeqCst);
    #[cfg(windows)]
    {
        #[link(name = "kernel32")]
        unsafe extern "system" {
            fn FlushProcessWriteBuffers();
        }
        // SAFETY: takes nothing, and touches no memory of the program.
        unsafe { FlushProcessWriteBuffers() };
    }
    true
}
