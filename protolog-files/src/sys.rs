//! The system's calls on directories and sockets, which the standard library has by path only.
//!
//! Programs that log link this crate, and at most two others from outside that have unsafe code
//! (SECURITY.md). So these few calls are declared by libc and wrapped here.
//!
//! Invariant: no pointer outlives its call. Paths are C strings that live through it, and buffers
//! are passed with their size.
#![allow(unsafe_code)] // Each call passes a path, or a buffer with its size.

use std::ffi::{CString, OsStr, OsString, c_int};
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A descriptor that stands for a place in the file system; nothing is read from it.
pub(crate) const PLACE: c_int = libc::O_PATH | libc::O_NOFOLLOW;

/// The flags of everything that is opened for reading or writing: no link is followed, and nothing
/// is waited for.
pub(crate) const SAFE: c_int = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;

/// A number that no file has: it is beyond what the kernel gives.
pub(crate) fn no_descriptor() -> BorrowedFd<'static> {
    // SAFETY: nothing owns it, and calls with it fail.
    unsafe { BorrowedFd::borrow_raw(c_int::MAX) }
}

/// The longest text of a link that the system has.
const LONGEST_LINK: usize = libc::PATH_MAX as usize;

/// The most bytes of a directory's entries that are read at once.
const ENTRIES: usize = 32 << 10;

/// Opens a path from the root or the working directory.
pub(crate) fn open(path: impl AsRef<OsStr>, flags: c_int) -> io::Result<File> {
    let path = terminated(path.as_ref())?;
    file(|| {
        // SAFETY: the path is a C string that lives through the call.
        unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) }
    })
}

/// Opens `name` in a directory, or creates it with `mode` if the flags say so.
pub(crate) fn open_at(
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

/// Opens a directory in a directory; an error if `name` is a link.
pub(crate) fn directory_at(directory: impl AsFd, name: &OsStr) -> io::Result<File> {
    open_at(directory, name, PLACE | libc::O_DIRECTORY, 0)
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
    done(unsafe { libc::mkdirat(directory, name.as_ptr(), mode) })
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

/// Renames an entry to a name that is free: an error if it is taken. A file system that can't look
/// and rename in one step looks before.
pub(crate) fn rename_to_free_at(
    directory: impl AsFd,
    name: &OsStr,
    new_name: &OsStr,
) -> io::Result<()> {
    let directory = directory.as_fd();
    let at = directory.as_raw_fd();
    let (old, new) = (terminated(name)?, terminated(new_name)?);
    // SAFETY: both names are C strings that live through the call. Not every C library has a
    // function for it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            at,
            old.as_ptr(),
            at,
            new.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    };
    let renamed = if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) };
    match renamed {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {
            match open_at(directory, new_name, PLACE, 0) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    rename_at(directory, name, directory, new_name)
                }
                there => there.and_then(|_| Err(io::ErrorKind::AlreadyExists.into())),
            }
        }
        renamed => renamed,
    }
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

/// Gives a name to the file that the link `from` of `/proc` leads to.
pub(crate) fn name_at(from: &Path, directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    let (from, follow) = (terminated(from.as_os_str())?, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both names are C strings that live through the call.
    done(unsafe { libc::linkat(libc::AT_FDCWD, from.as_ptr(), directory, name.as_ptr(), follow) })
}

/// Returns the names in a directory that is open for reading, in any order: at least `most` of
/// them, or all.
pub(crate) fn names(directory: &File, most: usize) -> io::Result<Vec<OsString>> {
    let (mut names, mut bytes) = (Vec::new(), vec![0; ENTRIES]);
    loop {
        let (out, size, number) = (bytes.as_mut_ptr(), bytes.len(), directory.as_raw_fd());
        // SAFETY: `out` has `size` bytes.
        let length = unsafe { libc::syscall(libc::SYS_getdents64, number, out, size) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        let mut rest = bytes.get(..length).unwrap_or_default();
        if rest.is_empty() || names.len() >= most {
            return Ok(names);
        }
        while let Some((name, next)) = first_name(rest) {
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
            rest = next;
        }
    }
}

/// Splits the first entry off those that the kernel gave: its number and the next one's position,
/// its size, its kind, and its name with zeros after it.
fn first_name(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    let size = u16::from_ne_bytes(entries.get(16..18)?.try_into().ok()?);
    let (entry, rest) = entries.split_at_checked(size.into())?;
    Some((entry.get(19..)?.split(|byte| *byte == 0).next()?, rest))
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
    done(unsafe { libc::fchmod(open.as_fd().as_raw_fd(), mode) })
}

/// Returns the user that this process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::geteuid() }
}

/// Creates a Unix socket of streams.
pub(crate) fn socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    let socket = file(|| {
        // SAFETY: takes and gives numbers.
        unsafe { libc::socket(libc::AF_UNIX, kind, 0) }
    })?;
    Ok(socket.into())
}

/// Lets the other end of a Unix socket send open files, or has the kernel refuse them.
#[cfg(not(any(target_arch = "sparc", target_arch = "sparc64")))]
pub(crate) fn admit_files(socket: impl AsFd, yes: bool) -> io::Result<()> {
    /// `SO_PASSRIGHTS` of `asm-generic/socket.h`, since Linux 6.16.
    const PASS_RIGHTS: c_int = 83;
    let value = c_int::from(yes);
    let (socket, from) = (socket.as_fd().as_raw_fd(), (&raw const value).cast());
    let size = size_of_val(&value) as libc::socklen_t;
    // SAFETY: `from` points to a value of ours, which has `size` bytes.
    done(unsafe { libc::setsockopt(socket, libc::SOL_SOCKET, PASS_RIGHTS, from, size) })
}

/// As above, where the option has another number.
#[cfg(any(target_arch = "sparc", target_arch = "sparc64"))]
pub(crate) fn admit_files(_: impl AsFd, _: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Connects a socket to the one at `path`.
pub(crate) fn connect(socket: impl AsFd, path: &Path) -> io::Result<()> {
    let (address, size) = address(path)?;
    let address = (&raw const address).cast();
    // SAFETY: `address` points to a value of ours, which has `size` bytes.
    done(unsafe { libc::connect(socket.as_fd().as_raw_fd(), address, size) })
}

/// Returns the id and the user of the process at the other end of a Unix socket.
pub(crate) fn peer(socket: impl AsFd) -> io::Result<(libc::pid_t, libc::uid_t)> {
    let mut peer = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
    let mut size = size_of_val(&peer) as libc::socklen_t;
    let (socket, out) = (socket.as_fd().as_raw_fd(), (&raw mut peer).cast());
    // SAFETY: `out` points to a value of ours, which has `size` bytes.
    done(unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_PEERCRED, out, &raw mut size)
    })?;
    Ok((peer.pid, peer.uid))
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
    let mut address =
        libc::sockaddr_un { sun_family: libc::AF_UNIX as libc::sa_family_t, sun_path: [0; 108] };
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

fn terminated(path: &OsStr) -> io::Result<CString> {
    Ok(CString::new(path.as_bytes())?)
}

fn done(result: c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The file that `open` opens, which is called again if a signal interrupts it.
fn file(open: impl Fn() -> c_int) -> io::Result<File> {
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
