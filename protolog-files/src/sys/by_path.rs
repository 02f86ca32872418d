//! Windows and WASI: a directory is held by its path, so what is renamed or replaced on the way is
//! seen only where an opened file is compared with the entry that was looked at.
//!
//! Neither tells users or modes apart here: a file is the user's, and as private as the directory
//! makes it (on Windows by its list of access rights, which new files inherit).

#[cfg(target_os = "wasi")]
use super::wasi as system;
#[cfg(windows)]
use super::windows as system;
use super::{Fault, Use};
use crate::status::Status;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf, absolute};

pub(crate) use system::{duplicate, is_link, is_separator, reopen, status};

/// A directory that is held.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
}

/// What has a directory to start from.
pub(crate) trait At {
    /// Its path.
    fn at(&self) -> &Path;
}

impl At for Held {
    fn at(&self) -> &Path {
        &self.path
    }
}

impl<T: At + ?Sized> At for &T {
    fn at(&self) -> &Path {
        (**self).at()
    }
}

/// Holds a directory that somebody else holds, too.
#[allow(clippy::unnecessary_wraps)] // As on the other systems.
pub(crate) fn hold(directory: impl At) -> io::Result<Held> {
    Ok(Held { path: directory.at().to_owned() })
}

/// Opens the directory at a path, from the root or the working directory. The last component is no
/// link.
pub(crate) fn open_directory(path: &Path) -> io::Result<Held> {
    let held = follow_to_directory(path)?;
    let is_link = !path.as_os_str().is_empty() && fs::symlink_metadata(path)?.is_symlink();
    if is_link { Err(Fault::NotDirectory.into()) } else { Ok(held) }
}

/// The same, by links to it.
pub(crate) fn follow_to_directory(path: &Path) -> io::Result<Held> {
    let here = Path::new(".");
    let path = if path.as_os_str().is_empty() { here } else { path };
    if !fs::metadata(path)?.is_dir() {
        return Err(Fault::NotDirectory.into());
    }
    // A later change of the working directory leads nowhere else. WASI has none, and its paths
    // start from directories that need not have an absolute one.
    let path = if cfg!(windows) { absolute(path)? } else { path.to_owned() };
    Ok(Held { path })
}

/// Opens a directory in a directory; an error if `name` is a link.
pub(crate) fn directory_at(directory: impl At, name: &OsStr) -> io::Result<Held> {
    open_directory(&directory.at().join(name))
}

/// Returns the properties of an open directory.
pub(crate) fn status_of_held(held: &Held) -> io::Result<Status> {
    status_of_path(&held.path)
}

/// Returns the properties of what a path leads to, by any links.
pub(crate) fn status_of_path(path: &Path) -> io::Result<Status> {
    system::status_of_path(path, system::Last::Followed)
}

/// An entry that was looked at, and its path.
#[derive(Debug)]
pub(crate) struct Looked {
    status: Status,
    path: PathBuf,
}

/// Looks at `name`, which may be a link.
pub(crate) fn look_at(directory: impl At, name: &OsStr) -> io::Result<Looked> {
    let path = directory.at().join(name);
    Ok(Looked { status: system::status_of_path(&path, system::Last::Itself)?, path })
}

/// Looks at what a path leads to, by any links.
pub(crate) fn look(path: &Path) -> io::Result<Looked> {
    Ok(Looked { status: status_of_path(path)?, path: path.to_owned() })
}

impl Looked {
    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    /// Returns the text of the link that was looked at.
    pub(crate) fn target(&self) -> io::Result<PathBuf> {
        fs::read_link(&self.path)
    }

    /// Turns the directory that was looked at into one to start from.
    #[allow(clippy::unnecessary_wraps)] // As on the other systems.
    pub(crate) fn into_directory(self) -> io::Result<Held> {
        Ok(Held { path: self.path })
    }

    /// Opens the file that was looked at for reading.
    pub(crate) fn open(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        let is_same = status(&file)?.identity() == self.status.identity();
        if is_same { Ok(file) } else { Err(Fault::Stale.into()) }
    }
}

