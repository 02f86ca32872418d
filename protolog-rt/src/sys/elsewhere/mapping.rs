//! Mapped memory: of the process's own, or of a part of a file.
//!
//! Invariant: *mapped*: `len` bytes from `base` are readable and writable for as long as the value
//! lives.

use protolog_shmem::Backing;
use std::fs::File;
use std::io;
use std::ptr::NonNull;

/// A mapping, private and anonymous or of a part of a file. Dropping it unmaps it.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
    /// True for that of a file.
    is_shared: bool,
}

// SAFETY: the value owns the mapping as a box owns its contents, and gives out no more than its
// address.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives out the address and the size, and otherwise asks the system,
// which any thread may do.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` zeroed bytes, all of them resident, so that no writer pays for a page fault.
    pub(crate) fn anonymous(len: usize) -> io::Result<Self> {
        let mapping = Self::untouched(len)?;
        for at in (0..len).step_by(4096) {
            // SAFETY: *mapped*: `at` is below the size.
            let place = unsafe { mapping.base.add(at) };
            // SAFETY: *mapped*; nobody else has the address yet.
            unsafe { place.write_volatile(0) };
        }
        Ok(mapping)
    }

    /// Maps `len` zeroed bytes, each page of which takes memory once it is written.
    pub(crate) fn untouched(len: usize) -> io::Result<Self> {
        Ok(Self { base: system::allocate(len)?, len, is_shared: false })
    }

    /// Maps `len` bytes of `file` from `at` on, which are all there. A written byte is in the file
    /// at once, for any reader of it, and stays there when the process dies.
    pub(crate) fn shared(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Ok(Self { base: system::map(file, at, len)?, len, is_shared: true })
    }

    /// Likewise.
    pub(crate) fn shared_untouched(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Self::shared(file, at, len)
    }

    /// Leaves it to the system.
    #[allow(clippy::unused_self)] // As on Linux.
    pub(crate) fn make_resident(&self, _: usize, _: usize) -> bool {
        true
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
    fn discard(&self) {
        if !self.is_shared {
            // SAFETY: *mapped*; zeros are values of every type that is kept in mapped memory, and
            // nobody uses it meanwhile.
            unsafe { self.base.write_bytes(0, self.len) };
        }
    }
}

impl Drop for Mapping {
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

#[cfg(windows)]
mod system {
    use std::ffi::c_void;
    use std::fs::File;
    use std::io;
    use std::os::windows::io::{AsRawHandle, RawHandle};
    use std::ptr::{self, NonNull};

    const COMMIT_AND_RESERVE: u32 = 0x3000;
    const RELEASE: u32 = 0x8000;
    const READ_WRITE: u32 = 4;
    const MAP_READ_AND_WRITE: u32 = 6;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn CloseHandle(handle: RawHandle) -> i32;
        fn CreateFileMappingW(
            file: RawHandle,
            attributes: *const c_void,
            protection: u32,
            high: u32,
            low: u32,
            name: *const u16,
        ) -> RawHandle;
        fn MapViewOfFile(
            mapping: RawHandle,
            access: u32,
            high: u32,
            low: u32,
            size: usize,
        ) -> *mut u8;
        fn UnmapViewOfFile(base: *const u8) -> i32;
        fn VirtualAlloc(base: *mut u8, size: usize, kind: u32, protection: u32) -> *mut u8;
        fn VirtualFree(base: *mut u8, size: usize, kind: u32) -> i32;
    }

    pub(super) fn allocate(len: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: memory at an address of the system's choice is in use by nobody.
        let base = unsafe { VirtualAlloc(ptr::null_mut(), len, COMMIT_AND_RESERVE, READ_WRITE) };
        NonNull::new(base).ok_or_else(io::Error::last_os_error)
    }

    /// Maps a part of a file. `at` is a multiple of 64 KiB.
    pub(super) fn map(file: &File, at: usize, len: usize) -> io::Result<NonNull<u8>> {
        let end = (at + len) as u64;
        let (file, null) = (file.as_raw_handle(), ptr::null());
        let (high, low) = ((end >> 32) as u32, end as u32);
        // SAFETY: the handle is open; without a name and attributes.
        let mapping = unsafe { CreateFileMappingW(file, null, READ_WRITE, high, low, ptr::null()) };
        if mapping.is_null() {
            return Err(io::Error::last_os_error());
        }
        let (high, low) = ((at as u64 >> 32) as u32, at as u32);
        // SAFETY: the handle is open, and the file has so many bytes.
        let base = unsafe { MapViewOfFile(mapping, MAP_READ_AND_WRITE, high, low, len) };
        let error = io::Error::last_os_error();
        // SAFETY: the handle is ours; the view keeps the mapping.
        unsafe { CloseHandle(mapping) };
        NonNull::new(base).ok_or(error)
    }

    pub(super) fn free(base: NonNull<u8>, _: usize, is_shared: bool) {
        let base = base.as_ptr();
        if is_shared {
            // SAFETY: `map` has mapped it, and whoever used it does not any more.
            unsafe { UnmapViewOfFile(base) };
        } else {
            // SAFETY: `allocate` has made it, and whoever used it does not any more.
            unsafe { VirtualFree(base, 0, RELEASE) };
        }
    }
}

#[cfg(not(windows))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::fs::File;
    use std::io;
    use std::ptr::NonNull;

    fn layout(len: usize) -> io::Result<Layout> {
        Layout::from_size_align(len.max(1), 4096).map_err(|_| io::ErrorKind::OutOfMemory.into())
    }

    pub(super) fn allocate(len: usize) -> io::Result<NonNull<u8>> {
        let layout = layout(len)?;
        // SAFETY: the layout has at least one byte.
        let base = unsafe { alloc_zeroed(layout) };
        NonNull::new(base).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    pub(super) fn map(_: &File, _: usize, _: usize) -> io::Result<NonNull<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn free(base: NonNull<u8>, len: usize, _: bool) {
        if let Ok(layout) = layout(len) {
            // SAFETY: `allocate` has made it by this layout, and whoever used it does not any more.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
    }
}
