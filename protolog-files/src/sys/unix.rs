//! What all Unix systems have.

use super::Use;
use crate::refused::Kind;
use crate::status::Status;
use std::ffi::{CString, OsStr, OsString, c_int};
use std::fs::{self, File, Metadata};
use std::io;
use std::mem::offset_of;
pub(crate) use std::os::fd::AsFd as At;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An open directory.
pub(crate) type Held = File;

/// A descriptor that stands for a directory; nothing is read from it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const PLACE_OF_DIRECTORY: c_int = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
/// One that is only searched.
#[cfg(target_vendor = "apple")]
pub(super) const PLACE_OF_DIRECTORY: c_int = libc::O_SEARCH | libc::O_DIRECTORY | libc::O_NOFOLLOW;

/// The flags of everything that is opened for reading or writing: no link is followed, and nothing
/// is waited for.
pub(super) const SAFE: c_int = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;

/// A number that no file has: it is beyond what the kernel gives.
pub(crate) fn no_descriptor() -> BorrowedFd<'static> {
    // SAFETY: nothing owns it, and calls with it fail.
    unsafe { BorrowedFd::borrow_raw(c_int::MAX) }
}

/// Holds a directory that somebody else holds, too.
pub(crate) fn hold(directory: impl AsFd) -> io::Result<Held> {
    Ok(directory.as_fd().try_clone_to_owned()?.into())
}

/// Returns whether a byte divides the components of a path.
pub(crate) fn is_separator(byte: u8) -> bool {
    byte == b'/'
}

/// The longest text of a link that the system has.
const LONGEST_LINK: usize = libc::PATH_MAX as usize;

/// Opens the directory at a path, from the root or the working directory. The last component is no
/// link.
pub(crate) fn open_directory(path: &Path) -> io::Result<Held> {
    open_path(path, PLACE_OF_DIRECTORY)
}

/// The same, by links to it.
pub(crate) fn follow_to_directory(path: &Path) -> io::Result<Held> {
    open_path(path, PLACE_OF_DIRECTORY & !libc::O_NOFOLLOW)
}

/// Opens a path with these flags.
pub(super) fn open_path(path: impl AsRef<OsStr>, flags: c_int) -> io::Result<File> {
    let path = terminated(path.as_ref())?;
    file(|| {
        // SAFETY: the path is a C string that lives through the call.
        unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) }
    })
}

/// Opens the file `name` in a directory.
pub(crate) fn open_at(directory: impl AsFd, name: &OsStr, how: Use) -> io::Result<File> {
    open_with(directory, name, flags(how) | SAFE, 0)
}

/// Creates the file `name` in a directory: an error if anything is there, even a link.
pub(crate) fn create_at(
    directory: impl AsFd,
    name: &OsStr,
    how: Use,
    mode: u32,
) -> io::Result<File> {
    open_with(directory, name, flags(how) | SAFE | libc::O_CREAT | libc::O_EXCL, mode)
}

/// Opens `name` in a directory, or creates it with `mode` if the flags say so.
pub(super) fn open_with(
    directory: impl AsFd,
    name: &OsStr,
    flags: c_int,
    mode: u32,
) -> io::Result<File> {
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    file(|| {
        // SAFETY: the name is a C string that lives through the call.
        unsafe { libc::openat(directory, name.as_ptr(), flags | libc::O_CLOEXEC, mode) }
    })
}

pub(super) fn flags(how: Use) -> c_int {
    match how {
        Use::Read => libc::O_RDONLY,
        Use::Write => libc::O_WRONLY,
        Use::Append => libc::O_WRONLY | libc::O_APPEND,
        Use::ReadWrite => libc::O_RDWR,
    }
}

/// Opens a directory that is held, so that its names can be read.
pub(crate) fn readable(directory: impl AsFd) -> io::Result<File> {
    open_with(directory, OsStr::new("."), libc::O_RDONLY | libc::O_DIRECTORY, 0)
}

/// Returns the file of a stream of the program, which stays open.
pub(crate) fn duplicate(stream: impl AsFd) -> io::Result<File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

/// Returns the properties of an open file.
pub(crate) fn status(file: &File) -> io::Result<Status> {
    Ok(status_of(&file.metadata()?))
}

/// Returns the properties of an open directory.
pub(crate) fn status_of_held(held: &Held) -> io::Result<Status> {
    status(held)
}

/// Returns the properties of what a path leads to, by any links. It takes no descriptor, of which
/// the process may have none left.
pub(crate) fn status_of_path(path: &Path) -> io::Result<Status> {
    Ok(status_of(&fs::metadata(path)?))
}

fn status_of(found: &Metadata) -> Status {
    Status {
        kind: Kind::from(found.file_type()),
        device: found.dev(),
        inode: found.ino(),
        user: found.uid(),
        mode: found.mode(),
        links: found.nlink(),
        size: found.len(),
    }
}

/// Returns the text of the link `name`; of the descriptor itself if that is empty.
pub(crate) fn read_link_at(directory: impl AsFd, name: &OsStr) -> io::Result<PathBuf> {
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    let mut text = vec![0; LONGEST_LINK];
    let (out, size) = (text.as_mut_ptr().cast(), text.len());
    // SAFETY: the name is a C string that lives through the call, and `out` has `size` bytes.
    let length = unsafe { libc::readlinkat(directory, name.as_ptr(), out, size) };
    text.truncate(usize::try_from(length).map_err(|_| io::Error::last_os_error())?);
    Ok(OsString::from_vec(text).into())
}

