//! The file that leads a browser to the page.
//!
//! Invariant: the file can be read by this user alone, and is in a new directory that only this
//! user can enter, in one where nobody else can rename it ([`is_safe`]). So nobody else can have
//! put anything in its place.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// Where snaps are, on systems that have any.
const SNAPS: &str = "/snap/bin";

/// The directory for temporary files where the one that is named can't be trusted.
const TEMPORARY: &str = "/tmp";

/// Writes the file that leads to `address`. It goes when the directory is dropped.
pub(super) fn write(address: &str) -> io::Result<(TempDir, PathBuf)> {
    let mut failed = io::ErrorKind::NotFound.into();
    for place in places(Path::new(SNAPS).is_dir()) {
        match write_in(&place, address) {
            Ok(written) => return Ok(written),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// The directories to try.
///
/// A browser that is a snap sees a directory of its own in place of /tmp, none of the user's
/// runtime directory, and in the home directory only names that do not begin with a dot.
fn places(has_snaps: bool) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|_| has_snaps);
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = [home, runtime].into_iter().flatten().filter(|it| is_own(it));
    // Another user may have made the directory that TMPDIR names, or one on the way to it.
    let temporary = [std::env::temp_dir(), PathBuf::from(TEMPORARY)].into_iter();
    own.chain(temporary.filter_map(|it| fs::canonicalize(it).ok()).filter(|it| is_safe(it)))
        .collect()
}

/// Returns whether nobody but this user and root can rename this user's files in a directory, or
/// that directory.
#[cfg(unix)]
fn is_safe(real: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let is_kept = |it: fs::Metadata| {
        (it.uid() == user || it.uid() == 0) && (it.mode() & 0o022 == 0 || it.mode() & 0o1000 != 0)
    };
    real.ancestors().all(|above| fs::symlink_metadata(above).is_ok_and(is_kept))
}

/// The directory for temporary files is in the user's profile, which others can't enter.
#[cfg(not(unix))]
fn is_safe(_: &Path) -> bool {
    true
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> bool {
    false
}

/// Returns whether a directory is this user's, and nobody else can write there.
#[cfg(unix)]
fn is_own(place: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    place.is_absolute()
        && fs::metadata(place).is_ok_and(|it| it.uid() == user && it.mode() & 0o022 == 0)
}

fn write_in(place: &Path, address: &str) -> io::Result<(TempDir, PathBuf)> {
    let mut builder = Builder::new();
    builder.prefix("protolog-view-");
    #[cfg(unix)]
    builder.permissions(fs::Permissions::from_mode(0o700));
    let directory = builder.tempdir_in(place)?;
    let path = directory.path().join("open.html");
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.write(true).create_new(true).open(&path)?;
    file.write_all(page(address).as_bytes())?;
    Ok((directory, path))
}

fn page(address: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>protolog</title>\n\
         <a href=\"{address}\">The log</a>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;

    #[test]
    fn nobody_else_can_read_it_and_it_goes() {
        let place = tempfile::tempdir().unwrap();
        let (directory, path) = write_in(place.path(), "http://127.1.2.3:80/#code=12").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!((mode(&path), mode(directory.path())), (0o600, 0o700));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("http://127.1.2.3:80/#code=12\"").count(), 2, "{text}");
        drop(directory);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_is_safe_if_all_above_it_are() {
        let place =
            fs::canonicalize(protolog_testkit::temp_dir().path().parent().unwrap()).unwrap();
        let temporary = tempfile::tempdir_in(&place).unwrap();
        let inner = temporary.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let set_mode = |mode| {
            fs::set_permissions(temporary.path(), Permissions::from_mode(mode)).unwrap();
        };
        assert!(is_safe(&place) && is_safe(&inner));
        for (mode, expected) in [(0o777, false), (0o1777, true), (0o775, false), (0o755, true)] {
            set_mode(mode);
            assert_eq!((is_safe(temporary.path()), is_safe(&inner)), (expected, expected));
        }
        let user = rustix::process::geteuid().as_raw();
        // Only root may give it away.
        if std::os::unix::fs::chown(temporary.path(), Some(user + 1), None).is_ok() {
            assert!(!is_safe(temporary.path()) && !is_safe(&inner));
        }
    }

    #[test]
    fn a_directory_where_others_write_is_not_the_users_own() {
        let place = tempfile::tempdir().unwrap();
        assert!(is_own(place.path()));
        fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(!is_own(place.path()));
        assert!(!is_own(Path::new("relative")) && !is_own(Path::new("/none/such")));
    }
}
