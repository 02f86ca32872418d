//! The memory of a stream's buffer: all of it has addresses, but only a first part of it is there
//! from the start. So a short program takes no more memory than it uses, in its own memory and
//! where its recording is.
//!
//! Invariants
//! - *there*: bytes that are there are allocated in the file, if there is one, so that no store
//!   ends the program (`SIGBUS`) where the disk is full.
//! - *resident*: they are resident before a writer has them, where the system can do that.

use super::errno::KeptErrno;
use super::mapping::Mapping;
use protolog_shmem::{Backing, Buffer, Memory};
use std::fs::File;
use std::ptr::NonNull;
use std::{fmt, io};

/// Bytes that are there from the start: twice those after which the session's thread is woken.
#[cfg(any(target_os = "linux", target_os = "android", windows))]
const FIRST: usize = 4 << 20;
/// Nothing grows there.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
const FIRST: usize = usize::MAX;

/// A mapping, and how the rest of it comes to be there: `allocate` is given where and how many
/// bytes. It takes no lock and allocates nothing.
struct Growing<A> {
    mapping: Mapping,
    allocate: A,
}

/// The bytes that are there from the start, of so many.
pub(crate) fn first_of(bytes: usize) -> usize {
    bytes.min(FIRST)
}

/// The buffer of a stream in the part of `file` from `at` on, of so many bytes. The first `there`
/// are allocated, and the file is as long as all; `allocate` allocates more.
pub(crate) fn in_file(
    (file, at): (&File, usize),
    (bytes, there): (usize, usize),
    allocate: impl Fn(usize, usize) -> bool + Send + Sync + 'static,
) -> io::Result<Buffer> {
    let mapping = Mapping::shared_untouched(file, at, bytes)?;
    Growing { mapping, allocate }.into_buffer(there).ok_or(io::ErrorKind::StorageFull.into())
}

/// The buffer of a stream in memory of the process, none of which is resident. None where the
/// memory is broken.
pub(crate) fn in_memory(mapping: Mapping) -> Option<Buffer> {
    let there = first_of(mapping.len());
    Growing { mapping, allocate: |_, _| true }.into_buffer(there)
}

impl<A: Fn(usize, usize) -> bool + Send + Sync + 'static> Growing<A> {
    fn into_buffer(self, there: usize) -> Option<Buffer> {
        let is_there = self.mapping.make_resident(0, there);
        is_there.then(|| Buffer::growing(Memory::new(self), there))
    }
}

// SAFETY: what a mapping promises, which is what this gives out; *there*.
unsafe impl<A: Fn(usize, usize) -> bool + Send + Sync> Backing for Growing<A> {
    fn base(&self) -> NonNull<u8> {
        self.mapping.base()
    }

    fn len(&self) -> usize {
        self.mapping.len()
    }

    fn grow(&self, at: usize, len: usize) -> bool {
        let _errno = KeptErrno::new();
        (self.allocate)(at, len) && self.mapping.make_resident(at, len)
    }

    fn discard(&self) {
        self.mapping.discard();
    }
}

impl<A> fmt::Debug for Growing<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Growing").field("mapping", &self.mapping).finish_non_exhaustive()
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;
    use protolog_shmem::PAGE;

    /// Somebody truncated it, or the file system allocates less than it says.
    #[test]
    fn what_the_file_lacks_is_not_there() {
        let dir = protolog_testkit::temp_dir();
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true);
        let file = file.open(dir.path().join("file")).unwrap();
        file.set_len(8 * PAGE as u64).unwrap();
        let mapping = Mapping::shared_untouched(&file, 0, 8 * PAGE).unwrap();
        let growing = Growing { mapping, allocate: |_, _| true };
        file.set_len(6 * PAGE as u64).unwrap();
        assert!(growing.grow(PAGE, 2 * PAGE));
        assert!(!growing.grow(4 * PAGE, 4 * PAGE));
        assert!(in_file((&file, 0), (8 * PAGE, 8 * PAGE), |_, _| true).is_err());
        assert!(in_file((&file, 0), (8 * PAGE, 4 * PAGE), |_, _| true).is_ok());
    }
}
