//! Locks by which other processes see that somebody has a file.
//!
//! Windows keeps others from reading and writing what is locked. So a byte is locked that no file
//! has, far behind its end: a reader of the trace is not kept out, and one that asks for the whole
//! file, as the tool does, sees that somebody has it. Another byte has the mark that a file is in
//! use by a process that may be read by others. WASI has no locks, and one process.

use protolog_files::descriptor::open_again;
use std::fs::File;

/// A lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    /// None where the lock is that of a file which somebody else closes.
    own: Option<File>,
}

/// The bytes that are locked.
const LOCK: u64 = 1 << 62;
const MARK: u64 = LOCK + 1;

impl FileLock {
    /// Locks a file that can be written against everybody else; none if somebody has a lock on it.
    pub(crate) fn exclusive(file: &File) -> Option<Self> {
        Self::new(file, true)
    }

    /// Locks a readable file against holders that have it [alone](Self::exclusive); none if there
    /// is one.
    pub(crate) fn shared(file: &File) -> Option<Self> {
        Self::new(file, false)
    }

    fn new(file: &File, is_exclusive: bool) -> Option<Self> {
        let own = open_again(file, is_exclusive).ok();
        lock(own.as_ref().unwrap_or(file), LOCK, is_exclusive).then_some(Self { own })
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            unlock(own, LOCK);
        }
    }
}

/// Marks a file as in use; false where somebody has marked it.
pub(super) fn mark(file: &File) -> bool {
    lock(file, MARK, true)
}

/// Returns whether somebody else has marked a file. Others who ask at the same time have not.
pub(super) fn is_marked(file: &File) -> bool {
    let is_free = lock(file, MARK, false);
    if is_free {
        unlock(file, MARK);
    }
    !is_free
}

/// Takes the mark away.
pub(super) fn unmark(file: &File) {
    unlock(file, MARK);
}

#[cfg(windows)]
use windows::{lock, unlock};

#[cfg(windows)]
mod windows {
    use std::ffi::c_void;
    use std::fs::File;
    use std::os::windows::io::{AsRawHandle, RawHandle};

    const FAIL_IMMEDIATELY: u32 = 1;
    const EXCLUSIVE: u32 = 2;
    const LOCK_VIOLATION: u32 = 33;
    const IO_PENDING: u32 = 997;

    /// `OVERLAPPED`, for its offset.
    #[repr(C)]
    struct Overlapped {
        internal: [usize; 2],
        offset: [u32; 2],
        event: *mut c_void,
    }

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetLastError() -> u32;
        fn LockFileEx(
            file: RawHandle,
            flags: u32,
            reserved: u32,
            low: u32,
            high: u32,
            at: *mut Overlapped,
        ) -> i32;
        fn UnlockFileEx(
            file: RawHandle,
            reserved: u32,
            low: u32,
            high: u32,
            at: *mut Overlapped,
        ) -> i32;
    }

    fn place(at: u64) -> Overlapped {
        let offset = [at as u32, (at >> 32) as u32];
        Overlapped { internal: [0; 2], offset, event: std::ptr::null_mut() }
    }

    /// Locks a byte; false where somebody has a lock that excludes it.
    pub(super) fn lock(file: &File, at: u64, is_exclusive: bool) -> bool {
        let flags = FAIL_IMMEDIATELY | if is_exclusive { EXCLUSIVE } else { 0 };
        let mut place = place(at);
        // SAFETY: the handle is open, the place is a value of ours.
        if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) } != 0 {
            return true;
        }
        // SAFETY: takes nothing, and gives a number.
        !matches!(unsafe { GetLastError() }, LOCK_VIOLATION | IO_PENDING)
    }

    pub(super) fn unlock(file: &File, at: u64) {
        let mut place = place(at);
        // SAFETY: the handle is open, the place is a value of ours.
        unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) };
    }
}

#[cfg(not(windows))]
fn lock(_: &File, _: u64, _: bool) -> bool {
    true
}

#[cfg(not(windows))]
fn unlock(_: &File, _: u64) {}
