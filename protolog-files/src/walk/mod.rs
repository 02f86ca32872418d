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

//!
//! On systems that do not tell users apart the system follows the links.

#[cfg(unix)]
mod by_descriptor;
#[cfg(not(unix))]
mod by_system;

#[cfg(unix)]
pub(crate) use by_descriptor::{find, find_own, resolve};
#[cfg(not(unix))]
pub(crate) use by_system::{find, find_own, resolve};

use crate::sys::{self, At};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// The start of a path that begins in the working directory.
pub(crate) const HERE: Option<&dyn At> = None;

/// The links on the way that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Those of the module's rule.
    Trusted,
    /// None, and there is no way up: what is found is below the start.
    None,
}

/// Returns whether a user has this one's rights: root, or this user itself.
pub(crate) fn is_trusted(user: u32) -> bool {
    user == 0 || user == sys::user()
}

/// Divides a path into the directory and the name in it. An error for a path that names a
/// directory.
pub(crate) fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let name = path.file_name().filter(|name| bytes.ends_with(name.as_encoded_bytes()));
    match (name, path.parent()) {
        (Some(name), Some(parent)) => Ok((parent, name)),
        _ if bytes.is_empty() => Err(sys::Fault::NotFound.into()),
        _ => Err(sys::Fault::IsDirectory.into()),
    }
}
