//! Files that were found in a directory, and not named by the user.
//!
//! A user who may write to such a directory could put a link in a file's place between the look and
//! the opening, and so have root read and show a file of its own. So these paths are remembered,
//! and opened by the rule by which they were looked at.
//!
//! Invariant: a file that was found is opened by way of no link in its directory that another user
//! could have made to lead elsewhere. The directory itself was named, and may be a link of
//! anybody's.

use protolog_files::Directory;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static FOUND: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Remembers that a file was found.
pub(super) fn remember(path: &Path) {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if !found.contains(path) {
        found.insert(path.to_owned());
    }
}

/// Returns whether a file was found, and not named.
pub(super) fn is_found(path: &Path) -> bool {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
}

/// Opens a regular file, without waiting for anybody.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    if !is_found(path) {
        return protolog_files::open_regular_file(path);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = fs::canonicalize(directory.unwrap_or(Path::new(".")))?;
    let path = directory.join(path.file_name().unwrap_or_default());
    let (directory, name) = Directory::trusted_holding_target(&path)?;
    directory.open_regular(name)
}

#[cfg(test)]
mod tests {
    use super::super::{Real, System};
    use super::*;
    use std::os::unix::fs::{lchown, symlink};

    #[test]
    fn a_link_in_the_place_of_a_found_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("logs")).unwrap();
        symlink(at("logs"), at("current")).unwrap();
        for name in ["secret", "logs/a.pftrace", "logs/own.pftrace"] {
            fs::write(at(name), "text").unwrap();
        }
        let found = ["current/a.pftrace", "current/own.pftrace"].map(at);
        assert!(found.iter().all(|path| Real.is_followed(path)));
        // Now they change.
        for path in &found {
            fs::remove_file(path).unwrap();
            symlink(at("secret"), path).unwrap();
        }
        if lchown(&found[0], Some(54_321), None).is_err() {
            // Only root can make a link of somebody else's; the other test of this rule has two
            // users.
            return;
        }
        fs::set_permissions(at("secret"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let opens = |path: &Path| {
            [
                Real.read_large(path).is_ok(),
                Real.open(path).is_ok(),
                Real.source(path).is_ok(),
                Real.source_by_name(path).is_ok(),
                Real.open_file(path).is_ok(),
                Real.read_from(path, 0, 4).is_ok(),
            ]
        };
        assert_eq!(opens(&found[0]), [false; 6], "a link of another user's");
        assert_eq!(opens(&found[1]), [true; 6], "a link of our own");
        assert_eq!(opens(&at("logs/a.pftrace")), [true; 6], "a name that was given");
    }
}
