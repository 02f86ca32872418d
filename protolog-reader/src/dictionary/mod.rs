//! The dictionary of a log: the trace's own, completed from files.
//!
//! Unlike `viewer_config::Dictionary`, which refuses contradictions, this one accepts whatever a
//! trace holds: of two messages with one id both are kept and the conflict is counted;
//! `collision.rs` tells their entries apart. Of two groups of one process the first wins.
//!
//! Invariant: what a process says of an id changes nothing in the entries of another process that
//! says something of it, too, where the tracing service tells the two apart.

pub(crate) mod collision;
pub(crate) mod elements;
pub(crate) mod lenient_template;
pub(crate) mod message_plan;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashSet};
use protolog_core::schema::{group, message_data, message_hints};
use protolog_core::{ArgumentNames, Level};
use protozero::{DecodeError, Field, Reader};

use crate::dictionary::message_plan::{Plan, PlanCell};
use crate::sequences::thread::{ANY, Origin};
use elements::Element;

/// Maximum number of locations of one message; each new one is compared with all.
const MAX_LOCATIONS: usize = 16;

/// Maximum number of further messages of one id, of one process and of all.
const MAX_OTHERS: usize = 8;
const MAX_ALL_OTHERS: usize = 256;

/// Messages by id, groups by id.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    messages: HashMap<u64, Message>,
    /// Messages whose ids others had first.
    others: HashMap<u64, Vec<Message>>,
    /// Processes that say of a message what the first one says of it.
    agreeing: HashSet<(u64, Origin)>,
    groups: HashMap<u32, Group>,
    /// Ids of groups by their names; of several of one name the first.
    group_ids: HashMap<Box<str>, u32>,
    /// The ids here of groups of a process whose ids another one had first.
    renumbered: HashMap<(Origin, u32), u32>,
    /// Hashes of the dictionaries of stripped programs that have not been provided.
    missing: BTreeSet<u64>,
    conflicts: u64,
    malformed: u64,
}

/// A message: the part that all entries with one id share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The template in the bare form, which trace_processor understands.
    pub bare: String,
    /// The full template, if it differs.
    pub template: Option<String>,
    /// The list of the arguments' names, see [`ArgumentNames`].
    pub(crate) names: String,
    /// Bit `i` is set where argument `i` is an unsigned integer.
    pub unsigned: u32,
    /// The level; none if the dictionary has none or an unknown one.
    pub level: Option<Level>,
    /// Id of the group.
    pub group: u32,
    /// `path:line`, several lines as `path:12,40`; empty if not known.
    pub location: String,
    origin: Origin,
    plan: PlanCell,
}

/// A group of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The full name.
    pub name: String,
    /// The tag of its messages in text output.
    pub tag: String,
    origin: Origin,
}

impl Dictionary {
    /// The message with this id; of several, the first one.
    pub fn message(&self, id: u64) -> Option<&Message> {
        self.messages.get(&id)
    }

    /// Further messages with this id, which have another text, level or group.
    pub fn others(&self, id: u64) -> &[Message] {
        // There are none but in odd traces.
        let others = if self.others.is_empty() { None } else { self.others.get(&id) };
        others.map(Vec::as_slice).unwrap_or_default()
    }

    /// The group with this id.
    pub fn group(&self, id: u32) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// The group of this name; of several the first one.
    pub(crate) fn group_of_name(&self, name: &str) -> Option<&Group> {
        self.groups.get(self.group_ids.get(name)?)
    }

