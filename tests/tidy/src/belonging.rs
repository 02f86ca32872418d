//! Files that belong to nothing: no other file names them, so they were left behind.
//!
//! Sources belong to crates and suites, which are read by folder; data of tests too. All else is
//! named somewhere: by its name, or by that without its extension, unless this is so short that it
//! is a word of everything.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::model::Sources;
use super::{Finding, Place, is_data};

/// The shortest name without its extension that says which file is meant.
const SHORTEST: usize = 4;

/// One finding for each file of `paths` that no file of `sources` names.
pub(super) fn check(paths: &[&str], sources: &Sources) -> Vec<Place> {
    let mut unnamed: HashMap<&str, HashSet<&str>> = HashMap::new();
    for path in paths.iter().filter(|path| !belongs_by_place(path)) {
        for name in names(path) {
            unnamed.entry(name).or_default().insert(path);
        }
    }
    let mut named: HashSet<&str> = HashSet::new();
    for (file, text) in sources {
        for word in text.split(|c: char| !c.is_alphanumeric() && !"_-.$".contains(c)) {
            let others = [word, word.trim_matches('.')].map(|word| unnamed.get(word));
            named.extend(others.into_iter().flatten().flatten().filter(|path| *path != file));
        }
    }
    let left = paths.iter().filter(|path| !belongs_by_place(path) && !named.contains(*path));
    let what = "belongs to nothing: no other file names it; remove it";
    let place = |path: &&str| Place {
        file: (*path).to_owned(),
        finding: Finding { line: 0, what: what.to_owned() },
    };
    left.map(place).collect()
}

/// Returns true for sources, data of tests, and settings that programs find by themselves.
fn belongs_by_place(path: &str) -> bool {
    let mut parts = Path::new(path).iter();
    let is_source = [".rs", ".java", ".kt"].iter().any(|end| path.ends_with(end));
    is_source
        || is_data(path)
        || parts.any(|part| part == "tests" || part.as_encoded_bytes()[0] == b'.')
}

/// The names by which others may mean a file.
fn names(path: &str) -> impl Iterator<Item = &str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let short = name.split('.').next().filter(|short| short.len() >= SHORTEST);
    [Some(name), short].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::super::check_found;
    use super::*;

    #[test]
    fn what_nobody_names_is_found() {
        let texts = [
            ("README.md", "See docs/a.md, `b.txt` and fourth. nozzz.txt zzz"),
            ("docs/a.md", "a.md"),
            ("b.txt", ""),
            ("java/zzz.txt", "zzz.txt"),
            ("x/fourth.json", ""),
            ("x/fifth.json", "fifth"),
            ("x/tests/seen.txt", ""),
            ("x/src/seen.rs", ""),
            (".ci/run", "README.md"),
        ];
        let sources: Sources =
            texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let paths: Vec<&str> = texts.iter().map(|(path, _)| *path).collect();
        check_found(
            &check(&paths, &sources),
            &[
                "java/zzz.txt: belongs to nothing: no other file names it; remove it",
                "x/fifth.json: belongs to nothing: no other file names it; remove it",
            ],
        );
    }
}
