//! Mapped memory: of the process's own, or of a part of a file. Windows lets nobody truncate a file
//! that is mapped, so a store finds its page there.
//!
//! Invariant: *mapped*: `len` bytes from `base` are readable and writable for as long as the value
//! lives.

#[cfg(not(windows))]
mod heap;
#[cfg(windows)]
mod views;

#[cfg(not(windows))]
use heap as system;
#[cfg(windows)]
use views as system;

use protolog_shmem::Backing;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The smallest of the system's pages.
const SMALL_PAGE: usize = 4096;

/// A mapping, private and anonymous or of a part of a file. Dropping it unmaps it.
#[derive(Debug)]
pub(crate) struct Mapping(Arc<View>);

/// Its memory.
#[derive(Debug)]
struct View {
    base: NonNull<u8>,
    len: usize,
    /// True for that of a file.
    is_shared: bool,
}

// SAFETY: the value owns the mapping as a box owns its contents, and gives out no more than its
// address.
unsafe impl Send for View {}
// SAFETY: a shared reference gives out the address and the size, and otherwise asks the system,
// which any thread may do.
unsafe impl Sync for View {}

/// The pages of a mapped file that the disk has not.
#[derive(Debug)]
pub(crate) struct DirtyPages(Weak<View>);

impl DirtyPages {
    /// Has the system write them, as long as they are mapped. Syncing the file does the rest.
    pub(crate) fn write(&self) -> io::Result<()> {
        let view = self.0.upgrade();
        view.map_or(Ok(()), |view| system::write(view.base, view.len))
    }
}

impl Mapping {
    /// Maps `len` zeroed bytes, all of them resident, so that no writer pays for a page fault.
    pub(crate) fn anonymous(len: usize) -> io::Result<Self> {
        let mapping = Self::untouched(len)?;
        mapping.touch(0, len);
        Ok(mapping)
    }

    /// Maps `len` zeroed bytes, each page of which takes memory once it is written.
    pub(crate) fn untouched(len: usize) -> io::Result<Self> {
        Ok(Self(Arc::new(View { base: system::allocate(len)?, len, is_shared: false })))
    }

    /// Maps `len` bytes of `file` from `at` on, a multiple of the size of a page, which are all
    /// there; so are their pages in memory. A written byte is in the file at once, for any reader
    /// of it, and stays there when the process dies.
    pub(crate) fn shared(file: &File, at: usize, len: usize) -> io::Result<Self> {
        let mapping = Self::shared_untouched(file, at, len)?;
        mapping.touch(0, len);
        Ok(mapping)
    }

    /// Likewise. Nothing is resident.
    pub(crate) fn shared_untouched(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Ok(Self(Arc::new(View { base: system::map(file, at, len)?, len, is_shared: true })))
    }

    /// Makes `len` bytes from `at` on resident, whatever they are.
    pub(crate) fn make_resident(&self, at: usize, len: usize) -> bool {
        self.touch(at, len);
        true
    }

    /// Returns what writes its pages to the disk.
    pub(crate) fn dirty_pages(&self) -> DirtyPages {
        DirtyPages(Arc::downgrade(&self.0))
    }

    /// Makes every page of `len` bytes from `at` on resident, and leaves all as it is.
    fn touch(&self, at: usize, len: usize) {
        let View { base, len: all, .. } = *self.0;
        assert!(at <= all && len <= all - at, "{len} bytes at {at} of {all}");
        for at in (at..at + len).step_by(SMALL_PAGE) {
            // SAFETY: *mapped*: `at` is below the size, as was asserted.
            let place = unsafe { base.add(at) };
            // SAFETY: *mapped*; a page begins with a word that others use as this atomic only, or
            // nobody has the address yet.
            let word = unsafe { AtomicU64::from_ptr(place.cast().as_ptr()) };
            word.fetch_or(0, Ordering::Relaxed);
        }
    }
}

// SAFETY: *mapped*; the mapping begins at a page, its first bytes are zero or a file's, and it is
// nobody else's in this process.
unsafe impl Backing for Mapping {
    fn base(&self) -> NonNull<u8> {
        self.0.base
    }

    fn len(&self) -> usize {
        self.0.len
    }

    /// As [`Backing::discard`]: every byte is zero afterwards, or what the file has.
    fn discard(&self) {
        let View { base, len, is_shared } = *self.0;
        if !is_shared {
            // SAFETY: *mapped*; zeros are values of every type that is kept in mapped memory, and
            // nobody uses it meanwhile.
            unsafe { base.write_bytes(0, len) };
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        system::free(self.base, self.len, self.is_shared);
    }
}

/// Maps a part of a file in place of memory of the program, which can't be done.
///
/// # Safety
/// Nothing is touched.
pub(crate) unsafe fn replace(_: *mut u8, _: usize, _: Option<(&File, u64)>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
