//! The way by the system, where users are not told apart.

use super::{Links, split};
use crate::refused::Refused;
use crate::sys::{self, At, Held};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path};

/// Finds the directory that `path` leads to from `start`, or from the working directory.
/// Directories that are missing are made if `make` says so.
pub(crate) fn find(
    start: Option<&dyn At>,
    path: &Path,
    links: Links,
    make: Option<u32>,
) -> io::Result<Held> {
    let start = start.map_or(Path::new(""), |start| start.at());
    if links == Links::None {
        return find_below(start, path, make);
    }
    let path = start.join(path);
    if make.is_some() && !path.as_os_str().is_empty() {
        fs::create_dir_all(&path)?;
    }
    sys::follow_to_directory(&path)
}

/// As [`find`], by no link and no way up.
fn find_below(start: &Path, path: &Path, make: Option<u32>) -> io::Result<Held> {
    let mut at = sys::follow_to_directory(start)?;
    for component in path.components() {
        let name = match component {
            Component::CurDir => continue,
            Component::Normal(name) => name,
            _ => return Err(sys::Fault::Invalid.into()),
        };
        let link = at.at().join(name);
        if let Ok(target) = fs::read_link(&link) {
            return Err(Refused::LinkOnTheWay { link, target }.into());
        }
        if make.is_some() {
            match fs::create_dir(&link) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        at = sys::directory_at(&at, name)?;
    }
    Ok(at)
}

/// As [`find`], of a directory whose files are for this user alone.
pub(crate) fn find_own(path: &Path, make: u32) -> io::Result<Held> {
    find(None, path, Links::Trusted, Some(make))
}

/// Finds the entry that `path` names: its directory, and its name there. A link at the end is
/// followed.
pub(crate) fn resolve(path: &Path) -> io::Result<(Held, OsString)> {
    let path = fs::canonicalize(path)?;
    let (parent, name) = split(&path)?;
    Ok((sys::follow_to_directory(parent)?, name.to_owned()))
}
