//! Paths of sources in one form, so that each file has one name in all tables.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// A path without `.`, and without `..` as far as the text allows.
pub(super) fn normal(path: &Path) -> Cow<'_, Path> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_odd = |part: &[u8]| {
        matches!(
            part,
            [] | [b'/', ..] | [b'.'] | [b'.', b'/', ..] | [b'.', b'.'] | [b'.', b'.', b'/', ..]
        )
    };
    let start = bytes.strip_prefix(b"/").unwrap_or(bytes);
    // Most are as they should be.
    if !is_odd(start) && !memchr::memchr_iter(b'/', start).any(|at| is_odd(&start[at + 1..])) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(path.components().fold(PathBuf::new(), |mut normal, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => drop(normal.pop()),
            other => normal.push(other),
        }
        normal
    }))
}

#[cfg(test)]
mod tests {
    use super::normal;
    use std::path::Path;

    #[test]
    fn paths_are_normal() {
        for (path, expected) in [
            ("a/b.rs", "a/b.rs"),
            ("/a/.b/..c/d", "/a/.b/..c/d"),
            ("./a//b/./c", "a/b/c"),
            ("a/../b/..", ""),
            ("../a/..", ".."),
            ("/a/./b/", "/a/b"),
            ("/", "/"),
            (".", ""),
        ] {
            assert_eq!(normal(Path::new(path)).as_os_str(), expected, "{path}");
        }
    }
}
