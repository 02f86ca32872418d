//! Mapped memory: of the process's own, or of a part of a file.
//!
//! Invariants
//! - *mapped*: `len` bytes from `base` are readable and writable for as long as the value lives.
//! - *listed*: every mapping is in the list of mappings, from before anybody has its address until
//!   it is unmapped.
//! - *private*: a forked child's writes disturb nobody: before it runs, all mappings of its
//!   parent become memory of its own, zeroed, at the same addresses.

use super::fork::{ForkLock, Order};
use protolog_shmem::Backing;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's large pages, in bytes: less memory can have none.
const LARGE_PAGE: usize = 2 << 20;

/// The error of memory that is broken. Not all of libc's systems have a name for it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const EHWPOISON: libc::c_int = 133;

/// The smallest of its pages.
const SMALL_PAGE: usize = 4096;

/// Has the pages resident at once, where the system can do that.
#[cfg(any(target_os = "linux", target_os = "android"))]
const RESIDENT: libc::c_int = libc::MAP_POPULATE;
#[cfg(target_vendor = "apple")]
const RESIDENT: libc::c_int = 0;

/// Address and size of every mapping of this process.
static MAPPINGS: ForkLock<Vec<(usize, usize)>> =
    ForkLock::with_child(Order::Mappings, Vec::new(), detach);

/// A mapping, private and anonymous or of a part of a file. Dropping it unmaps it.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
    /// True for that of a file.
    #[cfg(target_vendor = "apple")]
    is_shared: bool,
}

// SAFETY: the value owns the mapping as a box owns its contents, and gives out no more than its
// address.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives out the address and the size, and otherwise asks the kernel,
// which any thread may do.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` zeroed bytes, all of them resident, so that no writer pays for a page fault; on
    /// large pages where the system has them, since there are fewer of those to look up, to make
    /// and to give back.
    pub(crate) fn anonymous(len: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        if len < LARGE_PAGE {
            return Self::map(len, flags | RESIDENT, -1, 0);
        }
        let mapping = Self::map(len, flags, -1, 0)?;
        if !mapping.populate() {
            mapping.touch(0, len);
        }
        Ok(mapping)
    }

    /// Makes every page resident, of which the process has all; false where the system can't.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn populate(&self) -> bool {
        self.advise(libc::MADV_HUGEPAGE, 0, self.len);
        self.advise(libc::MADV_POPULATE_WRITE, 0, self.len)
    }

    #[cfg(target_vendor = "apple")]
    #[allow(clippy::unused_self)] // As on Linux.
    fn populate(&self) -> bool {
        false
    }

    /// Maps `len` zeroed bytes, each page of which takes memory once it is written.
    pub(crate) fn untouched(len: usize) -> io::Result<Self> {
        Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }

    /// Maps `len` bytes of `file` from `at` on, a multiple of the size of a page, which are all
    /// there; so are their pages in memory. A written byte is in the file at once, for any reader
    /// of it, and stays there when the process dies.
    pub(crate) fn shared(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Self::map(len, libc::MAP_SHARED | RESIDENT, file.as_raw_fd(), at)
    }

    /// Likewise, of a file which may have holes there. Nothing is resident.
    pub(crate) fn shared_untouched(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Self::map(len, libc::MAP_SHARED, file.as_raw_fd(), at)
    }

    /// Makes `len` bytes from `at` on resident, whatever they are, where the system can. False
    /// where a store there would end the program (`SIGBUS`): the file lacks them.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn make_resident(&self, at: usize, len: usize) -> bool {
        if self.advise(libc::MADV_POPULATE_WRITE, at, len) {
            return true;
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EFAULT | EHWPOISON) => false,
            // Before Linux 5.14, and in a sandbox that refuses what it does not know.
            Some(libc::EINVAL | libc::ENOSYS | libc::EPERM) => {
                self.touch(at, len);
                true
            }
            _ => true,
        }
    }

    #[cfg(target_vendor = "apple")]
    pub(super) fn make_resident(&self, at: usize, len: usize) -> bool {
        self.touch(at, len);
        true
    }

    fn map(len: usize, flags: libc::c_int, file: libc::c_int, at: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at = at as libc::off_t;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in
        // use.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, file, at) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base: NonNull<u8> = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        MAPPINGS.lock().push((base.as_ptr().expose_provenance(), len));
        Ok(Self {
            base,
            len,
            #[cfg(target_vendor = "apple")]
            is_shared: file >= 0,
        })
    }

    /// Tells the system something about `len` bytes from `at` on; false where it ignores that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn advise(&self, advice: libc::c_int, at: usize, len: usize) -> bool {
        assert!(at <= self.len && len <= self.len - at, "{len} bytes at {at} of {}", self.len);
        let start = self.base.as_ptr().wrapping_add(at);
        // SAFETY: *mapped*, as was asserted; none of the advice given here unmaps pages, and where
        // they change they are zero or what the file has, values of every type that is kept in
        // mapped memory.
        unsafe { libc::madvise(start.cast(), len, advice) == 0 }
    }

    /// Makes every page of `len` bytes from `at` on resident, and leaves all as it is.
    fn touch(&self, at: usize, len: usize) {
        assert!(at <= self.len && len <= self.len - at, "{len} bytes at {at} of {}", self.len);
        for at in (at..at + len).step_by(SMALL_PAGE) {
            // SAFETY: *mapped*: `at` is below the size, as was asserted.
            let place = unsafe { self.base.add(at) };
            // SAFETY: *mapped*; a page begins with a word that others use as this atomic only, or
            // nobody has the address yet.
            let word = unsafe { AtomicU64::from_ptr(place.cast().as_ptr()) };
            word.fetch_or(0, Ordering::Relaxed);
        }
    }
}

