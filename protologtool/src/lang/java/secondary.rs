//! Top-level classes in files that are called by another class. Only their own package sees them.
//!
//! Most supertypes are not among the inputs at all, so that the question must be cheap where the
//! answer is no: the files of a package are searched once, for declarations of another name than
//! the file's. Only a file that may have the one in question is parsed.

use crate::lang::jvm::lookups::is_of_package;
use crate::system::{Reader, System};
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The files that declare a class of a name.
type FilesByName<'a> = HashMap<String, Vec<&'a Path>>;

/// Secondary classes of the packages that were asked about.
#[derive(Default)]
pub(super) struct Secondary<'a> {
    /// The inputs by their directories.
    directories: OnceLock<HashMap<&'a Path, Vec<&'a Path>>>,
    packages: Mutex<HashMap<String, Arc<FilesByName<'a>>>>,
    /// Those of all inputs, for packages that no directory is called by.
    anywhere: OnceLock<Arc<FilesByName<'a>>>,
}

impl<'a> Secondary<'a> {
    /// The files that may declare a class of this name in this package, in the order of the inputs.
    pub(super) fn files(
        &self,
        package: &str,
        name: &str,
        inputs: &'a [PathBuf],
        system: &dyn System,
    ) -> Vec<&'a Path> {
        let known = || self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(package).cloned();
        let found = found.unwrap_or_else(|| {
            let near = self.of_package(package, inputs);
            let anywhere = || {
                let all: Vec<_> =
                    inputs.iter().map(PathBuf::as_path).filter(|path| is_java(path)).collect();
                Arc::new(search(&all, system))
            };
            let found = if near.is_empty() {
                self.anywhere.get_or_init(anywhere).clone()
            } else {
                Arc::new(search(&near, system))
            };
            known().insert(package.to_owned(), found.clone());
            found
        });
        found.get(name).cloned().unwrap_or_default()
    }

    /// The inputs in directories called by a package.
    fn of_package(&self, package: &str, inputs: &'a [PathBuf]) -> Vec<&'a Path> {
        let directories = self.directories.get_or_init(|| {
            let mut directories: HashMap<&Path, Vec<&Path>> = HashMap::new();
            for path in inputs.iter().filter(|path| is_java(path)) {
                let parent = path.parent().unwrap_or(Path::new(""));
                directories.entry(parent).or_default().push(path);
            }
            directories
        });
        let is_of = |directory: &&&Path| is_of_package(directory, package);
        let mut near: Vec<&Path> = directories.keys().filter(is_of).copied().collect();
        near.sort_unstable();
        near.iter().flat_map(|directory| &directories[directory]).copied().collect()
    }
}

fn is_java(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "java")
}

/// The names that these files may declare, but for those of the files. The parse of the file says
/// which of them are of classes at its top level.
fn search<'a>(paths: &[&'a Path], system: &dyn System) -> FilesByName<'a> {
    let keywords = [&b"class"[..], b"interface", b"enum", b"record"].map(Finder::new);
    let (mut found, mut reader) = (FilesByName::new(), Reader::default());
    for path in paths {
        if system.read_into(path, &mut reader).is_err() {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        for keyword in &keywords {
            for at in keyword.find_iter(reader.bytes()) {
                let name = declared(reader.bytes(), at, keyword.needle().len());
                if let Some(name) = name.filter(|name| *name != stem) {
                    let files = found.entry(name.to_owned()).or_default();
                    if files.last() != Some(path) {
                        files.push(path);
                    }
                }
            }
        }
    }
    found
}

/// The name behind the keyword at `at`.
fn declared(text: &[u8], at: usize, keyword: usize) -> Option<&str> {
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80;
    let after = &text[at + keyword..];
    let is_word = !text[..at].last().is_some_and(is_name)
        && after.first().is_some_and(u8::is_ascii_whitespace);
    let rest = after.trim_ascii_start();
    let end = rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len());
    let name = std::str::from_utf8(&rest[..end]).ok()?;
    (is_word && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Memory;

    #[test]
    fn declarations_wherever_they_stand() {
        let text = "package p;\nimport a.class ;\npublic final class A {\n  class Inner {}\n}\n\
            abstract class B {}\r@Deprecated(\"x\") sealed interface C permits D {}\nnon-sealed class D{}\n\
            record  G(int x) {}\nenum H{} class\n\tI {}\nclass Größe {}\nsubclass J; class.K\n";
        let system = Memory::with_files([("p/A.java", text)]);
        let found = search(&[Path::new("p/A.java")], &system);
        let mut names: Vec<&str> = found.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["B", "C", "D", "G", "Größe", "H", "I", "Inner"]);
    }
}