    /// The ids of all messages, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        self.messages.keys().copied()
    }

    /// All messages, in no particular order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.values()
    }

    /// All groups, in no particular order.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// The full name of the group with this id, or its number if the name is not known.
    pub fn group_name(&self, id: u32) -> Cow<'_, str> {
        self.group(id).map_or_else(|| format!("group {id}").into(), |group| (&group.name).into())
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// True if there is no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Number of entries that contradict an earlier one with the same id.
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// Number of elements of the trace's dictionaries that can't be decoded.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Adds the good elements of a packet of a process and counts the others.
    pub(crate) fn add_packet(
        &mut self,
        viewer_config: Field<'_>,
        origin: Origin,
    ) -> Result<(), DecodeError> {
        let mut parts = Vec::new();
        elements::visit(viewer_config.as_bytes()?, |element, _| match element {
            Element::Message(id, message) => self.add_message(id, Message { origin, ..message }),
            Element::Group(id, group) => self.add_group(id, Group { origin, ..group }),
            Element::Stripped(hash) => drop(self.missing.insert(hash)),
            Element::Other => {}
            Element::Part(id, message) => {
                self.malformed += 1;
                parts.push((id, Message { origin, ..message }));
            }
            Element::Bad => self.malformed += 1,
        });
        // A part is only used where there is no whole one.
        for (id, message) in parts {
            self.messages.entry(id).or_insert(message);
        }
        Ok(())
    }

    /// Adds a message. The same message at another location is no conflict: AOSP's tool writes one
    /// entry per call.
    fn add_message(&mut self, id: u64, mut message: Message) {
        if !self.renumbered.is_empty() {
            let place = (message.origin, message.group);
            message.group = self.renumbered.get(&place).copied().unwrap_or(message.group);
        }
        match self.messages.entry(id) {
            Entry::Vacant(entry) => {
                entry.insert(message);
            }
            Entry::Occupied(mut entry) => {
                if !entry.get().has_same_meaning(&message) {
                    self.conflicts += 1;
                    add_other(self.others.entry(id).or_default(), message);
                    return;
                }
                if entry.get().origin != message.origin {
                    self.agreeing.insert((id, message.origin));
                }
                let location = std::mem::take(&mut entry.get_mut().location);
                entry.get_mut().location = join(location, &message.location);
            }
        }
    }

    /// Returns the id here of the group to which a process gives the id `id`.
    pub(crate) fn group_of(&self, origin: Origin, id: u32) -> u32 {
        self.renumbered.get(&(origin, id)).copied().unwrap_or(id)
    }

    /// Returns whether `message`, one of this id, is what a process says of the id.
    pub(crate) fn is_of(&self, id: u64, message: &Message, origin: Origin) -> bool {
        let is_first = || self.messages.get(&id).is_some_and(|first| std::ptr::eq(first, message));
        message.origin == origin || self.agreeing.contains(&(id, origin)) && is_first()
    }

    fn add_group(&mut self, id: u32, group: Group) {
        let origin = group.origin;
        match self.groups.entry(id) {
            Entry::Vacant(entry) => {
                self.group_ids.entry(group.name.as_str().into()).or_insert(id);
                entry.insert(group);
            }
            Entry::Occupied(entry) if !entry.get().has_same_names(&group) => {
                self.conflicts += 1;
                let is_other = origin != ANY && entry.get().origin != origin;
                if is_other && !self.renumbered.contains_key(&(origin, id)) {
                    let own = self.renumber(group);
                    self.renumbered.insert((origin, id), own);
                }
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Adds a group whose id another process had first; returns its id here.
    fn renumber(&mut self, group: Group) -> u32 {
        let known = self.group_ids.get(group.name.as_str()).copied();
        let is_same = |id: &u32| self.groups.get(id).is_some_and(|it| it.has_same_names(&group));
        if let Some(known) = known.filter(is_same) {
            return known;
        }
        // From the end, where hashes rarely are; what was given before is not tried again.
        let mut id = u32::MAX - self.renumbered.len() as u32;
        while self.groups.contains_key(&id) {
            id = id.wrapping_sub(1);
        }
        self.group_ids.entry(group.name.as_str().into()).or_insert(id);
        self.groups.insert(id, group);
        id
    }

    /// Hashes of the dictionaries of stripped programs that have not been provided, ascending.
    pub fn missing(&self) -> impl Iterator<Item = u64> {
        self.missing.iter().copied()
    }

    /// Adds the entries of a dictionary file that are not there yet.
    pub(crate) fn fill_from(&mut self, file: &viewer_config::Dictionary) {
        if !self.missing.is_empty() {
            self.missing.remove(&file.hash());
        }
        let ids: HashMap<&str, u32> = file
            .groups()
            .iter()
            .map(|group| (group.name.as_str(), self.fill_group(group)))
            .collect();
        for message in file.messages() {
            self.messages.entry(message.id).or_insert_with(|| {
                let bare = message.bare().into_owned();
                let locations: Vec<_> = message.locations.iter().map(ToString::to_string).collect();
                Message {
                    template: Some(message.template.clone()).filter(|template| *template != bare),
                    bare,
                    names: message.names.clone(),
                    unsigned: message.unsigned,
                    level: Some(message.level),
                    group: ids.get(&*message.group).copied().unwrap_or(0),
                    location: locations.join(";"),
                    origin: ANY,
                    plan: PlanCell::default(),
                }
            });
        }
    }

    /// Adds a file's group and returns its id here. It is the id in the file, unless another group
    /// has it here: ids in a file are valid only in that file.
    fn fill_group(&mut self, group: &viewer_config::Group) -> u32 {
        let mut id = group.id;
        loop {
            match self.groups.entry(id) {
                Entry::Vacant(entry) => {
                    self.group_ids.entry(group.name.as_str().into()).or_insert(id);
                    let (name, tag) = (group.name.clone(), group.tag.clone());
                    entry.insert(Group { name, tag, origin: ANY });
                    return id;
                }
                Entry::Occupied(known) if known.get().name == group.name => return id,
                Entry::Occupied(_) => id = id.wrapping_add(1),
            }
        }
    }
}

impl Message {
    /// The full template if there is one, or else the bare one.
    pub fn template(&self) -> &str {
        self.template.as_deref().unwrap_or(&self.bare)
    }

    /// The names of the arguments.
    pub fn names(&self) -> ArgumentNames<'_> {
        ArgumentNames::parse(&self.names)
    }

    /// The parts of the template.
    pub(crate) fn plan(&self) -> &Plan {
        self.plan.get(self.template())
    }

    /// True if both are equal except for the location.
    pub(crate) fn has_same_meaning(&self, other: &Self) -> bool {
        let parts = |message: &Self| (message.unsigned, message.level, message.group);
        let is_same = |of: fn(&Self) -> Option<&str>| of(self) == of(other);
        let has_same_texts = is_same(|it| Some(&it.bare))
            && is_same(|it| it.template.as_deref())
            && is_same(|it| Some(&it.names));
        has_same_texts && parts(self) == parts(other)
    }

    /// Parses the fields up to the first that can't be decoded.
    pub(crate) fn parse_part(mut fields: Reader<'_>) -> (u64, Self, Result<(), DecodeError>) {
        let (mut id, mut message) = (0, Self::default());
        let done = fields.try_for_each(|field| message.parse_field(field?, &mut id));
        (id, message, done)
    }

    /// The size of the fields before the first that can't be decoded, in bytes.
    pub(crate) fn good_size(mut fields: Reader<'_>) -> usize {
        let (mut id, mut message, mut size) = (0, Self::default(), 0);
        while let Some(Ok(field)) = fields.next()
            && message.parse_field(field, &mut id).is_ok()
        {
            size = fields.offset() as usize;
        }
        size
    }

    fn parse_field(&mut self, field: Field<'_>, id: &mut u64) -> Result<(), DecodeError> {
        match field.number {
            message_data::MESSAGE_ID => *id = field.as_fixed64()?,
            message_data::MESSAGE => self.bare = text(field)?,
            message_data::LEVEL => self.level = Level::from_wire(field.as_u64()?),
            message_data::GROUP_ID => self.group = field.as_u32()?,
            message_data::LOCATION => self.location = text(field)?,
            message_data::HINTS => self.parse_hints(field.as_message()?)?,
            _ => {}
        }
        Ok(())
    }

    fn parse_hints(&mut self, hints: Reader<'_>) -> Result<(), DecodeError> {
        for field in hints {
            let field = field?;
            match field.number {
                message_hints::TEMPLATE => self.template = Some(text(field)?),
                message_hints::UNSIGNED => self.unsigned = field.as_u32()?,
                message_hints::NAMES => self.names = text(field)?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Group {
    fn has_same_names(&self, other: &Self) -> bool {
        self.name == other.name && self.tag == other.tag
    }

    pub(crate) fn parse(fields: Reader<'_>) -> Result<(u32, Self), DecodeError> {
        let (mut id, mut parsed) = (0, Self::default());
        for field in fields {
            let field = field?;
            match field.number {
                group::ID => id = field.as_u32()?,
                group::NAME => parsed.name = text(field)?,
                group::TAG => parsed.tag = text(field)?,
                _ => {}
            }
        }
        Ok((id, parsed))
    }
}

/// Adds a message to those of an id, unless it is there or they are too many.
fn add_other(others: &mut Vec<Message>, message: Message) {
    let mut count = 0;
    for known in others.iter_mut().filter(|known| known.origin == message.origin) {
        if known.has_same_meaning(&message) {
            let location = std::mem::take(&mut known.location);
            known.location = join(location, &message.location);
            return;
        }
        count += 1;
    }
    if count < MAX_OTHERS && others.len() < MAX_ALL_OTHERS {
        others.push(message);
    }
}

/// Adds a location to a list, unless it is there or the list is full.
fn join(mut list: String, location: &str) -> String {
    let mut known = list.split(';');
    let add =
        !location.is_empty() && known.by_ref().take(MAX_LOCATIONS - 1).all(|one| one != location);
    if add && known.next().is_none() {
        if !list.is_empty() {
            list.push(';');
        }
        list.push_str(location);
    }
    list
}

fn text(field: Field<'_>) -> Result<String, DecodeError> {
    Ok(String::from_utf8_lossy(field.as_bytes()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_listed_once_up_to_a_limit() {
        let joined = |all: &[&str]| all.iter().fold(String::new(), |list, one| join(list, one));
        assert_eq!(joined(&["", "a.rs:1", "b.rs:2", "", "a.rs:1", "b.rs:2"]), "a.rs:1;b.rs:2");
        let many: Vec<String> = (0..MAX_LOCATIONS + 9).map(|line| format!("a.rs:{line}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(joined(&many), many[..MAX_LOCATIONS].join(";"));
        assert_eq!(joined(&[&many, &many[..]].concat()), joined(&many));
    }
}
