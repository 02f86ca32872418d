//! What only WASI has: the numbers of files by its C library.

use super::Use;
use crate::refused::Kind;
use crate::status::Status;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd};
use std::path::Path;

/// A link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Where it leads.
    Followed,
    /// The link itself.
    Itself,
}

/// Returns the properties of an open file.
pub(crate) fn status(file: &File) -> io::Result<Status> {
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the system writes to a value of ours.
    let result = unsafe { libc::fstat(file.as_raw_fd(), found.as_mut_ptr()) };
    of_result(result, &found)
}

/// Returns the properties of an entry. To look at it has no effect on it.
pub(super) fn status_of_path(path: &Path, last: Last) -> io::Result<Status> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    let result = match last {
        // SAFETY: the path is a C string that lives through the call, which writes to a value of
        // ours.
        Last::Followed => unsafe { libc::stat(path.as_ptr(), found.as_mut_ptr()) },
        // SAFETY: the same.
        Last::Itself => unsafe { libc::lstat(path.as_ptr(), found.as_mut_ptr()) },
    };
    of_result(result, &found)
}

fn of_result(result: i32, found: &MaybeUninit<libc::stat>) -> io::Result<Status> {
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: numbers, for which zero is a value, also where nothing was written.
    let found = unsafe { found.assume_init_ref() };
    let kind = match found.st_mode & libc::S_IFMT {
        libc::S_IFREG => Kind::File,
        libc::S_IFDIR => Kind::Directory,
        libc::S_IFLNK => Kind::Link,
        libc::S_IFCHR => Kind::Device,
        _ => Kind::Other,
    };
    Ok(Status {
        kind,
        device: found.st_dev,
        inode: found.st_ino,
        user: 0,
        mode: 0o600,
        links: found.st_nlink,
        size: found.st_size as u64,
    })
}

/// Opens a file; an error if it is a link.
pub(super) fn open_without_links(path: &Path, how: Use) -> io::Result<File> {
    let flags = match how {
        Use::Read => libc::O_RDONLY,
        Use::Write => libc::O_WRONLY,
        Use::Append => libc::O_WRONLY | libc::O_APPEND,
        Use::ReadWrite => libc::O_RDWR,
    };
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: the path is a C string that lives through the call.
    let number = unsafe { libc::open(path.as_ptr(), flags | libc::O_NOFOLLOW) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(number) })
}

/// Returns whether an error says that a name is that of a link.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// Renames an entry; an error if the new name is taken.
pub(super) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        there => there.and_then(|_| Err(io::ErrorKind::AlreadyExists.into())),
    }
}

/// Opens a file once more, which can't be done by the file alone.
pub(crate) fn reopen(_: &File, _: Use) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the file of a stream of the program, which stays open.
pub(crate) fn duplicate(stream: impl AsFd) -> io::Result<File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

/// Returns whether a byte divides the components of a path.
pub(crate) fn is_separator(byte: u8) -> bool {
    byte == b'/'
}

/// Reads from an offset on.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let (number, out, size) = (file.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: the pointer and the size are those of a slice of ours.
    let read = unsafe { libc::pread(number, out, size, offset as libc::off_t) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// Writes from an offset on.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let (number, from, size) = (file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the pointer and the size are those of a slice.
    let written = unsafe { libc::pwrite(number, from, size, offset as libc::off_t) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}
