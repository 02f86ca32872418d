//! Files with log content: created for this user only, and never by way of what another user put there.
//!
//! Invariants
//! - A file that is created anew is never one that was there, nor the target of a link.
//! - In a directory that everybody may write to (such as `/tmp`), no link, file or pipe of another user is opened. This is the
//!   rule of Linux's settings `fs.protected_symlinks`, `_regular` and `_fifos`, for systems where they are off.

use super::process::user;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The mode of files with log content, unless the program wants another one.
pub(crate) const PRIVATE: u32 = 0o600;

/// The bits of a directory that everybody may write to, and where only the owner of a file may remove it.
const SHARED: u32 = 0o1002;

/// Creates a file, which must not be there: not even as a link, which `O_EXCL` never follows.
pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
}

/// Opens a file with `options`, or creates it with `mode`. An existing file keeps its mode.
pub(crate) fn open_or_create(
    path: &Path,
    mode: u32,
    options: &mut OpenOptions,
) -> io::Result<File> {
    options.create(true).mode(mode);
    // Before it is opened, since that waits for the reader of a pipe.
    let is_link = check_owner(path)?.is_some_and(|entry| entry.is_symlink());
    if !is_link {
        let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
        refuse_foreign(directory(path), &file.metadata()?)?;
        return Ok(file);
    }
    let file = options.open(path)?;
    // A link without a target that has a name, such as `/dev/stdout`, leads into no directory.
    if let Ok(target) = fs::canonicalize(path) {
        refuse_foreign(directory(&target), &file.metadata()?)?;
    }
    Ok(file)
}

/// Returns what is at `path`, if anything is. An error if it belongs to another user, in a directory that everybody may write
/// to.
pub(crate) fn check_owner(path: &Path) -> io::Result<Option<Metadata>> {
    let Ok(entry) = fs::symlink_metadata(path) else { return Ok(None) };
    refuse_foreign(directory(path), &entry)?;
    Ok(Some(entry))
}

fn refuse_foreign(directory: &Path, entry: &Metadata) -> io::Result<()> {
    let Ok(directory) = fs::metadata(directory) else { return Ok(()) };
    let is_shared = directory.mode() & SHARED == SHARED;
    if is_shared && entry.uid() != user() && entry.uid() != directory.uid() {
        let what = "it belongs to another user, in a directory that everybody may write to";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(())
}

/// Returns the directory of a file.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Opens an existing file for reading, if it is a regular file and no link. Never waits.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Returns whether it is a regular file of the user that the process acts as.
pub(crate) fn is_own(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.uid() == user())
}

/// Opens an existing file for reading and writing, if it is a regular file of this user. Never waits.
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    let is_link = check_owner(path)?.is_some_and(|entry| entry.is_symlink());
    let no_link = if is_link { 0 } else { libc::O_NOFOLLOW };
    let flags = no_link | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    if is_own(&file)? { Ok(file) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Returns a number that nobody can know in advance.
pub(crate) fn random() -> u64 {
    // Its keys are the system's random numbers.
    RandomState::new().hash_one(std::process::id())
}

/// Returns the name of a temporary file beside `path`, one that nobody can know in advance.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{:016x}.part", random()));
    name.into()
}

/// Returns whether [`temporary_name`] may have made `file` of `path`.
pub(crate) fn is_temporary_of(path: &Path, file: &Path) -> bool {
    let random = || {
        let (path, file) = (path.file_name()?.to_str()?, file.file_name()?.to_str()?);
        file.strip_prefix(path)?.strip_prefix('.')?.strip_suffix(".part")
    };
    random().is_some_and(|random| {
        random.len() == 16 && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_recognized() {
        let path = Path::new("/a/app.pftrace");
        let (one, other) = (temporary_name(path), temporary_name(path));
        assert_ne!(one, other);
        assert!(is_temporary_of(path, &one) && is_temporary_of(path, &other));
        for name in [
            "app.pftrace",
            "app.pftrace.part",
            "app.pftrace.0001.part",
            "app.pftrace.0123456789abcdeF.part",
            "app.pftrace.0123456789abcdef",
            "app.0123456789abcdef.part",
        ] {
            assert!(!is_temporary_of(path, &path.with_file_name(name)), "{name}");
        }
    }
}
