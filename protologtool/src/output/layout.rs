//! The names of sources in archives and directories.
//!
//! The path below the source root if that is given and the file lies there, however both are spelt;
//! else the path as given, if it stays below where it starts; else package path and file name. So
//! names never are absolute and never hold `..`.

use super::{Content, OutputEntry};
use crate::exit::Failure;
use crate::pipeline::Processed;
use crate::system::System;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// An entry for each source: names are unique, relative, with `/` between their parts.
pub(super) fn entries<'p>(
    processed: &'p [Processed],
    source_root: Option<&Path>,
    system: &dyn System,
) -> Result<Vec<OutputEntry<'p>>, Failure> {
    let mut names = SourceNames::new(source_root, system);
    let mut taken = HashMap::new();
    let mut entries = Vec::with_capacity(processed.len());
    for file in processed {
        let name = names.name(file);
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

/// Names files.
struct SourceNames<'a> {
    source_root: Option<&'a Path>,
    system: &'a dyn System,
    /// The directory that the source root is, whatever path leads there.
    real_root: Option<PathBuf>,
    /// The same for the directories of files.
    real: HashMap<PathBuf, PathBuf>,
}

impl<'a> SourceNames<'a> {
    fn new(source_root: Option<&'a Path>, system: &'a dyn System) -> Self {
        Self { source_root, system, real_root: None, real: HashMap::new() }
    }

    fn name(&mut self, file: &Processed) -> String {
        let path = straight(&file.path);
        let spelt = || below_root(path?, straight(self.source_root?)?).map(joined);
        let below_root = spelt().or_else(|| self.below_real_root(&file.path));
        let as_given = || path.filter(|path| path.is_relative()).map(joined);
        below_root
            .filter(|name| !name.is_empty())
            .or_else(as_given)
            .unwrap_or_else(|| below(&file.place))
    }

    /// The path below the source root of a file whose path is spelt another way: with links, `..`,
    /// from `/` or not.
    fn below_real_root(&mut self, path: &Path) -> Option<String> {
        let (system, root) = (self.system, self.source_root?);
        let root = self.real_root.get_or_insert_with(|| system.canonical(directory(root)));
        let parent = directory(path.parent()?).to_owned();
        let real = self.real.entry(parent).or_insert_with_key(|parent| system.canonical(parent));
        Some(joined(&real.strip_prefix(root).ok()?.join(path.file_name()?)))
    }
}

/// The path of a directory that is not empty.
fn directory(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// The part of `path` below `root`, both as they are spelt.
fn below_root<'p>(path: &'p Path, root: &Path) -> Option<&'p Path> {
    // An absolute path begins with the empty one, too.
    (path.is_absolute() == root.is_absolute()).then(|| path.strip_prefix(root).ok()).flatten()
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
    use crate::system::Memory;

    fn name(file: &Processed, root: Option<&Path>) -> String {
        SourceNames::new(root, &Memory::default()).name(file)
    }

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
            ("../src/A.java", Some(".."), "src/A.java"),
            ("src/x/A.java", Some("y/../src"), "x/A.java"),
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
        let failure = entries(&files, None, &Memory::default()).unwrap_err();
        assert!(failure.to_string().contains("`/a/A.java` and `/b/A.java`"), "{failure}");
        let files = [file("a/A.java"), file("a/A.java")];
        assert_eq!(
            entries(&files, None, &Memory::default()).unwrap_err().message(),
            "`a/A.java` is given twice"
        );
    }
}
