//! The directory that a path leads to, found component by component.
//!
//! The kernel follows every link on the way, no matter who made it. Here a link is followed if one
//! of these made it:
//!
//! - root, or this user;
//! - the owner of the directory that the link leads to, who could have put the target there;
//! - the owner of the directory that the link is in, unless this user is root. (A user who may
//!   replace entries of a directory could as well replace a directory by another one. This is
//!   Linux's rule of `fs.protected_symlinks`, for all directories.)
//!
//! So neither a link in `/tmp` nor one in the home directory of another user makes root write among
//! its own files.
//!
//! Invariant: each step starts from the descriptor of the directory before it, and the owner of a
//! link is that of the link whose text is used.

use crate::refused::Refused;
use crate::sys;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

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
) -> io::Result<File> {
    let start = match start {
        Some(start) => start.try_clone_to_owned()?.into(),
        None => sys::open(".", sys::PLACE | libc::O_DIRECTORY)?,
    };
    let mut walk = Walk { links, make, own: false, followed: 0, shown: PathBuf::new() };
    walk.go(start, path)
}

/// As [`find`], of a directory whose files are for this user alone: root makes missing directories
/// only in directories of its own. In those of others they would be in the way.
pub(crate) fn find_own(path: &Path, make: u32) -> io::Result<File> {
    let start = sys::open(".", sys::PLACE | libc::O_DIRECTORY)?;
    let (links, shown) = (Links::Trusted, PathBuf::new());
    Walk { links, make: Some(make), own: true, followed: 0, shown }.go(start, path)
}

/// Finds the entry that `path` names: its directory, and its name there. A link at the end is
/// followed by the module's rule, as those on the way are.
pub(crate) fn resolve(path: &Path) -> io::Result<(File, OsString)> {
    let mut walk =
        Walk { links: Links::Trusted, make: None, own: false, followed: 0, shown: PathBuf::new() };
    let (mut from, mut path) = (sys::open(".", sys::PLACE | libc::O_DIRECTORY)?, path.to_owned());
    let mut links = Vec::new();
    loop {
        let (parent, name) = split(&path)?;
        let at = walk.go(from, parent)?;
        let found = sys::open_at(&at, name, sys::PLACE, 0)?;
        let metadata = found.metadata()?;
        if !metadata.is_symlink() {
            let owner = metadata.uid();
            let is_followed = |link: &Followed| {
                is_trusted(link.owner)
                    || link.owner == owner
                    || sys::user() != 0 && link.owner == link.directory_owner
            };
            return match links.into_iter().find(|link| !is_followed(link)) {
                Some(Followed { link, target, .. }) => {
                    Err(Refused::LinkOnTheWay { link, target }.into())
                }
                None => Ok((at, name.to_owned())),
            };
        }
        walk.followed += 1;
        if walk.followed > MAX_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        let target = sys::read_link_at(&found, OsStr::new(""))?;
        let (owner, directory_owner) = (metadata.uid(), at.metadata()?.uid());
        let link = walk.shown.join(name);
        links.push(Followed { link, target: target.clone(), owner, directory_owner });
        (from, path) = (at, target);
    }
}

/// A link at the end of a path.
struct Followed {
    link: PathBuf,
    target: PathBuf,
    owner: u32,
    directory_owner: u32,
}

/// Returns whether a user has this one's rights: root, or this user itself.
pub(crate) fn is_trusted(user: u32) -> bool {
    user == 0 || user == sys::user()
}

struct Walk {
    links: Links,
    make: Option<u32>,
    /// True if root makes directories only in its own.
    own: bool,
    followed: u32,
    /// The path so far.
    shown: PathBuf,
}

impl Walk {
    fn go(&mut self, start: File, path: &Path) -> io::Result<File> {
        let mut at = start;
        for component in path.components() {
            let name = component.as_os_str();
            at = match component {
                Component::CurDir => continue,
                Component::Prefix(_) | Component::RootDir => {
                    self.shown.clear();
                    sys::open("/", sys::PLACE | libc::O_DIRECTORY)?
                }
                Component::ParentDir => sys::directory_at(&at, name)?,
                Component::Normal(name) => self.step(&at, name)?,
            };
            self.shown.push(name);
        }
        Ok(at)
    }

    /// True for a directory where root makes none.
    fn is_foreign(&self, at: &fs::Metadata) -> bool {
        self.own && sys::user() == 0 && at.uid() != 0
    }

    fn step(&mut self, at: &File, name: &OsStr) -> io::Result<File> {
        let error = match sys::directory_at(at, name) {
            Err(error) => error,
            found => return found,
        };
        match (error.raw_os_error(), self.make) {
            (Some(libc::ENOTDIR), _) => self.follow(at, name),
            (Some(libc::ENOENT), Some(_)) if self.is_foreign(&at.metadata()?) => {
                Err(Refused::ForeignDirectory.into())
            }
            (Some(libc::ENOENT), Some(mode)) => {
                match sys::make_directory_at(at, name, mode) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                    // A faster user may have made a link.
                    _ => sys::directory_at(at, name),
                }
            }
            _ => Err(error),
        }
    }

    /// Goes where the link `name` leads; an error if it is no link.
    fn follow(&mut self, at: &File, name: &OsStr) -> io::Result<File> {
        let link = sys::open_at(at, name, sys::PLACE, 0)?;
        let found = link.metadata()?;
        if !found.is_symlink() {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        }
        let target = sys::read_link_at(&link, OsStr::new(""))?;
        let path = self.shown.join(name);
        let refused = || Refused::LinkOnTheWay { link: path.clone(), target: target.clone() };
        if self.links == Links::None {
            return Err(refused().into());
        }
        self.followed += 1;
        if self.followed > MAX_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        let leads_to = if is_of_kernel(&found) {
            sys::open_at(at, name, libc::O_PATH | libc::O_DIRECTORY, 0)?
        } else {
            // Nothing is made behind a link.
            let (shown, make) = (self.shown.clone(), self.make.take());
            let found = self.go(at.try_clone()?, &target)?;
            (self.shown, self.make) = (shown, make);
            found
        };
        let owner = found.uid();
        let is_followed = is_trusted(owner)
            || leads_to.metadata()?.uid() == owner
            || sys::user() != 0 && at.metadata()?.uid() == owner;
        if is_followed { Ok(leads_to) } else { Err(refused().into()) }
    }
}

/// Returns whether a link is one that the kernel makes, as `/proc/self/cwd`, whose text may lead
/// elsewhere than the link.
fn is_of_kernel(link: &fs::Metadata) -> bool {
    fs::metadata("/proc").is_ok_and(|system| system.dev() == link.dev())
}

/// Divides a path into the directory and the name in it. An error for a path that names a
/// directory.
pub(crate) fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let name = path.file_name().filter(|name| bytes.ends_with(name.as_bytes()));
    match (name, path.parent()) {
        (Some(name), Some(parent)) => Ok((parent, name)),
        _ if bytes.is_empty() => Err(io::Error::from_raw_os_error(libc::ENOENT)),
        _ => Err(io::Error::from_raw_os_error(libc::EISDIR)),
    }
}
