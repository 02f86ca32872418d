//! The mapped switch words of a process. An operator changes a word, and every thread of the
//! process sees the change at its next call. [`protolog_core::control::switch`] describes the
//! words.
//!
//! Invariants
//! - *mapped*: `size` bytes from `base` are readable and writable for as long as the value lives.
//!   The file is at least as long, and sealed against shrinking; or it is a file of the operator's
//!   own user, whose programs may end this one anyway.
//! - *words*: the bytes are accessed as `AtomicU32` only, in this process and in the other one.
#![allow(unsafe_code)] // mmap and munmap, and words in mapped memory.

use crate::error::Error;
use crate::group::Group;
#[cfg(any(target_os = "linux", target_os = "android"))]
use protolog_core::control::protocol::MEMORY_NAME;
use protolog_core::control::switch;
use protolog_files::{Access, Directory};
use rustix::fs::Stat;
#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::{Mode, OFlags, SealFlags};
#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::io;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// Maximum size of the mapping, in bytes.
const MAX_SIZE: usize = 1 << 30;

/// The mapped pages of a process. See the module.
#[derive(Debug)]
pub struct Pages {
    base: NonNull<u8>,
    size: usize,
    page_size: usize,
}

// SAFETY: by *mapped* the value owns the mapping, which any thread may unmap; by *words* all
// accesses are atomic.
unsafe impl Send for Pages {}
// SAFETY: by *words* all accesses through a shared reference are atomic.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `count` pages of `page_size` bytes.
    pub(crate) fn map(file: &OwnedFd, count: u32, page_size: u32) -> Result<Self, Error> {
        // First, since it asks the kernel alone: the server of a file system may leave a look at
        // the size of its file unanswered.
        if !never_shrinks(file) {
            return Err(Error::Memory("not sealed against shrinking"));
        }
        let (size, _) = measure(file, count, page_size)?;
        Self::map_checked(file, size, page_size)
    }

    /// Maps the file of this name in the directory of a program's socket. Both belong to this user,
    /// and are nobody else's: root maps no file in a directory of another user.
    pub(crate) fn map_file_in(
        directory: &Directory,
        name: &str,
        count: u32,
        page_size: u32,
    ) -> Result<Self, Error> {
        let user = rustix::process::geteuid().as_raw();
        if directory.status().map_err(Error::Connection)?.uid() != user {
            return Err(Error::Memory("in a directory of another user"));
        }
        let entry = match directory.look(name) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(Error::Memory("the name of the file is none"));
            }
            entry => entry.map_err(Error::Connection)?,
        };
        // Nothing keeps the program from truncating it, which would end an operator who has it
        // mapped, such as root.
        if !(entry.is_regular() && entry.is_private_to(user)) {
            return Err(Error::Memory("not a file of this user alone"));
        }
        let file = directory.open_entry(name, &entry, Access::ReadWrite);
        let file = file.map_err(Error::Connection)?.into();
        let (size, stat) = measure(&file, count, page_size)?;
        if u64::try_from(stat.st_size).ok() != Some(size as u64) {
            return Err(Error::Memory("longer than announced"));
        }
        Self::map_checked(&file, size, page_size)
    }

    /// As on Linux, where another process's files can be opened.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn map_descriptor(_: u32, _: u32, _: u32, _: u32) -> Result<Self, Error> {
        Err(Error::Memory("no memory of switches"))
    }

    /// Maps the memory that the process has open under this number: that of a program's switches,
    /// which belongs to this user and is nobody else's. `pid` is the kernel's word, of a process of
    /// this user: another one could end, and have its id taken by one of this user.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn map_descriptor(
        pid: u32,
        number: u32,
        count: u32,
        page_size: u32,
    ) -> Result<Self, Error> {
        // To open an entry that is no file may have an effect, so it is looked at before.
        let name = format!("/proc/{pid}/fd/{number}");
        let failed = |error: Errno| Error::Connection(error.into());
        let link = rustix::fs::open(name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let link = link.map_err(failed)?;
        check_private(&rustix::fs::fstat(&link).map_err(failed)?)?;
        let own = format!("/proc/self/fd/{}", link.as_raw_fd());
        let target = rustix::fs::readlink(&own, Vec::new()).map_err(failed)?;
        let switches = [b"/memfd:", MEMORY_NAME.to_bytes(), b" (deleted)"].concat();
        if target.to_bytes() != switches {
            return Err(Error::Memory("no memory of switches"));
        }
        let file = rustix::fs::open(own, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        Self::map(&file.map_err(failed)?, count, page_size)
    }

    /// Maps `size` bytes of a file that is as long.
    fn map_checked(file: &OwnedFd, size: usize, page_size: u32) -> Result<Self, Error> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in
        // use.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), size, protection, flags, file, 0) };
        let base = base.map_err(|error| Error::Connection(error.into()))?;
        let base = NonNull::new(base.cast()).ok_or(Error::Memory("mapped at address 0"))?;
        Ok(Self { base, size, page_size: page_size as usize })
    }

    /// The switch word of the group; none if its page is not shared.
    pub fn word(&self, group: &Group) -> Option<&AtomicU32> {
        let page = (group.page? as usize).checked_mul(self.page_size)?;
        let within = usize::from(group.index) * 4;
        let at = page.checked_add(within)?;
        let inside = within < self.page_size && at.checked_add(4)? <= self.size;
        // SAFETY: `inside` holds, so `at` is within the `size` bytes of *mapped*.
        let place = inside.then(|| unsafe { self.base.as_ptr().add(at) })?;
        // SAFETY: by *mapped* the word lives as long as `self`, by *words* it is only accessed
        // atomically. It is aligned: the mapping begins at a page, `page_size` is a multiple of
        // 4,096 (`map` checks it), and `within` one of 4.
        Some(unsafe { AtomicU32::from_ptr(place.cast()) })
    }

    /// Sets the group's text levels (bit = severity). False if its page is not shared.
    pub fn set_text_levels(&self, group: &Group, levels: u8) -> bool {
        self.word(group).map(|word| switch::set_text_levels(word, levels)).is_some()
    }

    /// Sets the levels (bit = severity) that sessions are allowed to record. False if the group's
    /// page is not shared.
    pub fn set_allowed_levels(&self, group: &Group, levels: u8) -> bool {
        self.word(group).map(|word| switch::set_allowed_levels(word, levels)).is_some()
    }
}

