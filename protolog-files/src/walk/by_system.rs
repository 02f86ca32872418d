//! The way by the system, where users are not told apart.

use super::{Links, split};
use crate::sys::{self, At, Held};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// Finds the directory that `path` leads to from `start`, or from the working directory.
/// Directories that are missing are made if `make` says so.
pub(crate) fn find(
    start: Option<&dyn At>,
    path: &Path,
    links: Links,
    make: Option<u32>,
) -> io::Result<Held> {
    let path = start.map_or_else(|| path.to_owned(), |start| start.at().join(path));
    if make.is_some() && !path.as_os_str().is_empty() {
        fs::create_dir_all(&path)?;
    }
    if links == Links::None { sys::open_directory(&path) } else { sys::follow_to_directory(&path) }
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
