//! WASI: memory of the allocator's; files can't be mapped.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::File;
use std::io;
use std::ptr::NonNull;

fn layout(len: usize) -> io::Result<Layout> {
    Layout::from_size_align(len.max(1), 4096).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// Returns zeroed memory.
pub(super) fn allocate(len: usize) -> io::Result<NonNull<u8>> {
    let layout = layout(len)?;
    // SAFETY: the layout has at least one byte.
    let base = unsafe { alloc_zeroed(layout) };
    NonNull::new(base).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Maps a part of a file, which can't be done.
pub(super) fn map(_: &File, _: usize, _: usize) -> io::Result<NonNull<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes what is dirty of one.
#[allow(clippy::unnecessary_wraps)] // As on Windows.
pub(super) fn write(_: NonNull<u8>, _: usize) -> io::Result<()> {
    Ok(())
}

pub(super) fn free(base: NonNull<u8>, len: usize, _: bool) {
    if let Ok(layout) = layout(len) {
        // SAFETY: `allocate` has made it by this layout, and whoever used it does not any more.
        unsafe { dealloc(base.as_ptr(), layout) };
    }
}
