//! The names of sources in archives and directories.
//!
//! The path below the source root if that is given and the file lies there; else the path as given, if it stays below where
//! it starts; else package path and file name. So names never are absolute and never hold `..`.

use super::{Content, OutputEntry};
use crate::exit::Failure;
use crate::pipeline::Processed;
use std::collections::HashMap;
use std::path::{Component, Path};

/// An entry for each source: names are unique, relative, with `/` between their parts.
pub(super) fn entries<'p>(
    processed: &'p [Processed],
    source_root: Option<&Path>,
) -> Result<Vec<OutputEntry<'p>>, Failure> {
    let mut taken = HashMap::new();
    let mut entries = Vec::with_capacity(processed.len());
    for file in processed {
        let name = name(file, source_root);
        if name.contains(['\n', '\r']) {
            return Err(Failure::new(format!("a line end in the name `{}`", name.escape_debug()))
                .help("rename the file"));
        }
        if let Some(earlier) = taken.insert(name.clone(), &file.path) {
            let (first, second) = (earlier.display(), file.path.display());
            return Err(if *earlier == file.path {
                Failure::new(format!("`{second}` is given twice")).help("pass each file once")
            } else {
                Failure::new(format!("`{first}` and `{second}` would both be written as `{name}`"))
                    .help("set `--source-root`, or pass them to runs of their own")
            });
        }
        let content = match (&file.rewritten, file.kept) {
            (Some(bytes), _) => Content::Bytes(bytes),
            (None, Some(hash)) => Content::Kept(hash),
            (None, None) => Content::File(&file.path),
        };
        entries.push(OutputEntry { name, content });
    }
    Ok(entries)
}

fn name(file: &Processed, source_root: Option<&Path>) -> String {
    let path = straight(&file.path);
    let below_root = source_root.and_then(|root| path?.strip_prefix(straight(root)?).ok());
    let below_root = below_root.map(joined);
    let as_given = || path.filter(|path| path.is_relative()).map(joined);
    below_root
        .filter(|name| !name.is_empty())
        .or_else(as_given)
        .unwrap_or_else(|| below(&file.place))
}

/// A place as a relative path: a source says its package, and may say anything.
fn below(place: &str) -> String {
    let parts = place.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    parts.collect::<Vec<_>>().join("/")
}

/// A path without `.` at its start, unless it goes up.
fn straight(path: &Path) -> Option<&Path> {
    let goes_up = path.components().any(|component| component == Component::ParentDir);
    (!goes_up).then(|| path.strip_prefix(".").unwrap_or(path))
}

/// The parts of a path with `/` between them.
fn joined(path: &Path) -> String {
    let mut name = String::with_capacity(path.as_os_str().len());
    for component in path.components() {
        if !name.is_empty() {
            name.push('/');
        }
        name.push_str(&component.as_os_str().to_string_lossy());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Processed {
        Processed::untouched(path, "com/foo/A.java")
    }

    #[test]
    fn names_are_relative() {
        for (path, root, expected) in [
            ("src/com/foo/A.java", None, "src/com/foo/A.java"),
            ("./src/./A.java", None, "src/A.java"),
            ("/abs/src/A.java", None, "com/foo/A.java"),
            ("../src/A.java", None, "com/foo/A.java"),
            ("src/com/foo/A.java", Some("src"), "com/foo/A.java"),
            ("src/com/foo/A.java", Some("./src/"), "com/foo/A.java"),
            ("/abs/src/x/A.java", Some("/abs/src"), "x/A.java"),
            ("other/A.java", Some("src"), "other/A.java"),
            ("../src/A.java", Some(".."), "com/foo/A.java"),
        ] {
            assert_eq!(name(&file(path), root.map(Path::new)), expected, "{path}");
        }
    }

    #[test]
    fn packages_lead_nowhere_else() {
        for (place, expected) in [
            ("com/foo/A.java", "com/foo/A.java"),
            ("/etc/A.java", "etc/A.java"),
            ("a//./../../A.java", "a/A.java"),
            ("A.java", "A.java"),
        ] {
            let file = Processed::untouched("/abs/A.java", place);
            assert_eq!(name(&file, None), expected);
        }
    }

    #[test]
    fn two_files_of_one_name_are_refused() {
        let files = [file("/a/A.java"), file("/b/A.java")];
        let failure = entries(&files, None).unwrap_err();
        assert!(failure.to_string().contains("`/a/A.java` and `/b/A.java`"), "{failure}");
        let files = [file("a/A.java"), file("a/A.java")];
        assert_eq!(entries(&files, None).unwrap_err().message(), "`a/A.java` is given twice");
    }
}
