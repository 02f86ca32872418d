//! The memory that a program shares with its operators, and what was wished of groups.
//!
//! One file in memory has a page for each of the first [`PAGES`] enums. Its size is sealed: an operator that has the file
//! can't cut it off under a call.
//!
//! Invariant: a page of the file belongs to one enum for good.

use super::group::{GroupInfo, GroupSet};
use super::page::PAGE_SIZE;
use crate::sys::file::memory_file;
use protolog_core::control::matches_group;
use protolog_core::control::setting::Setting;
use protolog_core::control::switch::{ALL_LEVELS, ALLOWED_SHIFT, TEXT_SHIFT, UNREGISTERED};
use std::fs::File;
use std::io;

/// Pages of the file: enums whose groups an operator can switch by itself. Those that come later are switched by request.
/// Pages that are not in use take no memory.
pub(super) const PAGES: u32 = 256;

/// The file, and how many of its pages are given out.
#[derive(Debug)]
pub(crate) struct Shared {
    file: File,
    used: u32,
}

/// What is wished of the groups that a pattern names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// As [`names`] takes it.
    pub(crate) pattern: Box<str>,
    /// What is wished.
    pub(crate) setting: Setting,
    /// Who wishes it.
    pub(crate) source: Source,
}

/// Who wishes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The configuration file, which may wish something else later.
    File,
    /// Whoever said it once: operators, the state file, the variable.
    Others,
}

/// The most wishes that are remembered for groups to come; of more, the oldest are forgotten.
const MOST_WISHES: usize = 4096;

impl Shared {
    /// A file with pages for enums to come.
    pub(super) fn new() -> io::Result<Self> {
        let file = memory_file(c"protolog-switches", u64::from(PAGES) * PAGE_SIZE as u64)?;
        Ok(Self { file, used: 0 })
    }

    /// The file, for an operator.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Shares the page of `set`, if there is one left and the system lets it be mapped.
    pub(super) fn add(&mut self, set: &'static GroupSet) {
        if self.used < PAGES && set.is_derived() && set.share(&self.file, self.used).is_ok() {
            self.used += 1;
        }
    }
}

impl Wish {
    /// Adds `wish` to `all`: an earlier one of the same source and pattern is no more than what this one does not speak of.
    pub(super) fn merge(all: &mut Vec<Self>, wish: Self) {
        let mut setting = wish.setting;
        let same = |old: &Self| old.source == wish.source && old.pattern == wish.pattern;
        if let Some(at) = all.iter().position(same) {
            let old = all.remove(at).setting;
            setting =
                Setting { trace: setting.trace.or(old.trace), text: setting.text.or(old.text) };
        } else if all.len() >= MOST_WISHES {
            all.remove(0);
        }
        all.push(Self { setting, ..wish });
    }

    fn fulfil(&self, group: &'static GroupInfo) {
        if matches_group(&self.pattern, group.name) {
            if let Some(levels) = self.setting.trace {
                group.set_allowed(levels);
            }
            if let Some(levels) = self.setting.text {
                group.set_text(levels);
            }
        }
    }
}

/// Does for the groups of `set` what is wished.
pub(super) fn fulfil(set: &GroupSet, wishes: &[Wish]) {
    for group in set.groups() {
        for wish in wishes {
            wish.fulfil(group);
        }
    }
}

/// Does for the groups of `set` what is wished in `all` where wishes of the configuration file, `old` or new, speak of them. Where
/// nothing is wished any more, it is what the group itself says.
pub(super) fn replace(set: &GroupSet, old: &[Wish], all: &[Wish]) {
    let of_file = |wish: &&Wish| wish.source == Source::File;
    for group in set.groups() {
        let wished = |part: fn(&Setting) -> Option<u8>| {
            let of = |wish: &Wish| {
                part(&wish.setting).filter(|_| matches_group(&wish.pattern, group.name))
            };
            let concerned = old.iter().chain(all.iter().filter(of_file)).find_map(of);
            concerned.map(|_| all.iter().rev().find_map(of))
        };
        if let Some(levels) = wished(|setting| setting.trace) {
            group.set_allowed(levels.unwrap_or(ALL_LEVELS as u8));
        }
        if let Some(levels) = wished(|setting| setting.text) {
            group.set_text(levels.unwrap_or(if group.log_to_text { ALL_LEVELS as u8 } else { 0 }));
        }
    }
}

/// What is wished of a group that has not come up, as a word that is marked new.
pub(super) fn word_to_be(name: &str, wishes: &[Wish]) -> u32 {
    let (mut allowed, mut text) = (ALL_LEVELS as u8, 0);
    for wish in wishes.iter().filter(|wish| matches_group(&wish.pattern, name)) {
        allowed = wish.setting.trace.unwrap_or(allowed);
        text = wish.setting.text.unwrap_or(text);
    }
    UNREGISTERED | u32::from(text) << TEXT_SHIFT | u32::from(allowed) << ALLOWED_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(pattern: &str, trace: Option<u8>, text: Option<u8>) -> Wish {
        Wish { pattern: pattern.into(), setting: Setting { trace, text }, source: Source::Others }
    }

    #[test]
    fn wishes_of_one_pattern_are_one() {
        let mut all = Vec::new();
        for new in [wish("a", Some(1), Some(2)), wish("*", Some(4), None), wish("a", Some(8), None)]
        {
            Wish::merge(&mut all, new);
        }
        assert_eq!(all, [wish("*", Some(4), None), wish("a", Some(8), Some(2))]);
    }

    #[test]
    fn wishes_of_two_sources_are_two() {
        let mut all = Vec::new();
        let of_file = |wish| Wish { source: Source::File, ..wish };
        Wish::merge(&mut all, wish("a", Some(1), None));
        Wish::merge(&mut all, of_file(wish("a", Some(2), None)));
        Wish::merge(&mut all, of_file(wish("a", None, Some(4))));
        assert_eq!(all, [wish("a", Some(1), None), of_file(wish("a", Some(2), Some(4)))]);
    }

    #[test]
    fn wishes_are_bounded() {
        let mut all = Vec::new();
        for number in 0..=MOST_WISHES {
            Wish::merge(&mut all, wish(&format!("g{number}"), Some(0), None));
        }
        assert_eq!(all.len(), MOST_WISHES);
        assert_eq!(&*all[0].pattern, "g1");
    }
}
