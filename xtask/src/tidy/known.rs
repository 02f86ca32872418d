//! Breaches that were there when their rule came: a list that only gets shorter.
//!
//! A rule with a part in the list does not fail for the places it names. A named place that keeps the rule is an error as
//! well, so that the list empties; `cargo xtask bless tidy` takes such places out, and adds none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::Place;
use crate::{Result, workspace};

/// Names of rules, and the keys of the places where each is broken.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Known {
    by_rule: BTreeMap<String, BTreeSet<String>>,
}

const HEAD: &str = "\
# Places that break a rule of xtask/src/tidy and did so when the rule came. Mend one, and take its line out:
# `cargo xtask bless tidy` does that, and follows files that were renamed. No line is ever added.
";

impl Known {
    /// Reads the list; an absent one is empty.
    pub(super) fn read() -> Result<Self> {
        Self::parse(&fs::read_to_string(path()).unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Self> {
        let mut by_rule: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut rule = None;
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                rule = Some(name.to_owned());
                continue;
            }
            let rule = rule.clone().ok_or_else(|| format!("`{line}` stands below no rule"))?;
            by_rule.entry(rule).or_default().insert(line.to_owned());
        }
        Ok(Self { by_rule })
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (rule, keys) in self.by_rule.iter().filter(|(_, keys)| !keys.is_empty()) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let _ = writeln!(text, "\n[{rule}]\n{}", keys.join("\n"));
        }
        text
    }

    /// Splits what a rule found into the new findings, and words for each known place that keeps the rule by now.
    pub(super) fn sift(&self, rule: &str, found: Vec<Place>) -> (Vec<Place>, Vec<String>) {
        let empty = BTreeSet::new();
        let known = self.by_rule.get(rule).unwrap_or(&empty);
        let broken: BTreeSet<&str> = found.iter().map(|place| place.key.as_str()).collect();
        let mended = known.iter().filter(|key| !broken.contains(key.as_str()));
        let mended = mended
            .map(|key| {
                format!("`{key}` keeps the rule `{rule}` by now; run `cargo xtask bless tidy`")
            })
            .collect();
        let new = found.into_iter().filter(|place| !known.contains(&place.key)).collect();
        (new, mended)
    }

    /// Writes the list of what is broken now, with names of files as they are now; an error where it would get longer.
    pub(super) fn replace(&self, broken: &[(&str, Vec<Place>)]) -> Result<()> {
        let keys = |places: &[Place]| places.iter().map(|place| place.key.clone()).collect();
        let by_rule = broken.iter().map(|(rule, places)| ((*rule).to_owned(), keys(places)));
        let now = Self { by_rule: by_rule.collect() };
        let count = |known: &Self, rule: &str| known.by_rule.get(rule).map_or(0, BTreeSet::len);
        if let Some(rule) = now.by_rule.keys().find(|rule| count(&now, rule) > count(self, rule)) {
            return Err(format!(
                "more places break the rule `{rule}` than are known; mend those that `test tidy` shows"
            ));
        }
        let path = path();
        fs::write(&path, now.text())
            .map_err(|error| format!("can't write `{}`: {error}", path.display()))
    }
}

fn path() -> PathBuf {
    workspace::root().join("xtask/src/tidy/known.txt")
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::{Known, Place};

    fn place(key: &str) -> Place {
        let finding = Finding { line: 1, what: "broken".to_owned() };
        Place { key: key.to_owned(), file: key.to_owned(), finding }
    }

    #[test]
    fn known_places_are_passed_over_and_mended_ones_reported() {
        let known = Known::parse("# x\n[cycles]\na.rs\nb.rs\n").unwrap();
        let (new, mended) = known.sift("cycles", vec![place("b.rs"), place("c.rs")]);
        assert_eq!(new, [place("c.rs")]);
        assert_eq!(mended, ["`a.rs` keeps the rule `cycles` by now; run `cargo xtask bless tidy`"]);
        assert_eq!(known.sift("layers", vec![place("a.rs")]).0, [place("a.rs")]);
    }

    #[test]
    fn what_is_written_is_read() {
        let known = Known::parse("[b]\nx y\n\n[a]\nz\n").unwrap();
        assert_eq!(Known::parse(&known.text()), Ok(known));
        assert!(Known::parse("x\n").is_err());
    }
}
