//! Mapped memory as atomics.
//!
//! Invariants
//! - *mapped*: `len` bytes from `base` are readable and writable for as long as the value lives.
//! - *headers*: bytes that are accessed as an atomic are never accessed otherwise while another thread may.
#![allow(unsafe_code)] // Atomics in mapped memory.

use crate::sync::{AtomicU16, AtomicU32, AtomicU64};
use crate::sys::mapping::Mapping;
use std::fs::File;
use std::io;
use std::ptr::NonNull;

/// A mapping of zeroed memory.
#[derive(Debug)]
pub(crate) struct Memory(Mapping);

impl Memory {
    /// Maps `len` zeroed bytes of the process's own, all of them resident.
    pub(crate) fn anonymous(len: usize) -> io::Result<Self> {
        Mapping::anonymous(len).map(Self)
    }

    /// Maps `len` bytes of `file` from `at` on, as [`Mapping::shared`] does.
    pub(crate) fn shared(file: &File, at: usize, len: usize) -> io::Result<Self> {
        Mapping::shared(file, at, len).map(Self)
    }

    /// The first byte.
    #[inline]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.0.base()
    }

    /// Size in bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The 32 bits at `at`, a multiple of 4.
    pub(crate) fn u32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: *mapped*, *headers*; the mapping begins at a page, so the place is aligned as `at` is.
        unsafe { AtomicU32::from_ptr(self.place(at, size_of::<AtomicU32>()).cast()) }
    }

    /// The 64 bits at `at`, a multiple of 8.
    pub(crate) fn u64(&self, at: usize) -> &AtomicU64 {
        // SAFETY: *mapped*, *headers*; the mapping begins at a page, so the place is aligned as `at` is.
        unsafe { AtomicU64::from_ptr(self.place(at, size_of::<AtomicU64>()).cast()) }
    }

    /// The 16 bits at `at`, a multiple of 2.
    pub(crate) fn u16(&self, at: usize) -> &AtomicU16 {
        // SAFETY: *mapped*, *headers*; the mapping begins at a page, so the place is aligned as `at` is.
        unsafe { AtomicU16::from_ptr(self.place(at, size_of::<AtomicU16>()).cast()) }
    }

    /// The address of `size` bytes at `at`, aligned to their size.
    fn place(&self, at: usize, size: usize) -> *mut u8 {
        debug_assert!(
            at % size == 0 && at + size <= self.len(),
            "{size} bytes at {at} of {}",
            self.len()
        );
        // SAFETY: *mapped*: callers stay below the mapping's size.
        unsafe { self.base().as_ptr().add(at) }
    }

    /// Gives the memory back to the system, keeping the addresses: every byte is zero afterwards, or what the file has.
    /// Whoever still writes there does no harm.
    pub(crate) fn discard(&self) {
        self.0.discard();
    }
}
