//! Collecting messages and groups into one dictionary, from sources, binaries and other
//! dictionaries.
//!
//! Equal messages (id, template, names, level, group) become one:
//!
//! - Their locations are joined.
//! - An argument counts as unsigned only if all of them say so: a negative number must not come out
//!   as a huge one.
//! - Of two places, the first in the alphabet stays.
//!
//! Unequal messages under one id are a problem. Adding never fails: problems are kept for the end,
//! where either they refuse the dictionary ([`Collector::finish`]) or the first one of two stays
//! ([`Collector::finish_anyway`]).
//!
//! Invariants: without problems the result does not depend on the order of adding; every id clashes
//! at most once, so that memory stays in proportion to the input.

use crate::{Dictionary, Group, Location, Message, Problem, Problems};
use protolog_core::{Level, group_id};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

/// Messages and groups on their way into a [`Dictionary`].
#[derive(Clone, Debug, Default)]
pub struct Collector {
    messages: HashMap<u64, Merged>,
    groups: HashMap<String, Group>,
    group_names: HashMap<u32, String>,
    /// Groups that got another id than declared, and the declared one.
    renumbered: HashMap<String, u32>,
    clashed_groups: HashSet<u32>,
    problems: Vec<Problem>,
}

/// A dictionary, and its problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// The dictionary.
    pub dictionary: Dictionary,
    /// Problems, in the order in which they were found.
    pub problems: Vec<Problem>,
}

/// A message under way.
#[derive(Clone, Debug)]
struct Merged {
    template: String,
    names: String,
    unsigned: u32,
    level: Level,
    group: Arc<str>,
    place: String,
    locations: BTreeMap<String, BTreeSet<u32>>,
    clashed: bool,
}

impl Collector {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a group, used or not.
    pub fn add_group(&mut self, mut group: Group) {
        if is_blank(&group.name) {
            group.name = placeholder(group.id);
            if !self.groups.contains_key(&group.name) {
                self.problems.push(Problem::UnnamedGroup { group_id: group.id });
            }
        }
        if let Some(first) = self.groups.get(&group.name) {
            let same_id =
                group.id == first.id || self.renumbered.get(&group.name) == Some(&group.id);
            if first.tag != group.tag || !same_id {
                self.clash(first.clone(), group);
            }
        } else if let Some(name) = self.group_names.get(&group.id) {
            if let Some(first) = self.groups.get(name) {
                self.clash(first.clone(), group.clone());
            }
            self.renumbered.insert(group.name.clone(), group.id);
            let id = self.free_group_id(&group.name);
            self.insert_group(Group { id, ..group });
        } else {
            self.insert_group(group);
        }
    }

    /// Adds a message, or more locations of one that is there. Its group may be added later.
    pub fn add_message(&mut self, message: Message) {
        match self.messages.entry(message.id) {
            Entry::Vacant(entry) => drop(entry.insert(Merged::new(message))),
            Entry::Occupied(mut entry) if entry.get().is_same(&message) => {
                entry.get_mut().merge(message);
            }
            Entry::Occupied(mut entry) => {
                if !std::mem::replace(&mut entry.get_mut().clashed, true) {
                    let first = entry.get().clone().into_message(message.id);
                    let second = Merged::new(message).into_message(first.id);
                    self.problems.push(Problem::MessageClash {
                        first: Box::new(first),
                        second: Box::new(second),
                    });
                }
            }
        }
    }

    /// Adds all of another dictionary.
    pub fn add(&mut self, dictionary: Dictionary) {
        let (messages, groups) = dictionary.into_parts();
        for group in groups {
            self.add_group(group);
        }
        for message in messages {
            self.add_message(message);
        }
    }

    /// The dictionary, unless a problem refuses it.
    pub fn finish(self) -> Result<Collected, Problems> {
        let collected = self.finish_anyway();
        if collected.problems.iter().any(Problem::is_refusal) {
            let refusals = collected.problems.into_iter().filter(Problem::is_refusal);
            return Err(Problems(refusals.collect()));
        }
        Ok(collected)
    }

