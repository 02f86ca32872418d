//! What Linux and Android do in their own way: descriptors that stand for a place, and `/proc`,
//! whose links lead from a descriptor to its file.

use super::unix::{
    PLACE_OF_DIRECTORY, bind, block, done, file, flags, has_no_reader, open_path, open_with,
    read_link_at, set_mode, status, terminated,
};
use super::{Fault, Use};
use crate::refused::{Kind, Refused};
use crate::status::Status;
use std::ffi::{CStr, OsStr, OsString, c_int};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A descriptor that stands for a place in the file system; nothing is read from it.
const PLACE: c_int = libc::O_PATH | libc::O_NOFOLLOW;

/// The most bytes of a directory's entries that are read at once.
const ENTRIES: usize = 32 << 10;

/// An entry that was looked at: a place that nothing is read from.
#[derive(Debug)]
pub(crate) struct Looked {
    place: File,
    status: Status,
}

/// Looks at `name`, which may be a link.
pub(crate) fn look_at(directory: impl AsFd, name: &OsStr) -> io::Result<Looked> {
    Looked::new(open_with(directory, name, PLACE, 0)?)
}

/// Looks at what a path leads to, by any links.
pub(crate) fn look(path: &Path) -> io::Result<Looked> {
    Looked::new(open_path(path, libc::O_PATH)?)
}

impl Looked {
    fn new(place: File) -> io::Result<Self> {
        let status = status(&place)?;
        Ok(Self { place, status })
    }

    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    /// Returns the text of the link that was looked at.
    pub(crate) fn target(&self) -> io::Result<PathBuf> {
        read_link_at(&self.place, OsStr::new(""))
    }

    /// Turns the directory that was looked at into one to start from.
    #[allow(clippy::unnecessary_wraps)] // As on other systems.
    pub(crate) fn into_directory(self) -> io::Result<File> {
        Ok(self.place)
    }

    /// Opens the file that was looked at for reading.
    pub(crate) fn open(&self) -> io::Result<File> {
        reopen(&self.place, Use::Read)
    }
}

impl AsFd for Looked {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.place.as_fd()
    }
}

/// Opens a file once more, an open file of its own.
pub(crate) fn reopen(file: &File, how: Use) -> io::Result<File> {
    // A link, so it is followed.
    let again = open_path(link_to(file), flags(how) | libc::O_NONBLOCK | libc::O_NOCTTY)?;
    let is_same = status(&again)?.identity() == status(file)?.identity();
    if is_same { Ok(again) } else { Err(Fault::Stale.into()) }
}

/// The link that leads to the open file.
fn link_to(open: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", open.as_fd().as_raw_fd()).into()
}

/// Opens a directory in a directory; an error if `name` is a link.
pub(crate) fn directory_at(directory: impl AsFd, name: &OsStr) -> io::Result<File> {
    open_with(directory, name, PLACE_OF_DIRECTORY, 0)
}

/// Opens the directory that the link `name` leads to, by the kernel's own way.
pub(crate) fn follow_at(directory: impl AsFd, name: &OsStr) -> io::Result<File> {
    open_with(directory, name, libc::O_PATH | libc::O_DIRECTORY, 0)
}

/// Returns whether a link is one that the kernel makes, as `/proc/self/cwd`, whose text may lead
/// elsewhere than the link.
pub(crate) fn is_link_of_kernel(link: &Status) -> bool {
    fs::metadata("/proc").is_ok_and(|system| system.dev() == link.dev())
}

/// Renames an entry in one step, unless the new name is taken.
pub(crate) fn rename_unless_taken(
    directory: BorrowedFd<'_>,
    name: &CStr,
    new_name: &CStr,
) -> io::Result<()> {
    let (at, old, new) = (directory.as_raw_fd(), name.as_ptr(), new_name.as_ptr());
    let (call, flags) = (libc::SYS_renameat2, libc::RENAME_NOREPLACE);
    // SAFETY: both names are C strings that live through the call. Not every C library has a
    // function for it.
    let result = unsafe { libc::syscall(call, at, old, at, new, flags) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Creates a file without a name in a directory; none where that can't be done.
pub(crate) fn nameless_at(directory: impl AsFd, mode: u32) -> Option<File> {
    let flags = libc::O_TMPFILE | libc::O_WRONLY;
    let nameless = open_with(directory, OsStr::new("."), flags, mode).ok();
    nameless.filter(|file| link_to(file).exists())
}

/// Gives a name to a file that has none.
pub(crate) fn name_at(file: &File, directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    let (from, follow) = (terminated(link_to(file).as_os_str())?, libc::AT_SYMLINK_FOLLOW);
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

/// Opens the file of a descriptor of this process once more, to be written as it is.
pub(crate) fn open_descriptor(number: u32) -> io::Result<File> {
    let not_open = || io::Error::from(Fault::Closed);
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).map_err(|_| not_open())?;
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let had = field("flags:").and_then(|flags| i32::from_str_radix(flags, 8).ok());
    let had = had.ok_or_else(not_open)?;
    if had & libc::O_ACCMODE == libc::O_RDONLY || had & libc::O_PATH != 0 {
        return Err(not_open());
    }
    let path = format!("/proc/self/fd/{number}");
    let kind = Kind::from(fs::metadata(&path)?.file_type());
    let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY | had & libc::O_APPEND;
    let mut file = open_path(path, flags).map_err(|error| match (has_no_reader(&error), kind) {
        (true, Kind::Pipe) => Refused::NoReader.into(),
        (true, kind) => Refused::Unusable(kind).into(),
        _ => error,
    })?;
    block(&file)?;
    let position = field("pos:").and_then(|position| position.parse().ok());
    if let (Kind::File, Some(position)) = (kind, position) {
        file.seek(SeekFrom::Start(position))?;
    }
    Ok(file)
}

/// Returns a path by which the socket that was looked at is connected to, whatever its name is by
/// now. An error without `/proc`.
pub(crate) fn address_of(looked: &Looked) -> io::Result<PathBuf> {
    if has_links() { Ok(link_to(looked)) } else { Err(no_links()) }
}

/// Returns a path by which a directory is named in the address of a new socket; none without
/// `/proc`, as in some jails.
pub(crate) fn address_in(directory: impl AsFd) -> Option<PathBuf> {
    has_links().then(|| link_to(directory))
}

fn has_links() -> bool {
    Path::new("/proc/self/fd").exists()
}

fn no_links() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "there is no /proc, which leads to open files")
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

/// Gives a socket the address `path`, which is `name` in a directory, and the mode that it has from
/// then on.
pub(crate) fn bind_with_mode(
    socket: impl AsFd,
    path: &Path,
    _: (impl AsFd, &OsStr),
    mode: u32,
) -> io::Result<()> {
    set_mode(&socket, mode)?;
    bind(socket, path)
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
