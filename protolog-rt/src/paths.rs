//! Paths that keep their meaning while the program changes its directory.

use std::path::PathBuf;

/// Returns `path` as an absolute path; as it is where the system does not say what the current
/// directory is.
pub(crate) fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