/// Opens the file `name` in a directory.
pub(crate) fn open_at(directory: impl At, name: &OsStr, how: Use) -> io::Result<File> {
    system::open_without_links(&directory.at().join(name), how)
}

/// Creates the file `name` in a directory: an error if anything is there, even a link.
pub(crate) fn create_at(
    directory: impl At,
    name: &OsStr,
    how: Use,
    _mode: u32,
) -> io::Result<File> {
    how.options().create_new(true).open(directory.at().join(name))
}

/// Returns the text of the link `name`.
pub(crate) fn read_link_at(directory: impl At, name: &OsStr) -> io::Result<PathBuf> {
    fs::read_link(directory.at().join(name))
}

/// Renames an entry, over an existing one.
pub(crate) fn rename_at(
    from: impl At,
    name: &OsStr,
    to: impl At,
    new_name: &OsStr,
) -> io::Result<()> {
    fs::rename(from.at().join(name), to.at().join(new_name))
}

/// Renames an entry to a name that is free: an error if it is taken.
pub(crate) fn rename_to_free_at(
    directory: impl At,
    name: &OsStr,
    new_name: &OsStr,
) -> io::Result<()> {
    system::rename_to_free(&directory.at().join(name), &directory.at().join(new_name))
}

/// Removes an entry that is no directory.
pub(crate) fn remove_at(directory: impl At, name: &OsStr) -> io::Result<()> {
    let path = directory.at().join(name);
    match fs::remove_file(&path) {
        // A link to a directory is removed as one.
        Err(_) if fs::symlink_metadata(&path)?.is_symlink() => fs::remove_dir(&path),
        removed => removed,
    }
}

/// Removes a file that is open and may be mapped; its other name is free.
#[cfg(windows)]
pub(crate) fn remove_in_use(
    directory: impl At,
    name: &OsStr,
    other_name: &OsStr,
) -> io::Result<()> {
    system::remove_in_use(&directory.at().join(name), &directory.at().join(other_name))
}

/// Removes an empty directory.
pub(crate) fn remove_directory_at(directory: impl At, name: &OsStr) -> io::Result<()> {
    fs::remove_dir(directory.at().join(name))
}

/// Creates a file without a name in a directory, which can't be done.
pub(crate) fn nameless_at(_: impl At, _: u32) -> Option<File> {
    None
}

/// Gives a name to a file that has none, which there is not.
pub(crate) fn name_at(_: &File, _: impl At, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Holds a directory so that its names can be read.
pub(crate) fn readable(directory: impl At) -> io::Result<Held> {
    hold(directory)
}

/// Returns the names in a directory, in any order: `most` of them, or all.
pub(crate) fn names(directory: &Held, most: usize) -> io::Result<Vec<OsString>> {
    fs::read_dir(&directory.path)?.take(most).map(|entry| Ok(entry?.file_name())).collect()
}

/// Returns where the data of a file goes on, which is not told.
pub(crate) fn next_data(_: &File, _: u64) -> io::Result<Option<u64>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns where the next hole of a file is, which is not told.
pub(crate) fn next_hole(_: &File, _: u64) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Lets writes wait until there is room, as they do.
#[allow(clippy::unnecessary_wraps)] // As on the other systems.
pub(crate) fn block(_: &File) -> io::Result<()> {
    Ok(())
}

/// Sets the mode of an open file or directory, which has none.
#[allow(clippy::unnecessary_wraps)] // As on the other systems.
pub(crate) fn set_mode<T>(_: T, _: u32) -> io::Result<()> {
    Ok(())
}

/// Returns the user that everything belongs to.
pub(crate) fn user() -> u32 {
    0
}

/// Returns the file of a descriptor of this process, which has no number here.
pub(crate) fn open_descriptor(_: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether an error says that nobody has a pipe open for reading.
pub(crate) fn has_no_reader(_: &io::Error) -> bool {
    false
}
