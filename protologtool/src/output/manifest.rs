//! The list of files that a run wrote into an output directory, kept there for the next run.
//!
//! ```text
//! # Files that protologtool wrote here: XXH3-64 of the content, name. Replaced by each run.
//! 7f0a5c6c8a3b2d19 com/foo/A.java
//! ```
//!
//! Invariant: a file is only ever taken for one of ours if both its name and its content are those
//! of a line. Files that someone else put there, or changed, stay.

use protolog_core::hash;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Component, Path};

const INTRO: &str =
    "# Files that protologtool wrote here: XXH3-64 of the content, name. Replaced by each run.\n";

/// Files by name and content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    lines: BTreeSet<(String, u64)>,
}

impl Manifest {
    /// The lines of a file; malformed ones are passed over.
    pub(super) fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (hash, name) = line.split_once(' ')?;
            let hash = u64::from_str_radix(hash, 16).ok()?;
            is_inside(name).then(|| (name.to_owned(), hash))
        };
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self { lines: lines.filter_map(line).collect() }
    }

    pub(super) fn text(&self) -> String {
        let mut text = INTRO.to_owned();
        for (name, hash) in &self.lines {
            let _ = writeln!(text, "{hash:016x} {name}");
        }
        text
    }

    pub(super) fn add(&mut self, name: &str, hash: u64) {
        self.lines.insert((name.to_owned(), hash));
    }

    /// Returns whether a file of this name and content is one of ours.
    pub(super) fn holds(&self, name: &str, content: &[u8]) -> bool {
        self.lines.contains(&(name.to_owned(), hash(content)))
    }

    /// The names of files that can't be there while `name` is one: those of directories above it,
    /// and of files below it.
    pub(super) fn in_the_way_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let from = |name: &str| self.lines.range((name.to_owned(), 0)..);
        let below = format!("{name}/");
        let names = from(&below).map(|(name, _)| name.as_str());
        let names = names.take_while(move |name| name.starts_with(&below));
        let above = name.match_indices('/').map(|(end, _)| &name[..end]);
        above.filter(move |above| from(above).next().is_some_and(|it| it.0 == **above)).chain(names)
    }

    /// The lines of both.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self { lines: self.lines.union(&other.lines).cloned().collect() }
    }

    /// The names that `other` does not have.
    pub(super) fn names_not_in<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a str> {
        let theirs: BTreeSet<&str> = other.lines.iter().map(|(name, _)| name.as_str()).collect();
        let ours = self.lines.iter().map(|(name, _)| name.as_str());
        ours.filter(|name| !theirs.contains(name)).collect()
    }
}

/// Returns whether a name leads to a file below the directory.
fn is_inside(name: &str) -> bool {
    let mut components = Path::new(name).components().peekable();
    components.peek().is_some() && components.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_manifests() {
        let mut manifest = Manifest::default();
        manifest.add("b c/A.java", hash(b"one"));
        manifest.add("B.java", hash(b"two"));
        assert_eq!(Manifest::parse(&manifest.text()), manifest);
        assert!(manifest.holds("B.java", b"two"));
        assert!(!manifest.holds("B.java", b"one"));
        assert_eq!(manifest.names_not_in(&Manifest::default()), ["B.java", "b c/A.java"].into());
    }

    #[test]
    fn only_names_below_count() {
        let text = "0 /etc/passwd\n1 ../x\n2 a/../../x\nzz a\n3\n4 \n5 ./a\n6 ok/x\n";
        let expected = Manifest { lines: [("ok/x".to_owned(), 6)].into() };
        assert_eq!(Manifest::parse(text), expected);
    }
}
