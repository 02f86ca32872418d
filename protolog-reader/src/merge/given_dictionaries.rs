//! Dictionaries beside the inputs: what no input has of them becomes a part of the result, as that
//! of stripped programs.
//!
//! Invariant: what an input says of a message or a group counts, whatever the dictionaries say. A
//! group of theirs has another id where an input has a group of that id.

use super::survey::Survey;
use crate::dictionary::elements::{self, Element};
use std::collections::BTreeSet;
use viewer_config::{Collector, Dictionary, Format, Group};

/// Finds the dictionary with a hash.
type Find<'a> = &'a mut dyn FnMut(u64) -> Option<Dictionary>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct GivenDictionaries {
    /// The dictionary of what no input has.
    pub(super) bytes: Vec<u8>,
    /// The hashes of those dictionaries of stripped programs that are there.
    pub(super) provided: BTreeSet<u64>,
    /// The hashes of those that are not.
    pub(super) missing: BTreeSet<u64>,
}

impl GivenDictionaries {
    /// Takes what the inputs lack from `files`, and from what `find` finds.
    pub(super) fn new(survey: &Survey, files: &[Dictionary], find: Find<'_>) -> Self {
        let mut given = Self { missing: survey.stripped.clone(), ..Self::default() };
        let mut all = files.to_vec();
        if !given.missing.is_empty() {
            for file in files {
                given.provide(file.hash());
            }
        }
        for hash in given.missing.clone() {
            if let Some(file) = find(hash) {
                given.provide(hash);
                all.push(file);
            }
        }
        if all.is_empty() {
            return given;
        }
        let mut collector = Collector::new();
        for (id, name, tag) in survey.groups() {
            collector.add_group(Group { id, name: name.to_owned(), tag: tag.to_owned() });
        }
        for file in all {
            let (messages, groups) = file.into_parts();
            for group in groups {
                collector.add_group(group);
            }
            for message in messages.into_iter().filter(|it| !survey.has_message(it.id)) {
                collector.add_message(message);
            }
        }
        // Of two that contradict each other, the first counts, as where a reader is given both.
        let bytes = collector.finish_anyway().dictionary.to_bytes(Format::Pb);
        elements::visit(&bytes, |element, whole| match element {
            Element::Group(id, _) if survey.has_group(id) => {}
            _ => given.bytes.extend_from_slice(whole),
        });
        given
    }

    fn provide(&mut self, hash: u64) {
        if self.missing.remove(&hash) {
            self.provided.insert(hash);
        }
    }
}
