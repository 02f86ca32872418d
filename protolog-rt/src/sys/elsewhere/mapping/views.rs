//! Windows: views of files, and memory of the process's own.
//!
//! Invariant: *granule*: a view begins at a multiple of 64 KiB, in the file and in memory.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, RawHandle};
use std::ptr::{self, NonNull};

/// Where a view of a file may begin: at multiples of this, on every Windows.
const GRANULE: usize = 64 << 10;

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
    fn FlushViewOfFile(base: *const u8, size: usize) -> i32;
    fn MapViewOfFile(mapping: RawHandle, access: u32, high: u32, low: u32, size: usize) -> *mut u8;
    fn UnmapViewOfFile(base: *const u8) -> i32;
    fn VirtualAlloc(base: *mut u8, size: usize, kind: u32, protection: u32) -> *mut u8;
    fn VirtualFree(base: *mut u8, size: usize, kind: u32) -> i32;
}

/// Returns zeroed memory.
pub(super) fn allocate(len: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: memory at an address of the system's choice is in use by nobody.
    let base = unsafe { VirtualAlloc(ptr::null_mut(), len, COMMIT_AND_RESERVE, READ_WRITE) };
    NonNull::new(base).ok_or_else(io::Error::last_os_error)
}

/// Maps a part of a file, which has it.
pub(super) fn map(file: &File, at: usize, len: usize) -> io::Result<NonNull<u8>> {
    let end = (at + len) as u64;
    let (file, null) = (file.as_raw_handle(), ptr::null());
    let (high, low) = ((end >> 32) as u32, end as u32);
    // SAFETY: the handle is open; without a name and attributes.
    let mapping = unsafe { CreateFileMappingW(file, null, READ_WRITE, high, low, ptr::null()) };
    if mapping.is_null() {
        return Err(io::Error::last_os_error());
    }
    let before = at % GRANULE;
    let start = (at - before) as u64;
    let (high, low) = ((start >> 32) as u32, start as u32);
    // SAFETY: the handle is open, and the file has so many bytes.
    let view = unsafe { MapViewOfFile(mapping, MAP_READ_AND_WRITE, high, low, before + len) };
    let error = io::Error::last_os_error();
    // SAFETY: the handle is ours; the view keeps the mapping.
    unsafe { CloseHandle(mapping) };
    let view = NonNull::new(view).ok_or(error)?;
    // SAFETY: the view has `len` bytes behind these.
    Ok(unsafe { view.add(before) })
}

/// Writes what is dirty of a view to the file.
pub(super) fn write(base: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: `map` has mapped so many bytes there, and the caller keeps them.
    let is_done = unsafe { FlushViewOfFile(base.as_ptr(), len) } != 0;
    if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(super) fn free(base: NonNull<u8>, _: usize, is_shared: bool) {
    let base = base.as_ptr();
    if is_shared {
        // *granule*
        let view = base.map_addr(|it| it - it % GRANULE);
        // SAFETY: `map` has mapped it, and whoever used it does not any more.
        unsafe { UnmapViewOfFile(view) };
    } else {
        // SAFETY: `allocate` has made it, and whoever used it does not any more.
        unsafe { VirtualFree(base, 0, RELEASE) };
    }
}
