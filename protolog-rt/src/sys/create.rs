//! Files with log content: their permissions, and the names of temporary ones. protolog-files opens
//! them.

use super::process::{id, user};
use protolog_files::Status;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

/// The mode of files with log content, unless the program wants another one.
pub(crate) const PRIVATE: u32 = 0o600;

/// Returns the directory of a file.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Returns whether it is a regular file of the user that the process acts as.
pub(crate) fn is_own(file: &File) -> io::Result<bool> {
    let found = Status::of(file)?;
    Ok(found.is_file() && found.uid() == user())
}

/// Returns a number that nobody can know in advance.
pub(crate) fn random() -> u64 {
    // Its keys are the system's random numbers.
    RandomState::new().hash_one(id())
}

/// Returns a name for a temporary file beside the file `name`, which nobody can know in advance.
pub(crate) fn temporary_name(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(format!(".{:016x}.part", random()));
    name
}

/// Returns whether [`temporary_name`] may have made `file` of `name`.
pub(crate) fn is_temporary_of(name: &OsStr, file: &OsStr) -> bool {
    let file = file.as_encoded_bytes();
    let random = file
        .strip_prefix(name.as_encoded_bytes())
        .and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(b".part"));
    random.is_some_and(|random| {
        random.len() == 16 && random.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_recognized() {
        let path = OsStr::new("app.pftrace");
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
            assert!(!is_temporary_of(path, OsStr::new(name)), "{name}");
        }
    }
}
