//! The switches of a program, mapped: an operator changes a word, and every thread of the program finds it changed at its
//! next call.
//!
//! What stands in a word is said in [`protolog_core::control::switch`].
//!
//! Invariants
//! - *mapped*: `size` bytes from `base` are readable and writable for as long as the value lives: the file is at least as
//!   long, and sealed against being cut off.
//! - *words*: the bytes are accessed as `AtomicU32` only, as the program accesses them.
#![allow(unsafe_code)] // mmap and munmap, and words in mapped memory.

use crate::error::Error;
use crate::group::Group;
use protolog_core::control::switch;
use rustix::fs::SealFlags;
use rustix::mm::{MapFlags, ProtFlags};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// The most bytes that are mapped.
const MOST: usize = 1 << 30;

/// The pages of a program. See the module.
#[derive(Debug)]
pub struct Pages {
    base: NonNull<u8>,
    size: usize,
    page_size: usize,
}

// SAFETY: the value owns the mapping; the words in it are atomics.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `count` pages of `page_size` bytes.
    pub(crate) fn map(file: &OwnedFd, count: u32, page_size: u32) -> Result<Self, Error> {
        let size = (count as usize).checked_mul(page_size as usize);
        let size = size.filter(|size| *size > 0 && *size <= MOST && page_size % 4096 == 0);
        let size = size.ok_or(Error::Memory("its size is none that pages have"))?;
        let stat = rustix::fs::fstat(file).map_err(|error| Error::Connection(error.into()))?;
        if u64::try_from(stat.st_size).unwrap_or(0) < size as u64 {
            return Err(Error::Memory("it is shorter than was said"));
        }
        let seals = rustix::fs::fcntl_get_seals(file);
        if !seals.is_ok_and(|seals| seals.contains(SealFlags::SHRINK)) {
            return Err(Error::Memory("it could be cut off"));
        }
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in use.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), size, protection, flags, file, 0) };
        let base = base.map_err(|error| Error::Connection(error.into()))?;
        let base = NonNull::new(base.cast()).ok_or(Error::Memory("it has no address"))?;
        Ok(Self { base, size, page_size: page_size as usize })
    }

    /// The group's word; none where its page is not shared.
    pub fn word(&self, group: &Group) -> Option<&AtomicU32> {
        let page = (group.page? as usize).checked_mul(self.page_size)?;
        let within = usize::from(group.index) * 4;
        let at = page.checked_add(within)?;
        let inside = within < self.page_size && at.checked_add(4)? <= self.size;
        // SAFETY: *mapped*, and the place is inside, as was seen.
        let place = inside.then(|| unsafe { self.base.as_ptr().add(at) })?;
        // SAFETY: *mapped*, *words*; pages begin at multiples of 4,096 bytes, and `at` is a multiple of 4.
        Some(unsafe { AtomicU32::from_ptr(place.cast()) })
    }

    /// Makes `levels` (bit = severity) what is printed of the group. False where its page is not shared.
    pub fn print(&self, group: &Group, levels: u8) -> bool {
        self.word(group).map(|word| switch::set_text_levels(word, levels)).is_some()
    }

    /// Makes `levels` (bit = severity) what sessions may have of the group. False where its page is not shared.
    pub fn allow(&self, group: &Group, levels: u8) -> bool {
        self.word(group).map(|word| switch::set_allowed_levels(word, levels)).is_some()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: *mapped*, and whoever has a word borrows the value.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, fcntl_add_seals, ftruncate, memfd_create};
    use std::sync::atomic::Ordering;

    fn file(size: u64, seals: SealFlags) -> OwnedFd {
        named("test", size, seals)
    }

    fn named(name: &str, size: u64, seals: SealFlags) -> OwnedFd {
        let file = memfd_create(name, MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&file, size).unwrap();
        fcntl_add_seals(&file, seals).unwrap();
        file
    }

    fn group(page: Option<u32>, index: u16) -> Group {
        Group { page, index, ..Group::default() }
    }

    #[test]
    fn words_are_those_of_the_file() {
        let file = file(8192, SealFlags::SHRINK);
        let (one, other) =
            (Pages::map(&file, 2, 4096).unwrap(), Pages::map(&file, 2, 4096).unwrap());
        let last = group(Some(1), 1023);
        assert!(one.allow(&last, 0x3f) && one.print(&last, 1));
        assert_eq!(other.word(&last).unwrap().load(Ordering::Relaxed), 0x003f_0100);
        for outside in [
            group(None, 0),
            group(Some(2), 0),
            group(Some(0), 1024),
            group(Some(u32::MAX), u16::MAX),
        ] {
            assert!(!one.print(&outside, 1) && one.word(&outside).is_none());
        }
    }

    #[test]
    fn what_is_dropped_is_not_mapped() {
        let file = named("dropped-pages", 4096, SealFlags::SHRINK);
        let is_mapped =
            || std::fs::read_to_string("/proc/self/maps").unwrap().contains("dropped-pages");
        let pages = Pages::map(&file, 1, 4096).unwrap();
        assert!(is_mapped());
        drop(pages);
        assert!(!is_mapped());
    }

    #[test]
    fn memory_that_could_go_away_is_refused() {
        let told =
            |file: &OwnedFd, count, size| Pages::map(file, count, size).unwrap_err().to_string();
        assert!(told(&file(8192, SealFlags::GROW), 2, 4096).ends_with("it could be cut off"));
        assert!(
            told(&file(4096, SealFlags::SHRINK), 2, 4096).ends_with("it is shorter than was said")
        );
        for (count, size) in [(0, 4096), (1, 0), (1, 100), (u32::MAX, u32::MAX), (1 << 20, 4096)] {
            assert!(told(&file(8192, SealFlags::SHRINK), count, size).ends_with("that pages have"));
        }
    }
}
