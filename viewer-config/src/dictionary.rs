//! The dictionary: messages and groups, looked up by id and name.
//!
//! Order: messages by their first location (path, then line), then by id; groups by name. So a file
//! that is kept under version control changes where the sources changed, and neighbours in the file
//! are neighbours in the source.

use crate::{Group, Message};
use std::collections::HashMap;

/// Messages and groups, without contradictions. Made by a [`Collector`](crate::Collector).
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    messages: Vec<Message>,
    groups: Vec<Group>,
    message_index: HashMap<u64, u32>,
    group_index: HashMap<u32, u32>,
}

impl Dictionary {
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

    /// Sorts and indexes. Ids of messages, and ids and names of groups, are unique, and messages
    /// sorted already.
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
