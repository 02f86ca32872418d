//! The way by descriptors, on Unix systems.

use super::{Links, is_trusted, split};
use crate::refused::{Kind, Refused};
use crate::status::Status;
use crate::sys::{self, At, Held};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The kernel's own limit.
const MAX_LINKS: u32 = 40;

/// Finds the directory that `path` leads to from `start`, or from the working directory.
/// Directories that are missing are made with this mode if there is one.
pub(crate) fn find(
    start: Option<&dyn At>,
    path: &Path,
    links: Links,
    make: Option<u32>,
) -> io::Result<Held> {
    let start = match start {
        Some(start) => sys::hold(start)?,
        None => sys::open_directory(Path::new("."))?,
    };
    let mut walk = Walk { links, make, own: false, followed: 0, shown: PathBuf::new() };
    walk.go(start, path)
}

/// As [`find`], of a directory whose files are for this user alone: root makes missing directories
/// only in directories of its own. In those of others they would be in the way.
pub(crate) fn find_own(path: &Path, make: u32) -> io::Result<Held> {
    let start = sys::open_directory(Path::new("."))?;
    let (links, shown) = (Links::Trusted, PathBuf::new());
    Walk { links, make: Some(make), own: true, followed: 0, shown }.go(start, path)
}

/// Finds the entry that `path` names: its directory, and its name there. A link at the end is
/// followed by the module's rule, as those on the way are.
pub(crate) fn resolve(path: &Path) -> io::Result<(Held, OsString)> {
    let mut walk =
        Walk { links: Links::Trusted, make: None, own: false, followed: 0, shown: PathBuf::new() };
    let (mut from, mut path) = (sys::open_directory(Path::new("."))?, path.to_owned());
    let mut links = Vec::new();
    loop {
        let (parent, name) = split(&path)?;
        let at = walk.go(from, parent)?;
        let found = sys::look_at(&at, name)?;
        let owner = found.status().uid();
        if found.status().kind() != Kind::Link {
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
            return Err(sys::Fault::Loop.into());
        }
        let target = found.target()?;
        let directory_owner = sys::status_of_held(&at)?.uid();
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
    fn go(&mut self, start: Held, path: &Path) -> io::Result<Held> {
        let mut at = start;
        for component in path.components() {
            let name = component.as_os_str();
            at = match component {
                Component::CurDir => continue,
                Component::Normal(name) => self.step(&at, name)?,
                _ if self.links == Links::None => return Err(sys::Fault::Invalid.into()),
                Component::Prefix(_) | Component::RootDir => {
                    self.shown.clear();
                    sys::open_directory(Path::new("/"))?
                }
                Component::ParentDir => sys::directory_at(&at, name)?,
            };
            self.shown.push(name);
        }
        Ok(at)
    }

    /// True for a directory where root makes none.
    fn is_foreign(&self, at: &Status) -> bool {
        self.own && sys::user() == 0 && at.uid() != 0
    }

    fn step(&mut self, at: &Held, name: &OsStr) -> io::Result<Held> {
        let error = match sys::directory_at(at, name) {
            Err(error) => error,
            found => return found,
        };
        match (error.kind(), self.make) {
            (io::ErrorKind::NotADirectory, _) => self.follow(at, name),
            (io::ErrorKind::NotFound, Some(_)) if self.is_foreign(&sys::status_of_held(at)?) => {
                Err(Refused::ForeignDirectory.into())
            }
            (io::ErrorKind::NotFound, Some(mode)) => {
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
    fn follow(&mut self, at: &Held, name: &OsStr) -> io::Result<Held> {
        let found = sys::look_at(at, name)?;
        if found.status().kind() != Kind::Link {
            return Err(sys::Fault::NotDirectory.into());
        }
        let target = found.target()?;
        let path = self.shown.join(name);
        let refused = || Refused::LinkOnTheWay { link: path.clone(), target: target.clone() };
        if self.links == Links::None {
            return Err(refused().into());
        }
        self.followed += 1;
        if self.followed > MAX_LINKS {
            return Err(sys::Fault::Loop.into());
        }
        let leads_to = if sys::is_link_of_kernel(found.status()) {
            sys::follow_at(at, name)?
        } else {
            // Nothing is made behind a link.
            let (shown, make) = (self.shown.clone(), self.make.take());
            let found = self.go(at.try_clone()?, &target)?;
            (self.shown, self.make) = (shown, make);
            found
        };
        let owner = found.status().uid();
        let is_followed = is_trusted(owner)
            || sys::status_of_held(&leads_to)?.uid() == owner
            || sys::user() != 0 && sys::status_of_held(at)?.uid() == owner;
        if is_followed { Ok(leads_to) } else { Err(refused().into()) }
    }
}