/// Makes a directory.
pub(crate) fn make_directory_at(directory: impl AsFd, name: &OsStr, mode: u32) -> io::Result<()> {
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    // SAFETY: the name is a C string that lives through the call.
    done(unsafe { libc::mkdirat(directory, name.as_ptr(), mode as libc::mode_t) })
}

/// Renames an entry, over an existing one.
pub(crate) fn rename_at(
    from: impl AsFd,
    name: &OsStr,
    to: impl AsFd,
    new_name: &OsStr,
) -> io::Result<()> {
    let (from, to) = (from.as_fd().as_raw_fd(), to.as_fd().as_raw_fd());
    let (name, new_name) = (terminated(name)?, terminated(new_name)?);
    // SAFETY: both names are C strings that live through the call.
    done(unsafe { libc::renameat(from, name.as_ptr(), to, new_name.as_ptr()) })
}

/// Removes an entry that is no directory.
pub(crate) fn remove_at(directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    unlink_at(directory, name, 0)
}

/// Removes an empty directory.
pub(crate) fn remove_directory_at(directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    unlink_at(directory, name, libc::AT_REMOVEDIR)
}

fn unlink_at(directory: impl AsFd, name: &OsStr, flags: c_int) -> io::Result<()> {
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    // SAFETY: the name is a C string that lives through the call.
    done(unsafe { libc::unlinkat(directory, name.as_ptr(), flags) })
}

/// Returns where the data of a file goes on at or after an offset; none if there is only a hole.
pub(crate) fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match seek(file, offset, libc::SEEK_DATA) {
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        found => found.map(Some),
    }
}

/// Returns where the next hole of a file is at or after an offset, or its end.
pub(crate) fn next_hole(file: &File, offset: u64) -> io::Result<u64> {
    seek(file, offset, libc::SEEK_HOLE)
}

fn seek(file: &File, offset: u64, to: c_int) -> io::Result<u64> {
    let offset = offset.try_into().map_err(|_| io::Error::from_raw_os_error(libc::ENXIO))?;
    // SAFETY: takes and gives numbers.
    let found = unsafe { libc::lseek(file.as_raw_fd(), offset, to) };
    u64::try_from(found).map_err(|_| io::Error::last_os_error())
}

/// Lets writes wait until there is room.
pub(crate) fn block(file: &File) -> io::Result<()> {
    // SAFETY: takes and gives numbers.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: takes numbers.
    done(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) })
}

/// Sets the mode of the open file.
pub(crate) fn set_mode(open: impl AsFd, mode: u32) -> io::Result<()> {
    // SAFETY: takes numbers.
    done(unsafe { libc::fchmod(open.as_fd().as_raw_fd(), mode as libc::mode_t) })
}

/// Returns the user that this process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::geteuid() }
}

/// Connects a socket to the one at `path`.
pub(crate) fn connect(socket: impl AsFd, path: &Path) -> io::Result<()> {
    let (address, size) = address(path)?;
    let address = (&raw const address).cast();
    // SAFETY: `address` points to a value of ours, which has `size` bytes.
    done(unsafe { libc::connect(socket.as_fd().as_raw_fd(), address, size) })
}

/// Gives a socket the address `path`, where nothing may be.
pub(crate) fn bind(socket: impl AsFd, path: &Path) -> io::Result<()> {
    let (address, size) = address(path)?;
    let address = (&raw const address).cast();
    // SAFETY: `address` points to a value of ours, which has `size` bytes.
    done(unsafe { libc::bind(socket.as_fd().as_raw_fd(), address, size) })
}

/// Lets a socket listen, with so many waiting connections.
pub(crate) fn listen(socket: impl AsFd, backlog: c_int) -> io::Result<()> {
    // SAFETY: takes numbers.
    done(unsafe { libc::listen(socket.as_fd().as_raw_fd(), backlog) })
}

fn address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    let path = terminated(path.as_os_str())?;
    // SAFETY: numbers and bytes, for which zero is a value.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_bytes_with_nul();
    if bytes.len() > address.sun_path.len() {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    let size = offset_of!(libc::sockaddr_un, sun_path) + bytes.len();
    Ok((address, size as libc::socklen_t))
}

pub(super) fn terminated(path: &OsStr) -> io::Result<CString> {
    Ok(CString::new(path.as_bytes())?)
}

pub(super) fn done(result: c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The file that `open` opens, which is called again if a signal interrupts it.
pub(super) fn file(open: impl Fn() -> c_int) -> io::Result<File> {
    loop {
        let descriptor = open();
        if descriptor >= 0 {
            // SAFETY: the descriptor is new, and nobody else has it.
            return Ok(unsafe { File::from_raw_fd(descriptor) });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Returns whether an error says that a directory is none, or a link.
pub(crate) fn is_no_directory(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP))
}

/// Returns whether an error says that a name is that of a link.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// Returns whether an error says that nobody has a pipe open for reading.
pub(crate) fn has_no_reader(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENXIO)
}