    /// The dictionary, even with problems: for readers, who have nobody to send back.
    pub fn finish_anyway(mut self) -> Collected {
        let merged = std::mem::take(&mut self.messages).into_iter();
        let mut messages: Vec<_> = merged.map(|(id, merged)| merged.into_message(id)).collect();
        messages.sort_unstable_by(|a, b| a.order().cmp(&b.order()));
        // Names are shared: a long one is looked up once, not for each of its messages.
        let mut looked_up = HashSet::new();
        for message in &messages {
            if looked_up.insert(message.group.as_ptr())
                && !self.groups.contains_key(&*message.group)
            {
                self.problems.push(Problem::UndeclaredGroup { message: Box::new(message.clone()) });
                let (id, name) = (self.free_group_id(&message.group), message.group.to_string());
                self.insert_group(Group { id, tag: name.clone(), name });
            }
        }
        let groups = self.groups.into_values().collect();
        Collected { dictionary: Dictionary::new(messages, groups), problems: self.problems }
    }

    /// Notes something that a format's reader put right.
    pub(crate) fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Returns whether there is a message with this id.
    pub(crate) fn has_message(&self, id: u64) -> bool {
        self.messages.contains_key(&id)
    }

    fn insert_group(&mut self, group: Group) {
        self.group_names.insert(group.id, group.name.clone());
        self.groups.insert(group.name.clone(), group);
    }

    /// Notes that two groups contradict each other, once per group that was there.
    fn clash(&mut self, first: Group, second: Group) {
        if self.clashed_groups.insert(first.id) {
            let (first, second) = (Box::new(first), Box::new(second));
            self.problems.push(Problem::GroupClash { first, second });
        }
    }

    fn free_group_id(&self, name: &str) -> u32 {
        let mut id = group_id(name);
        while self.group_names.contains_key(&id) {
            id = id.wrapping_add(1);
        }
        id
    }
}

impl Merged {
    fn new(message: Message) -> Self {
        let Message { template, names, unsigned, level, group, place, locations, id: _ } = message;
        let mut merged = Self {
            template,
            names,
            unsigned,
            level,
            group,
            place,
            locations: BTreeMap::new(),
            clashed: false,
        };
        merged.add_locations(locations);
        merged
    }

    fn is_same(&self, message: &Message) -> bool {
        self.template == message.template
            && self.names == message.names
            && self.level == message.level
            && self.group == message.group
    }

    fn merge(&mut self, message: Message) {
        self.unsigned &= message.unsigned;
        let known = !message.place.is_empty();
        if known && (self.place.is_empty() || message.place < self.place) {
            self.place = message.place;
        }
        self.add_locations(message.locations);
    }

    fn add_locations(&mut self, locations: Vec<Location>) {
        for location in locations {
            if !location.path.is_empty() || !location.lines.is_empty() {
                self.locations.entry(location.path).or_default().extend(location.lines);
            }
        }
    }

    fn into_message(self, id: u64) -> Message {
        let Self { template, names, unsigned, level, group, place, locations, clashed: _ } = self;
        let location =
            |(path, lines): (_, BTreeSet<u32>)| Location { path, lines: Vec::from_iter(lines) };
        let locations = locations.into_iter().map(location).collect();
        Message { id, template, names, unsigned, level, group, place, locations }
    }
}

/// The group's name in a dictionary.
pub(crate) fn name_of(group: &Group) -> String {
    if is_blank(&group.name) { placeholder(group.id) } else { group.name.clone() }
}

/// AOSP's reader of the JSON form refuses a blank name.
fn is_blank(name: &str) -> bool {
    name.trim().is_empty()
}

/// The name for a group without a known name.
pub(crate) fn placeholder(id: u32) -> String {
    format!("#{id}")
}