/// Returns whether it is a file in memory that keeps at least its size, whoever has it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn never_shrinks(file: &OwnedFd) -> bool {
    rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
}

/// There are none.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn never_shrinks(_: &OwnedFd) -> bool {
    false
}

/// An error unless it is a file that belongs to this user, and that nobody else may open.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn check_private(stat: &Stat) -> Result<(), Error> {
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    // None of the six bits of the group and of others.
    let is_private = is_file && stat.st_mode.trailing_zeros() >= 6;
    if is_private && stat.st_uid == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(Error::Memory("not a file of this user alone"))
    }
}

/// The size of the mapping, if the file is as long.
fn measure(file: &OwnedFd, count: u32, page_size: u32) -> Result<(usize, Stat), Error> {
    let size = (count as usize).checked_mul(page_size as usize);
    let size = size.filter(|size| *size > 0 && *size <= MAX_SIZE && page_size % 4096 == 0);
    let size = size.ok_or(Error::Memory("invalid size"))?;
    let stat = rustix::fs::fstat(file).map_err(|error| Error::Connection(error.into()))?;
    if u64::try_from(stat.st_size).unwrap_or(0) < size as u64 {
        return Err(Error::Memory("shorter than announced"));
    }
    Ok((size, stat))
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping of *mapped*, and every reference into it borrows `self`.
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
        assert!(one.set_allowed_levels(&last, 0x3f) && one.set_text_levels(&last, 1));
        assert_eq!(other.word(&last).unwrap().load(Ordering::Relaxed), 0x003f_0100);
        for outside in [
            group(None, 0),
            group(Some(2), 0),
            group(Some(0), 1024),
            group(Some(u32::MAX), u16::MAX),
        ] {
            assert!(!one.set_text_levels(&outside, 1) && one.word(&outside).is_none());
        }
    }

    #[test]
    fn a_file_is_mapped_if_it_is_this_users_alone() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = protolog_testkit::temp_dir();
        let path = directory.path().join("1-a.switches");
        std::fs::write(&path, [0; 8192]).unwrap();
        let set_mode = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let map = |name: &str, count| {
            let opened = Directory::open(directory.path()).unwrap();
            let mapped = Pages::map_file_in(&opened, name, count, 4096);
            mapped.map_err(|error| error.to_string())
        };
        set_mode(0o600);
        let pages = map("1-a.switches", 2).unwrap();
        assert!(pages.set_text_levels(&group(Some(1), 3), 0x3f));
        assert_eq!(std::fs::read(&path).unwrap()[4096 + 13], 0x3f);
        assert!(map("1-a.switches", 3).unwrap_err().ends_with("shorter than announced"));
        assert!(map("1-a.switches", 1).unwrap_err().ends_with("longer than announced"));
        for name in ["", "..", "../1-a.switches", "/dev/null"] {
            assert!(map(name, 1).unwrap_err().ends_with("the name of the file is none"), "{name}");
        }
        symlink(&path, directory.path().join("link")).unwrap();
        assert!(map("link", 2).unwrap_err().ends_with("not a file of this user alone"));
        std::fs::hard_link(&path, directory.path().join("other")).unwrap();
        assert!(map("1-a.switches", 2).unwrap_err().ends_with("not a file of this user alone"));
        std::fs::remove_file(directory.path().join("other")).unwrap();
        set_mode(0o640);
        assert!(map("1-a.switches", 2).unwrap_err().ends_with("not a file of this user alone"));
        set_mode(0o600);
        // Only root may give a file away.
        let nobody = Some(rustix::process::geteuid().as_raw() + 1);
        if std::os::unix::fs::chown(&path, nobody, None).is_ok() {
            assert!(map("1-a.switches", 2).unwrap_err().ends_with("not a file of this user alone"));
            std::os::unix::fs::chown(directory.path(), nobody, None).unwrap();
            assert!(map("1-a.switches", 2).unwrap_err().ends_with("a directory of another user"));
        }
    }

    #[test]
    fn a_file_in_memory_is_mapped_by_its_descriptor() {
        let map = |file: &dyn AsRawFd, count| {
            let number = u32::try_from(file.as_raw_fd()).unwrap();
            let mapped = Pages::map_descriptor(std::process::id(), number, count, 4096);
            mapped.map_err(|error| error.to_string())
        };
        let set_mode = |file: &OwnedFd, mode| {
            rustix::fs::fchmod(file, Mode::from_raw_mode(mode)).unwrap();
        };
        let switches = |seals| named(MEMORY_NAME.to_str().unwrap(), 8192, seals);
        let memory = switches(SealFlags::SHRINK);
        set_mode(&memory, 0o600);
        let pages = map(&memory, 2).unwrap();
        assert!(pages.set_text_levels(&group(Some(1), 3), 0x3f));
        let other = Pages::map(&memory, 2, 4096).unwrap();
        assert_eq!(other.word(&group(Some(1), 3)).unwrap().load(Ordering::Relaxed), 0x3f00);
        assert!(map(&memory, 3).unwrap_err().ends_with("shorter than announced"));
        for mode in [0o640, 0o606, 0o777] {
            set_mode(&memory, mode);
            let error = map(&memory, 2).unwrap_err();
            assert!(error.ends_with("not a file of this user alone"), "{mode:o}: {error}");
        }
        // Memory that could shrink, and a file that is no program's switches.
        let (unsealed, other) = (switches(SealFlags::GROW), file(8192, SealFlags::SHRINK));
        set_mode(&unsealed, 0o600);
        assert!(map(&unsealed, 2).unwrap_err().ends_with("not sealed against shrinking"));
        set_mode(&other, 0o600);
        let on_disk = tempfile(8192);
        for file in [&other, &on_disk] {
            assert!(map(file, 2).unwrap_err().ends_with("no memory of switches"));
        }
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(map(&null, 2).unwrap_err().ends_with("not a file of this user alone"));
        drop(on_disk);
        let closed = Pages::map_descriptor(std::process::id(), u32::MAX, 2, 4096);
        assert!(closed.unwrap_err().to_string().starts_with("can't reach the program"));
    }

    /// An open file without a name, of mode 0600.
    fn tempfile(size: u64) -> OwnedFd {
        use std::os::unix::fs::OpenOptionsExt;
        let directory = protolog_testkit::temp_dir();
        let mut options = std::fs::File::options();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(directory.path().join("file")).unwrap();
        file.set_len(size).unwrap();
        file.into()
    }

    #[test]
    fn dropped_pages_are_unmapped() {
        let file = named("dropped-pages", 4096, SealFlags::SHRINK);
        let is_mapped =
            || std::fs::read_to_string("/proc/self/maps").unwrap().contains("dropped-pages");
        let pages = Pages::map(&file, 1, 4096).unwrap();
        assert!(is_mapped());
        drop(pages);
        assert!(!is_mapped());
    }

    #[test]
    fn memory_that_could_shrink_is_refused() {
        let error =
            |file: &OwnedFd, count, size| Pages::map(file, count, size).unwrap_err().to_string();
        assert!(
            error(&file(8192, SealFlags::GROW), 2, 4096).ends_with("not sealed against shrinking")
        );
        assert!(error(&file(4096, SealFlags::SHRINK), 2, 4096).ends_with("shorter than announced"));
        for (count, size) in [(0, 4096), (1, 0), (1, 100), (u32::MAX, u32::MAX), (1 << 20, 4096)] {
            assert!(error(&file(8192, SealFlags::SHRINK), count, size).ends_with("invalid size"));
        }
    }
}
