//! The directory that a path leads to, found component by component.
//!
//! The kernel follows every link on the way, whoever made it. Here a link is followed if one of
//! these made it:
//!
//! - root, or this user;
//! - the owner of the directory that the link leads to, who could have put there what the link
//!   leads us to;
//! - the owner of the directory that the link is in, unless this user is root. (Who may replace
//!   entries of a directory could as well replace a directory by another one. This is Linux's rule
//!   of `fs.protected_symlinks`, for all directories.)
//!
//! So neither a link in `/tmp` nor one in the home directory of another user makes root write among
//! its own files.
//!
//! Invariant: each step starts from the descriptor of the directory before it, and the owner of a
//! link is that of the link whose text is used.

use crate::refused::Refused;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// A descriptor that stands for a place in the file system; nothing is read from it.
const PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// The kernel's own limit.
const MAX_LINKS: u32 = 40;

/// The links on the way that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Those of the module's rule.
    Trusted,
    /// None.
    None,
}

/// Finds the directory that `path` leads to from `start`, or from the working directory.
/// Directories that are missing are made with this mode if there is one.
pub(crate) fn find(
    start: Option<BorrowedFd<'_>>,
    path: &Path,
    links: Links,
    make: Option<u32>,
) -> io::Result<OwnedFd> {
    let start = match start {
        Some(start) => rustix::io::fcntl_dupfd_cloexec(start, 0)?,
        None => open_directory(CWD, OsStr::new("."))?,
    };
    let mut walk = Walk { links, make, followed: 0, shown: PathBuf::new() };
    walk.go(start, path)
}

/// Opens the directory `name`, which is no link.
pub(crate) fn open_directory(directory: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(directory, name, PLACE | OFlags::DIRECTORY, Mode::empty())
}

/// Returns what `name` is, which may be a link.
pub(crate) fn stat(directory: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the text of the link `name`.
pub(crate) fn target(directory: impl AsFd, name: &OsStr) -> Result<PathBuf, Errno> {
    let text = rustix::fs::readlinkat(directory, name, Vec::new())?;
    Ok(OsString::from_vec(text.into_bytes()).into())
}

/// Returns whether a user can do what this one can: root, or this user itself.
pub(crate) fn is_trusted(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

struct Walk {
    links: Links,
    make: Option<u32>,
    followed: u32,
    /// The path so far.
    shown: PathBuf,
}

impl Walk {
    fn go(&mut self, start: OwnedFd, path: &Path) -> io::Result<OwnedFd> {
        let mut at = start;
        for component in path.components() {
            let name = component.as_os_str();
            at = match component {
                Component::CurDir => continue,
                Component::Prefix(_) | Component::RootDir => {
                    self.shown.clear();
                    open_directory(CWD, OsStr::new("/"))?
                }
                Component::ParentDir => open_directory(&at, name)?,
                Component::Normal(name) => self.step(&at, name)?,
            };
            self.shown.push(name);
        }
        Ok(at)
    }

    fn step(&mut self, at: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
        match open_directory(at, name) {
            Err(Errno::NOTDIR) => self.follow(at, name),
            Err(Errno::NOENT) if self.make.is_some() => {
                let mode = Mode::from_raw_mode(self.make.unwrap_or_default());
                match rustix::fs::mkdirat(at, name, mode) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                // Whoever was faster may have made a link.
                Ok(open_directory(at, name)?)
            }
            found => Ok(found?),
        }
    }

    /// Goes where the link `name` leads; an error if it is no link.
    fn follow(&mut self, at: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
        let link = rustix::fs::openat(at, name, PLACE, Mode::empty())?;
        let found = rustix::fs::fstat(&link)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            return Err(Errno::NOTDIR.into());
        }
        let target = target(&link, OsStr::new(""))?;
        let path = self.shown.join(name);
        let refused = || Refused::LinkOnTheWay { link: path.clone(), target: target.clone() };
        if self.links == Links::None {
            return Err(refused().into());
        }
        self.followed += 1;
        if self.followed > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        let leads_to = if is_of_kernel(&link) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::openat(at, name, flags, Mode::empty())?
        } else {
            // Nothing is made behind a link.
            let (shown, make) = (self.shown.clone(), self.make.take());
            let found = self.go(rustix::io::fcntl_dupfd_cloexec(at, 0)?, &target)?;
            (self.shown, self.make) = (shown, make);
            found
        };
        let owner = found.st_uid;
        let is_root = rustix::process::geteuid().is_root();
        let is_followed = is_trusted(owner)
            || rustix::fs::fstat(&leads_to)?.st_uid == owner
            || !is_root && rustix::fs::fstat(at)?.st_uid == owner;
        if is_followed { Ok(leads_to) } else { Err(refused().into()) }
    }
}

/// Returns whether a link is one that the kernel makes, as `/proc/self/cwd`, whose text may lead
/// elsewhere than the link.
fn is_of_kernel(link: &OwnedFd) -> bool {
    rustix::fs::fstatfs(link).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// Divides a path into the directory and the name in it. An error for a path that names a
/// directory.
pub(crate) fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let name = path.file_name().filter(|name| bytes.ends_with(name.as_bytes()));
    match (name, path.parent()) {
        (Some(name), Some(parent)) => Ok((parent, name)),
        _ if bytes.is_empty() => Err(Errno::NOENT.into()),
        _ => Err(Errno::ISDIR.into()),
    }
}