impl Mapping {
    /// Returns what writes its pages to the disk.
    pub(crate) fn dirty_pages(&self) -> DirtyPages {
        let _ = self;
        DirtyPages
    }
}

/// The pages of a mapped file that the disk has not: here syncing the file writes them, too.
#[derive(Debug)]
pub(crate) struct DirtyPages;

impl DirtyPages {
    /// Leaves it to the file.
    #[allow(clippy::unnecessary_wraps, clippy::unused_self)] // As on Windows.
    pub(crate) fn write(&self) -> io::Result<()> {
        Ok(())
    }
}

// SAFETY: *mapped*; the mapping begins at a page, its first bytes are zero or a file's, and it is
// nobody else's in this process.
unsafe impl Backing for Mapping {
    fn base(&self) -> NonNull<u8> {
        self.base
    }

    fn len(&self) -> usize {
        self.len
    }

    /// As [`Backing::discard`]: every byte is zero afterwards, or what the file has.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn discard(&self) {
        self.advise(libc::MADV_DONTNEED, 0, self.len);
    }

    /// As [`Backing::discard`]: there the advice keeps what was written, so other pages take the
    /// place of the process's own.
    #[cfg(target_vendor = "apple")]
    fn discard(&self) {
        if !self.is_shared {
            // SAFETY: *mapped*; zeros are values of every type that is kept in mapped memory.
            let _ = unsafe { replace(self.base.as_ptr(), self.len, None) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let base = self.base.as_ptr().addr();
        // Before the address can be another's.
        MAPPINGS.lock().retain(|mapping| mapping.0 != base);
        // SAFETY: *mapped*; whoever uses the memory borrows or owns the value, which nobody does
        // any more.
        let _ = unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Makes all mappings of the parent *private*, in a forked child, which has one thread.
fn detach(mappings: &mut Vec<(usize, usize)>) {
    for &mut (base, len) in mappings {
        // SAFETY: *listed*: the range is a mapping of this module's and nothing else's. It becomes
        // zero, which is a value of every type that is kept there, and the child has no other
        // thread that looks meanwhile.
        let _ = unsafe { replace(std::ptr::with_exposed_provenance_mut(base), len, None) };
    }
}

/// Maps `len` bytes of a file from an offset on, or private zeros, in place of the mapping at
/// `start`. This is one step: a thread that reads there meanwhile sees either the old bytes or the
/// new ones. Allocates nothing.
///
/// # Safety
/// The range is whole pages of the caller's, and what stands there after the call is valid for
/// every use of them. The file has the range, and keeps it.
pub(crate) unsafe fn replace(
    start: *mut u8,
    len: usize,
    file: Option<(&File, u64)>,
) -> io::Result<()> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let (kind, file, at) = match file {
        Some((file, at)) => (libc::MAP_SHARED, file.as_raw_fd(), at),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0),
    };
    let (flags, at) = (kind | libc::MAP_FIXED, at as libc::off_t);
    // SAFETY: the caller owns the range, and what it becomes is valid for all who use it.
    let mapped = unsafe { libc::mmap(start.cast(), len, protection, flags, file, at) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::AtomicU32;

    #[test]
    fn touched_pages_are_resident_and_as_they_were() {
        let mapping = Mapping::untouched(4 * SMALL_PAGE).unwrap();
        // SAFETY: *mapped*; the place is on the second page, and used as this atomic only.
        let word =
            unsafe { AtomicU64::from_ptr(mapping.base().as_ptr().wrapping_add(SMALL_PAGE).cast()) };
        word.store(7, Ordering::Relaxed);
        mapping.touch(SMALL_PAGE, 2 * SMALL_PAGE);
        assert_eq!(word.load(Ordering::Relaxed), 7);
        let mut found = [0; 4];
        let base = mapping.base().as_ptr().cast();
        // SAFETY: the kernel writes a byte for each of the four pages.
        let answer = unsafe { libc::mincore(base, 4 * SMALL_PAGE, found.as_mut_ptr().cast()) };
        let resident = found.map(|byte: u8| byte & 1);
        assert_eq!((answer, resident), (0, [0, 1, 1, 0]));
    }

    #[test]
    fn what_a_forked_child_writes_is_its_own() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("shared");
        std::fs::write(&path, [0; 8192]).unwrap();
        let file = File::options().read(true).write(true).open(path).unwrap();
        let mapping = Mapping::shared(&file, 0, 8192).unwrap();
        // SAFETY: *mapped*; the place is on the second page, and used as this atomic only.
        let word =
            unsafe { AtomicU32::from_ptr(mapping.base().as_ptr().wrapping_add(4096).cast()) };
        word.store(1, Ordering::Relaxed);
        // As before a fork. Its handlers do not run for a bare clone, in which the allocator must
        // not be used.
        let mut held = MAPPINGS.lock();
        let flags = libc::SIGCHLD;
        // SAFETY: without a stack and flags it is a fork.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as libc::pid_t;
        if pid == 0 {
            detach(&mut held);
            let before = word.swap(7, Ordering::Relaxed);
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(before as i32) };
        }
        drop(held);
        let mut status = 0;
        // SAFETY: the kernel writes an int to the address.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child's memory was zero");
        assert_eq!(word.load(Ordering::Relaxed), 1, "the parent's is as it was");
    }
}
