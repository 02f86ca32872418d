//! The directories in which programs of this user listen: those that exist already, and that nobody
//! else can enter or replace.

use super::environment::absolute_path;
use super::process::user;
use protolog_core::control::place::{FALLBACK_PREFIX, FALLBACKS, SERVICES};
use protolog_files::Directory;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most directories of the name of a fallback that are looked at. Another user can make any
/// number of them, for which no program that starts is to wait.
pub(crate) const MOST_FALLBACKS: usize = 16_384;

/// Opens all of them.
pub(crate) fn private() -> Vec<Directory> {
    let open = |path: &Path| Directory::open_private(path, is_own).ok().flatten();
    if let Some(only) = absolute_path("PROTOLOG_RUNTIME_DIR") {
        return open(&only).into_iter().collect();
    }
    let runtime = absolute_path("XDG_RUNTIME_DIR").map(|path| path.join("protolog"));
    let services = Path::new(SERVICES).join(user().to_string());
    let known = runtime.into_iter().chain([services]).filter_map(|path| open(&path));
    known.chain(known_fallback(named_fallbacks(Path::new(FALLBACKS)))).collect()
}

/// Returns what may be directories of this user's programs among `fallbacks`, by its name.
pub(crate) fn named_fallbacks(fallbacks: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let prefix = fallback_prefix();
    let entries = fs::read_dir(fallbacks).into_iter().flatten().flatten();
    entries
        .filter(move |entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .map(|entry| entry.path())
}

/// Returns the beginning of their names.
pub(crate) fn fallback_prefix() -> String {
    format!("{FALLBACK_PREFIX}{}-", user())
}

/// Returns the first of these that is a private directory of this user. Of many, some are looked
/// at.
pub(crate) fn known_fallback(named: impl Iterator<Item = PathBuf>) -> Option<Directory> {
    let is_of_user = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| is_own(it.uid()));
    let mut paths: Vec<_> = named.take(MOST_FALLBACKS).filter(is_of_user).collect();
    paths.sort();
    paths.iter().find_map(|path| Directory::open_private(path, is_own).ok().flatten())
}

/// Returns whether `owner` is this user.
pub(crate) fn is_own(owner: u32) -> bool {
    owner == user()
}
