//! The dictionary and its entries.
//!
//! Order: messages by their first location (path, then line), then by id; groups by name. So a file that is kept under
//! version control changes where the sources changed, and neighbours in the file are neighbours in the source.

use crate::{Collected, Collector, Format, Location, ReadError, gzip, json, pb};
use protolog_core::{Level, Template};
use std::{borrow::Cow, collections::HashMap, sync::Arc};

/// A message: what all entries with one id have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The id, as in traces.
    pub id: u64,
    /// The template in full form. Files made elsewhere may hold a text that [`Template::parse`] refuses.
    pub template: String,
    /// Bit `i` is set where argument `i` is an unsigned integer.
    pub unsigned: u32,
    /// The level.
    pub level: Level,
    /// The group's full name.
    pub group: Arc<str>,
    /// The place that the id is computed over, see [`protolog_core::message_id`]. Where a file does not say, the path of
    /// the first location.
    pub place: String,
    /// Where the calls are. In a [`Dictionary`]: sorted by path, each path once.
    pub locations: Vec<Location>,
}

/// A group, used or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// The id: [`protolog_core::group_id`] of the name, or what an Android enum says (a negative one as its 32 bits).
    pub id: u32,
    /// The full name.
    pub name: String,
    /// The tag under which texts of the group are shown.
    pub tag: String,
}

/// Messages and groups, without contradictions. Made by a [`Collector`].
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    messages: Vec<Message>,
    groups: Vec<Group>,
    message_index: HashMap<u64, u32>,
    group_index: HashMap<u32, u32>,
}

impl Message {
    /// The template in the form that Perfetto's trace_processor understands; the text itself where it is no template.
    pub fn bare(&self) -> Cow<'_, str> {
        match Template::parse(&self.template) {
            Ok(template) if !template.is_bare() => template.bare().to_string().into(),
            _ => Cow::Borrowed(&self.template),
        }
    }

    /// The place of a message of which nothing but the locations is known.
    pub(crate) fn default_place(locations: &[Location]) -> &str {
        locations.first().map_or("", |location| &location.path)
    }

    /// The place, where it has to be written down.
    pub(crate) fn explicit_place(&self) -> Option<&str> {
        (self.place != Self::default_place(&self.locations)).then_some(&self.place)
    }

    /// The key by which a dictionary's messages are sorted.
    pub(crate) fn order(&self) -> (Option<(&str, Option<u32>)>, u64) {
        let first = self.locations.first();
        (first.map(|location| (location.path.as_str(), location.lines.first().copied())), self.id)
    }
}

impl Dictionary {
    /// Reads a dictionary of any [`Format`], which is told by its content. Contradictions are an error; what can be put
    /// right is reported beside the dictionary.
    pub fn read(bytes: &[u8]) -> Result<Collected, ReadError> {
        Self::read_as(Format::of_content(bytes), bytes)
    }

    /// As [`read`](Self::read), for bytes of a known format.
    pub fn read_as(format: Format, bytes: &[u8]) -> Result<Collected, ReadError> {
        let mut collector = Collector::new();
        collector.read_as(format, bytes)?;
        Ok(collector.finish()?)
    }

    /// The bytes of a file of this format: the same for the same dictionary, always.
    pub fn to_bytes(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Pb => pb::write(self),
            Format::Json => json::write(self),
            Format::JsonGz => gzip::compress(&json::write(self)),
        }
    }

    /// The name of this dictionary in the program that it was extracted from: the XXH3-64 of its bytes in protobuf.
    pub fn hash(&self) -> u64 {
        protolog_core::hash(&self.to_bytes(Format::Pb))
    }

    /// All messages, by first location, then id.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// All groups, by name.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The message with this id.
    pub fn message(&self, id: u64) -> Option<&Message> {
        self.message_index.get(&id).map(|index| &self.messages[*index as usize])
    }

    /// The group with this full name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        let index = self.groups.binary_search_by(|group| group.name.as_str().cmp(name)).ok()?;
        Some(&self.groups[index])
    }

    /// The group with this id.
    pub fn group_by_id(&self, id: u32) -> Option<&Group> {
        self.group_index.get(&id).map(|index| &self.groups[*index as usize])
    }

    /// Returns whether there is neither a message nor a group.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.groups.is_empty()
    }

    /// All messages and groups, to go on with.
    pub fn into_parts(self) -> (Vec<Message>, Vec<Group>) {
        (self.messages, self.groups)
    }

    /// Sorts and indexes. Ids of messages, and ids and names of groups, are unique, and messages sorted already.
    pub(crate) fn new(messages: Vec<Message>, mut groups: Vec<Group>) -> Self {
        debug_assert!(messages.is_sorted_by(|a, b| a.order() < b.order()));
        groups.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let message_index = messages.iter().map(|message| message.id).zip(0..).collect();
        let group_index = groups.iter().map(|group| group.id).zip(0..).collect();
        Self { messages, groups, message_index, group_index }
    }
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages && self.groups == other.groups
    }
}

impl Eq for Dictionary {}
