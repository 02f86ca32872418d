//! A full memory barrier on all running threads of the process, by the system call `membarrier`;
//! macOS has none.
//!
//! Invariant: after [`heavy`] each other thread has either not yet acted after its next light
//! barrier, or its actions before its last one are visible here.
use crate::sync::{AtomicBool, Ordering, fence};

/// True once the system lets the process use it.
static READY: AtomicBool = AtomicBool::new(false);

/// Registers the process for the barrier; a forked child has to do it again.
pub(crate) fn prepare() {
    let registered = membarrier(Membarrier::Register);
    READY.store(registered, Ordering::Relaxed);
}

/// In a forked child: it has to prepare anew.
pub(crate) fn in_child() {
    READY.store(false, Ordering::Relaxed);
}

/// Returns true where the process has such a barrier.
pub(crate) fn is_ready() -> bool {
    READY.load(Ordering::Relaxed)
}

/// Passes the barrier; false where it is not [ready](is_ready).
pub(crate) fn heavy() -> bool {
    fence(Ordering::SeqCst);
    membarrier(Membarrier::Pass)
}

#[derive(Clone, Copy)]
enum Membarrier {
    Register,
    Pass,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn membarrier(command: Membarrier) -> bool {
    let command = match command {
        Membarrier::Register => libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
        Membarrier::Pass => libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED,
    };
    // SAFETY: the call takes two integers and touches no memory of the program.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0) == 0 }
}

#[cfg(target_vendor = "apple")]
fn membarrier(_: Membarrier) -> bool {
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_once_it_was_prepared() {
        prepare();
        assert_eq!(is_ready(), heavy());
    }
}
