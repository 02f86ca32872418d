//! Private directories: those that only one user can enter or put another one in the place of.
//! Programs make their sockets in no other ones, and operators look into no other ones.
//!
//! Invariant: none is found, or made, by way of a link that another user could have made to lead
//! elsewhere (`walk.rs`); and none is made where it would not be private.

use crate::directory::Directory;
use crate::entry::is_closed;
use crate::refused::Refused;
use crate::status::Status;
use crate::sys;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// The mode of a private directory.
const MODE: u32 = 0o700;

impl Directory {
    /// Opens the directory at `path` if it is private and `may_own` admits its owner; none if it is
    /// not, or a link, or no directory, or by way of a link of another user's.
    pub fn open_private(path: &Path, may_own: impl Fn(u32) -> bool) -> io::Result<Option<Self>> {
        let Some((parent, name)) = holding(path)? else { return Ok(None) };
        parent.open_private_in(&name, may_own)
    }

    /// As [`open_private`](Self::open_private), of a directory that is made if it is missing.
    pub fn make_private(path: &Path, may_own: impl Fn(u32) -> bool) -> io::Result<Option<Self>> {
        let Some((parent, name)) = holding(path)? else { return Ok(None) };
        let around = parent.status()?;
        if !is_private_by(sys::user(), MODE, around.uid(), around.mode()) {
            return Ok(None);
        }
        match sys::make_directory_at(&parent, &name, MODE) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => parent.open_private_in(&name, may_own),
        }
    }

    fn open_private_in(
        &self,
        name: &OsStr,
        may_own: impl Fn(u32) -> bool,
    ) -> io::Result<Option<Self>> {
        let directory = match self.open_directory(name) {
            Err(error) if sys::is_no_directory(&error) => return Ok(None),
            directory => directory?,
        };
        let status = directory.status()?;
        let is_good = may_own(status.uid()) && is_private(&status, &self.status()?);
        Ok(is_good.then_some(directory))
    }
}

/// The directory that `path` is in, and the name there; none if another user could have led the way
/// to it elsewhere.
fn holding(path: &Path) -> io::Result<Option<(Directory, OsString)>> {
    // Without a slash at its end, which says nothing that is not asked for anyway.
    let path: PathBuf = path.components().collect();
    match Directory::trusted_holding(&path) {
        Err(error) if matches!(Refused::of(&error), Some(Refused::LinkOnTheWay { .. })) => Ok(None),
        found => found.map(Some),
    }
}

/// Returns whether only its owner can enter a directory, or make another one in its place. Its
/// parent must belong to the same user or root; and others either can't write to the parent, or
/// can't rename entries of others in it (as in `/tmp`).
fn is_private(directory: &Status, parent: &Status) -> bool {
    is_private_by(directory.uid(), directory.mode(), parent.uid(), parent.mode())
}

const fn is_private_by(user: u32, mode: u32, parent_user: u32, parent_mode: u32) -> bool {
    let is_parent_safe = parent_mode & 0o022 == 0 || parent_mode & 0o1000 != 0;
    is_closed(mode) && is_parent_safe && (parent_user == user || parent_user == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    #[test]
    fn nobody_else_can_enter_or_replace_a_private_directory() {
        for (mode, parent_user, parent_mode, expected) in [
            (0o40700, 0, 0o40755, true),
            (0o40700, 0, 0o41777, true),
            (0o40700, 7, 0o40700, true),
            (0o40700, 7, 0o41775, true),
            (0o40700, 8, 0o40700, false),
            (0o40700, 8, 0o41777, false),
            (0o40700, 0, 0o40777, false),
            (0o40700, 0, 0o40775, false),
            (0o40750, 0, 0o40755, false),
            (0o40701, 0, 0o40755, false),
        ] {
            let found = is_private_by(7, mode, parent_user, parent_mode);
            assert_eq!(found, expected, "{mode:o} {parent_user} {parent_mode:o}");
        }
    }

    #[test]
    fn links_of_others_lead_to_no_private_directory_and_none_is_made_in_vain() {
        let temporary = protolog_testkit::temp_dir();
        let at = |name: &str| temporary.path().join(name);
        let user = rustix::process::geteuid().as_raw();
        let make =
            |path: &Path| Directory::make_private(path, |owner| owner == user).unwrap().is_some();
        for name in ["home", "open"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::set_permissions(at("open"), Permissions::from_mode(0o777)).unwrap();
        assert!(!make(&at("open/run")) && !at("open/run").exists(), "anybody could replace it");
        symlink(at("home"), at("link")).unwrap();
        assert!(make(&at("link/run/")), "a link of this user's");
        fs::remove_dir(at("home/run")).unwrap();
        if lchown(at("link"), Some(user + 1), None).is_err() {
            return protolog_testkit::skip("links of another user", "only root can make them");
        }
        assert!(!make(&at("link/run")) && !at("home/run").exists(), "one of another user's");
        fs::create_dir(at("home/run")).unwrap();
        fs::set_permissions(at("home/run"), Permissions::from_mode(0o700)).unwrap();
        let open = |path: &Path| Directory::open_private(path, |owner| owner == user).unwrap();
        assert!(open(&at("home/run")).is_some() && open(&at("link/run")).is_none());
    }

    #[test]
    fn private_directories_are_opened_and_no_others() {
        let temporary = protolog_testkit::temp_dir();
        let path = temporary.path().join("run");
        let user = rustix::process::geteuid().as_raw();
        let open = |user| Directory::open_private(&path, |owner| owner == user);
        assert_eq!(open(user).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(Directory::make_private(&path, |owner| owner == user).unwrap().is_some());
        assert!(Directory::make_private(&path, |owner| owner == user).unwrap().is_some(), "again");
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        for (mode, parent, expected) in [
            (0o700, 0o755, true),
            (0o700, 0o1777, true),
            (0o700, 0o777, false),
            (0o755, 0o755, false),
        ] {
            set_mode(&path, mode);
            set_mode(temporary.path(), parent);
            assert_eq!(open(user).unwrap().is_some(), expected, "{mode:o} {parent:o}");
        }
        set_mode(&path, 0o700);
        set_mode(temporary.path(), 0o755);
        assert!(open(user + 1).unwrap().is_none(), "another user's");
        // Only root may give it away.
        if chown(&path, Some(user + 1), None).is_ok() {
            let is_root = user == 0;
            assert!(open(user).unwrap().is_none());
            assert_eq!(open(user + 1).unwrap().is_some(), is_root, "in a directory of root's");
            chown(&path, Some(user), None).unwrap();
        }
        let moved = temporary.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        symlink(&moved, &path).unwrap();
        assert!(open(user).unwrap().is_none(), "a link");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(open(user).unwrap().is_none(), "a file");
    }
}
