//! What macOS does in its own way. It has no descriptor that stands for any place: an entry is
//! looked at by its name in a directory that is open, and one that is opened later is compared.
//! Paths of open directories come from the kernel (`F_GETPATH`).

use super::unix::{
    PLACE_OF_DIRECTORY, SAFE, bind, done, file, flags, open_at, open_path, open_with, status,
    status_of_path, terminated,
};
use super::{Fault, Use};
use crate::refused::Kind;
use crate::status::Status;
use std::ffi::{CStr, OsStr, OsString, c_int};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// An entry that was looked at, and the way to it.
#[derive(Debug)]
pub(crate) struct Looked {
    status: Status,
    changed: (libc::time_t, i64),
    way: Way,
}

#[derive(Debug)]
enum Way {
    Name(OwnedFd, OsString),
    Path(PathBuf),
}

/// Looks at `name`, which may be a link.
pub(crate) fn look_at(directory: impl AsFd, name: &OsStr) -> io::Result<Looked> {
    let directory = directory.as_fd();
    let (status, changed) = stat_at(directory, name)?;
    Ok(Looked { status, changed, way: Way::Name(directory.try_clone_to_owned()?, name.to_owned()) })
}

/// Looks at what a path leads to, by any links.
pub(crate) fn look(path: &Path) -> io::Result<Looked> {
    let status = status_of_path(path)?;
    Ok(Looked { status, changed: (0, 0), way: Way::Path(path.to_owned()) })
}

impl Looked {
    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    /// Returns the text of the link that was looked at.
    pub(crate) fn target(&self) -> io::Result<PathBuf> {
        let Way::Name(directory, name) = &self.way else { return Err(Fault::Invalid.into()) };
        let text = super::read_link_at(directory, name)?;
        // The time of a change shows that it was away meanwhile.
        let (now, changed) = stat_at(directory.as_fd(), name)?;
        let is_same = (now.identity(), changed) == (self.status.identity(), self.changed);
        if is_same { Ok(text) } else { Err(Fault::Stale.into()) }
    }

    /// Turns the directory that was looked at into one to start from.
    pub(crate) fn into_directory(self) -> io::Result<File> {
        match &self.way {
            Way::Name(directory, name) => self.checked(directory_at(directory, name)?),
            Way::Path(path) => self.checked(super::follow_to_directory(path)?),
        }
    }

    /// Opens the file that was looked at for reading.
    pub(crate) fn open(&self) -> io::Result<File> {
        match &self.way {
            Way::Name(directory, name) => self.checked(open_at(directory, name, Use::Read)?),
            Way::Path(path) => {
                let flags = SAFE & !libc::O_NOFOLLOW;
                self.checked(open_path(path, libc::O_RDONLY | flags)?)
            }
        }
    }

    fn checked(&self, file: File) -> io::Result<File> {
        let is_same = status(&file)?.identity() == self.status.identity();
        if is_same { Ok(file) } else { Err(Fault::Stale.into()) }
    }
}

