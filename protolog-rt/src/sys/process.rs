//! The process: its id and its user.
//!
//! The id is asked for with each chunk that a thread takes, and the C library asks the kernel each time. So it is kept on a
//! page that the kernel wipes in every child that has memory of its own, however the child was made.
//!
//! Invariant: *wiped*: a page that holds the id was mapped and marked wiped before anybody could see it, stays mapped, and is
//! used as one atomic only.

use crate::sync::{AtomicPtr, AtomicU32, Ordering};

/// The process's id, or 0, on a page that the kernel wipes in a child; null where there is no such page.
static KEPT_ID: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Creates the page that caches the process's id, where the kernel has such pages. Called once.
pub(super) fn prepare() {
    if let Some(page) = wiped_page() {
        KEPT_ID.store(page, Ordering::Release);
    }
}

/// Returns the process's id, mostly without a system call.
#[inline]
pub(crate) fn id() -> u32 {
    // SAFETY: *wiped*: null, or a page that stays mapped, with zeros or an id, which is used as this atomic only.
    let kept = unsafe { KEPT_ID.load(Ordering::Acquire).as_ref() };
    match kept.map(|kept| kept.load(Ordering::Relaxed)) {
        Some(id) if id != 0 => id,
        _ => ask(kept),
    }
}

/// Asks the kernel, and keeps the answer.
#[cold]
#[inline(never)]
fn ask(kept: Option<&AtomicU32>) -> u32 {
    let id = std::process::id();
    if let Some(kept) = kept {
        kept.store(id, Ordering::Relaxed);
    }
    id
}

/// Maps a page of zeros that is zeros again in a child; none on a kernel before 4.14.
fn wiped_page() -> Option<*mut AtomicU32> {
    const SIZE: usize = 4096;
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in use.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page was just mapped, and nobody else has it.
    if unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) } == 0 {
        return Some(page.cast());
    }
    // SAFETY: the page was just mapped, and its address is forgotten here.
    unsafe { libc::munmap(page, SIZE) };
    None
}

/// Returns the id of the user that the process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_child_knows_its_own_id() {
        prepare();
        assert_eq!(id(), std::process::id());
        // Not by the C library, so that no handler runs.
        let flags = libc::SIGCHLD;
        // SAFETY: without a stack and flags it is a fork.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as libc::pid_t;
        if pid == 0 {
            let own = std::process::id();
            let good = id() == own && id() == own;
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(!good as i32) };
        }
        let mut status = -1;
        // SAFETY: the pointer is to an integer of ours.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!((status, id()), (0, std::process::id()));
    }
}
