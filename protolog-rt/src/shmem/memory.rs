//! A mapping of zeroed memory.
//!
//! Invariants
//! - *mapped*: `len` bytes from `base` are readable and writable for as long as the value lives.
//! - *headers*: bytes that are accessed as an atomic are never accessed otherwise while another thread may.
//! - *private*: what a forked child writes disturbs nobody: before it runs, all mappings of its parent become memory of its
//!   own, zeroed, at the same addresses.
#![allow(unsafe_code)] // mmap, munmap, madvise.

use crate::sync::{AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The system's large pages, in bytes: of less memory there can be none.
const LARGE_PAGE: usize = 2 << 20;

/// The smallest of its pages.
const SMALL_PAGE: usize = 4096;

/// Address and size of every mapping of this process.
static MAPPINGS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// A mapping: private and anonymous, or of a part of a file.
#[derive(Debug)]
pub(crate) struct Memory {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the value owns the mapping as a box owns its contents; what threads do to the bytes is `Buffer`'s to order.
unsafe impl Send for Memory {}
// SAFETY: shared references give out the base address only.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps `len` zeroed bytes, all of them resident, so that no writer pays for a page fault; on large pages where the
    /// system has them for who asks, since there are fewer of those to look up, to make and to give back.
    pub(crate) fn anonymous(len: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        if len < LARGE_PAGE {
            return Self::map(len, flags | libc::MAP_POPULATE, -1, 0);
        }
        let memory = Self::map(len, flags, -1, 0)?;
        memory.advise(libc::MADV_HUGEPAGE);
        if !memory.advise(libc::MADV_POPULATE_WRITE) {
            memory.touch();
        }
        Ok(memory)
    }

    /// Maps `len` bytes of `file` from `at` on, a multiple of the size of a page, which are all there; so are their pages
    /// in memory. What is written is in the file at once, for whoever reads it, and stays there when the process dies.
    pub(crate) fn shared(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Self::map(len, libc::MAP_SHARED | libc::MAP_POPULATE, file.as_raw_fd(), at)
    }

    fn map(len: usize, flags: libc::c_int, file: libc::c_int, at: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at = at as libc::off_t;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in use.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, file, at) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base: NonNull<u8> = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        mappings().push((base.as_ptr().expose_provenance(), len));
        Ok(Self { base, len })
    }

    /// The first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The 32 bits at `at`, a multiple of 4.
    pub(crate) fn u32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: *mapped*, *headers*; the mapping begins at a page, so the place is aligned as `at` is.
        unsafe { AtomicU32::from_ptr(self.place(at, size_of::<AtomicU32>()).cast()) }
    }

    /// The 64 bits at `at`, a multiple of 8.
    pub(crate) fn u64(&self, at: usize) -> &AtomicU64 {
        // SAFETY: as in `u32`.
        unsafe { AtomicU64::from_ptr(self.place(at, size_of::<AtomicU64>()).cast()) }
    }

    /// The 16 bits at `at`, a multiple of 2.
    pub(crate) fn u16(&self, at: usize) -> &AtomicU16 {
        // SAFETY: as in `u32`.
        unsafe { AtomicU16::from_ptr(self.place(at, size_of::<AtomicU16>()).cast()) }
    }

    /// The address of `size` bytes at `at`, aligned to their size.
    fn place(&self, at: usize, size: usize) -> *mut u8 {
        debug_assert!(
            at % size == 0 && at + size <= self.len,
            "{size} bytes at {at} of {}",
            self.len
        );
        // SAFETY: *mapped*: callers stay below the mapping's size.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// Gives the memory back to the system, keeping the addresses: every byte is zero afterwards, or what the file has.
    /// Whoever still writes there does no harm.
    pub(crate) fn discard(&self) {
        self.advise(libc::MADV_DONTNEED);
    }

    /// Tells the system something about the mapping; false where it does not want to know.
    fn advise(&self, advice: libc::c_int) -> bool {
        // SAFETY: *mapped*; whatever the advice, the pages stay mapped, and where they change they are zero or what the
        // file has, values of every type kept there.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.len, advice) == 0 }
    }

    /// Makes every page resident, before anybody else has the mapping.
    fn touch(&self) {
        for at in (0..self.len).step_by(SMALL_PAGE) {
            self.u32(at).store(0, Ordering::Relaxed);
        }
    }
}

/// Held around a fork, so that the list of mappings is whole.
pub(crate) type Mappings = MutexGuard<'static, Vec<(usize, usize)>>;

/// The list of mappings; none where somebody has it.
pub(crate) fn try_mappings() -> Option<Mappings> {
    match MAPPINGS.try_lock() {
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Ok(guard) => Some(guard),
    }
}

fn mappings() -> Mappings {
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In a forked child, which has one thread: makes all mappings of its parent *private*.
pub(crate) fn detach(mappings: &Mappings) {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    for &(base, len) in mappings.iter() {
        let base = std::ptr::with_exposed_provenance_mut(base);
        // SAFETY: *mapped*; what is there from now on is zero, which is a value of every type kept there, and nobody else
        // looks, since the child has this thread only.
        let _ = unsafe { libc::mmap(base, len, protection, flags, -1, 0) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let base = self.base.as_ptr().addr();
        // Before the address can be another's.
        mappings().retain(|mapping| mapping.0 != base);
        // SAFETY: *mapped*, and whoever has a pointer into the mapping holds the value that owns it.
        let _ = unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    #[test]
    fn what_a_forked_child_writes_is_its_own() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("shared");
        std::fs::write(&path, [0; 8192]).unwrap();
        let file = File::options().read(true).write(true).open(path).unwrap();
        let memory = Memory::shared(&file, 0, 8192).unwrap();
        memory.u32(4096).store(1, Ordering::Relaxed);
        // As before a fork. Its handlers do not run for a bare clone, in which the allocator must not be used.
        let held = mappings();
        let flags = libc::SIGCHLD;
        // SAFETY: without a stack and flags it is a fork.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as libc::pid_t;
        if pid == 0 {
            detach(&held);
            let before = memory.u32(4096).swap(7, Ordering::Relaxed);
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(before as i32) };
        }
        drop(held);
        let mut status = 0;
        // SAFETY: the kernel writes an int to the address.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child's memory was zero");
        assert_eq!(memory.u32(4096).load(Ordering::Relaxed), 1, "the parent's is as it was");
    }
}