fn stat_at(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<(Status, (libc::time_t, i64))> {
    let name = terminated(name)?;
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    let (directory, flags) = (directory.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: the name is a C string that lives through the call, which writes to a value of ours.
    done(unsafe { libc::fstatat(directory, name.as_ptr(), found.as_mut_ptr(), flags) })?;
    // SAFETY: numbers, for which zero is a value, also where nothing was written.
    let found = unsafe { found.assume_init() };
    let kind = match found.st_mode & libc::S_IFMT {
        libc::S_IFREG => Kind::File,
        libc::S_IFDIR => Kind::Directory,
        libc::S_IFLNK => Kind::Link,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFCHR => Kind::Device,
        libc::S_IFBLK => Kind::BlockDevice,
        libc::S_IFSOCK => Kind::Socket,
        _ => Kind::Other,
    };
    let status = Status {
        kind,
        device: found.st_dev as u64,
        inode: found.st_ino,
        user: found.st_uid,
        mode: found.st_mode.into(),
        links: found.st_nlink.into(),
        size: found.st_size as u64,
    };
    Ok((status, (found.st_ctime, found.st_ctime_nsec)))
}

/// Opens a file once more, an open file of its own. It may have another name by now, by which the
/// kernel knows it.
pub(crate) fn reopen(file: &File, how: Use) -> io::Result<File> {
    let again = open_path(path_of(file)?, flags(how) | SAFE)?;
    let is_same = status(&again)?.identity() == status(file)?.identity();
    if is_same { Ok(again) } else { Err(Fault::Stale.into()) }
}

/// Returns a path of an open file or directory.
fn path_of(open: impl AsFd) -> io::Result<PathBuf> {
    let mut text = vec![0_u8; libc::PATH_MAX as usize];
    // SAFETY: the kernel writes a C string of at most this size.
    done(unsafe { libc::fcntl(open.as_fd().as_raw_fd(), libc::F_GETPATH, text.as_mut_ptr()) })?;
    let path = CStr::from_bytes_until_nul(&text).map_err(io::Error::other)?;
    Ok(OsStr::from_bytes(path.to_bytes()).into())
}

/// Opens a directory in a directory; an error if `name` is a link.
pub(crate) fn directory_at(directory: impl AsFd, name: &OsStr) -> io::Result<File> {
    open_with(directory, name, PLACE_OF_DIRECTORY, 0).map_err(|error| {
        // A link: as if that were a file.
        if super::is_link(&error) { Fault::NotDirectory.into() } else { error }
    })
}

/// Opens the directory that the link `name` leads to, by the kernel's own way.
pub(crate) fn follow_at(directory: impl AsFd, name: &OsStr) -> io::Result<File> {
    open_with(directory, name, PLACE_OF_DIRECTORY & !libc::O_NOFOLLOW, 0)
}

/// Returns whether a link is one that the kernel makes: there are none.
pub(crate) fn is_link_of_kernel(_: &Status) -> bool {
    false
}

/// Renames an entry in one step, unless the new name is taken.
pub(crate) fn rename_unless_taken(
    directory: BorrowedFd<'_>,
    name: &CStr,
    new_name: &CStr,
) -> io::Result<()> {
    let (at, old, new) = (directory.as_raw_fd(), name.as_ptr(), new_name.as_ptr());
    // SAFETY: both names are C strings that live through the call.
    done(unsafe { libc::renameatx_np(at, old, at, new, libc::RENAME_EXCL) })
}

/// Creates a file without a name in a directory, which can't be done.
pub(crate) fn nameless_at(_: impl AsFd, _: u32) -> Option<File> {
    None
}

/// Gives a name to a file that has none, which there is not.
pub(crate) fn name_at(_: &File, _: impl AsFd, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the names in a directory that is open for reading, in any order: at least `most` of
/// them, or all.
pub(crate) fn names(directory: &File, most: usize) -> io::Result<Vec<OsString>> {
    let own = OwnedFd::from(directory.try_clone()?);
    // SAFETY: the descriptor is ours.
    let stream = unsafe { libc::fdopendir(own.as_raw_fd()) };
    if stream.is_null() {
        return Err(io::Error::last_os_error());
    }
    // The stream's from here on.
    let _ = own.into_raw_fd();
    let (mut names, mut error) = (Vec::new(), None);
    while names.len() < most {
        // SAFETY: takes nothing, and gives the address of this thread's number.
        let number = unsafe { libc::__error() };
        // SAFETY: it is this thread's.
        unsafe { *number = 0 };
        // SAFETY: the stream is open, and no other thread has it.
        let entry = unsafe { libc::readdir(stream) };
        // SAFETY: null, or an entry that is valid until the next call.
        let Some(entry) = (unsafe { entry.as_ref() }) else {
            // At the end, the number stays as it was.
            error = Some(io::Error::last_os_error()).filter(|it| it.raw_os_error() != Some(0));
            break;
        };
        // SAFETY: the system ends the name by a zero.
        let name = unsafe { CStr::from_ptr(entry.d_name.as_ptr()) }.to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    // SAFETY: the stream is open, and nobody uses it any more.
    done(unsafe { libc::closedir(stream) })?;
    error.map_or(Ok(names), Err)
}

/// Returns the file of a descriptor of this process, to be written as it is: the same open file.
pub(crate) fn open_descriptor(number: u32) -> io::Result<File> {
    let not_open = || io::Error::from(Fault::Closed);
    let number = c_int::try_from(number).map_err(|_| not_open())?;
    // SAFETY: takes and gives numbers.
    let had = unsafe { libc::fcntl(number, libc::F_GETFL) };
    if had < 0 || had & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(not_open());
    }
    // SAFETY: it was open, and is not closed by this.
    let open = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(open.try_clone_to_owned()?.into())
}

/// Returns a path by which the socket that was looked at is connected to.
pub(crate) fn address_of(looked: &Looked) -> io::Result<PathBuf> {
    match &looked.way {
        Way::Name(directory, name) => Ok(path_of(directory)?.join(name)),
        Way::Path(path) => Ok(path.clone()),
    }
}

/// Returns a path by which a directory is named in the address of a new socket.
pub(crate) fn address_in(directory: impl AsFd) -> Option<PathBuf> {
    path_of(directory).ok()
}

/// Creates a Unix socket of streams. A closed peer is an error of a write to it, never a signal.
pub(crate) fn socket() -> io::Result<OwnedFd> {
    let socket = file(|| {
        // SAFETY: takes and gives numbers.
        unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) }
    })?;
    // SAFETY: takes numbers.
    done(unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
    let (yes, size) = (1 as c_int, size_of::<c_int>() as libc::socklen_t);
    let (number, from) = (socket.as_raw_fd(), (&raw const yes).cast());
    // SAFETY: `from` points to a value of ours, which has `size` bytes.
    done(unsafe { libc::setsockopt(number, libc::SOL_SOCKET, libc::SO_NOSIGPIPE, from, size) })?;
    Ok(socket.into())
}

/// Gives a socket the address `path`, which is `name` in a private directory, and a mode: it has
/// that before it listens, which is when somebody could connect. An open socket takes none
/// (`EINVAL`).
pub(crate) fn bind_with_mode(
    socket: impl AsFd,
    path: &Path,
    (directory, name): (impl AsFd, &OsStr),
    mode: u32,
) -> io::Result<()> {
    bind(socket, path)?;
    let (directory, name) = (directory.as_fd().as_raw_fd(), terminated(name)?);
    let (mode, flags) = (mode as libc::mode_t, libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: the name is a C string that lives through the call.
    done(unsafe { libc::fchmodat(directory, name.as_ptr(), mode, flags) })
}

/// Lets the other end of a Unix socket send open files, which it always may.
pub(crate) fn admit_files(_: impl AsFd, _: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the id and the user of the process at the other end of a Unix socket.
pub(crate) fn peer(socket: impl AsFd) -> io::Result<(libc::pid_t, libc::uid_t)> {
    let (mut user, mut group) = (libc::uid_t::MAX, libc::gid_t::MAX);
    let number = socket.as_fd().as_raw_fd();
    // SAFETY: the pointers are to values of ours.
    done(unsafe { libc::getpeereid(number, &raw mut user, &raw mut group) })?;
    let mut pid: libc::pid_t = 0;
    let mut size = size_of_val(&pid) as libc::socklen_t;
    let (level, name, out) = (libc::SOL_LOCAL, libc::LOCAL_PEERPID, (&raw mut pid).cast());
    // SAFETY: `out` points to a value of ours, which has `size` bytes.
    done(unsafe { libc::getsockopt(number, level, name, out, &raw mut size) })?;
    Ok((pid, user))
}
