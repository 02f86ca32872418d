//! The dictionary as packets: the notes of the loaded modules, and the messages interned at run
//! time.
//!
//! Texts of the loaded modules are written when the session starts, so that a trace that is cut
//! short can be read as text; those of modules and messages that come later follow when they are
//! found.
//!
//! Invariant: a message is written once per session, with all lines at which it was found by then.

use crate::dictionary::{
    fields, for_each_element, for_each_note, for_each_reached_group, for_each_stripped, group_of,
    message_id, stripped_message,
};
use crate::level::{self, rules};
use crate::loss::{LossCause, LossCount, Unwritten};
use crate::message_table::{self, RuntimeMessage};
use crate::session::filter::Filter;
use crate::session::packets::gap::Gap;
use crate::session::packets::message_counts::{Count, Counts};
use crate::stats::{GroupStats, Loss, PassedOver};
use protolog_core::schema::{group, message_data, message_hints, packet, viewer_config};
use protolog_core::{Level, Template};
use protozero::{Heap, Message, Writer};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// The size at which a packet is ended, in bytes.
const PACKET: usize = 32 * 1024;

/// Returns the id of the group of a message in a dictionary.
fn message_group(element: &[u8]) -> u32 {
    let group = fields(element).find(|field| field.number == message_data::GROUP_ID);
    group.and_then(|group| group.as_u32().ok()).unwrap_or_default()
}

/// The messages and groups written so far.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    /// The groups and levels that it has; all where there is none.
    filter: Option<Filter>,
    /// The levels of groups by that filter, which has to look at all of its names for each.
    levels: RefCell<HashMap<String, u8>>,
    /// Messages that it has by a rule, whatever the filter says.
    ruled: HashSet<u64>,
    /// The only messages that it has; all of the others above where there is none.
    only: Option<HashSet<u64>>,
    /// The group of each message.
    messages: HashMap<u64, u32>,
    groups: HashMap<u32, String>,
    /// Hashes of dictionaries that were stripped from modules.
    stripped: HashSet<u64>,
    /// The number of messages interned at run time that are written.
    interned: usize,
}

/// A message to be written.
#[derive(Debug)]
struct Entry {
    template: String,
    /// The names of the arguments, see [`protolog_core::ArgumentNames`].
    names: String,
    level: Level,
    group_id: u32,
    place: String,
    /// Lines by file.
    lines: BTreeMap<String, BTreeSet<u32>>,
}

/// Returns the full names of all groups in the program's dictionary.
pub(in crate::session) fn known_groups() -> BTreeSet<String> {
    tagged_groups().into_keys().collect()
}

/// Returns the full names of all groups: those in the program's dictionary, and those of enums that
/// have registered. None where a part of the dictionary was stripped, and names with it.
pub(crate) fn all_groups() -> Option<BTreeSet<String>> {
    let mut is_stripped = false;
    for_each_stripped(&mut |_| is_stripped = true);
    let mut groups = known_groups();
    level::for_each_group(|_, group, _| {
        groups.insert(group.name.to_owned());
    });
    (!is_stripped).then_some(groups)
}

/// Returns the full names of all groups in the program's dictionary, with their tags; without those
/// of libraries whose messages never reach this runtime.
pub(crate) fn tagged_groups() -> BTreeMap<String, String> {
    let mut groups = BTreeMap::new();
    for_each_reached_group(&mut |name, tag| {
        if !groups.contains_key(name) {
            groups.insert(name.to_owned(), tag.to_owned());
        }
    });
    groups
}

impl Dictionary {
    /// A dictionary of what `filter` lets through, or rules switch on.
    pub(in crate::session) fn of(filter: Filter) -> Self {
        Self { filter: Some(filter), ruled: rules::traced_ids(), ..Self::default() }
    }

    /// Leaves out all messages but these, and no group.
    pub(in crate::session) fn with_only(mut self, ids: HashSet<u64>) -> Self {
        self.only = Some(ids);
        self
    }

    /// Has these messages written next as well, where it leaves out all but some.
    pub(crate) fn include(&mut self, ids: &[u64]) {
        self.only.get_or_insert_default().extend(ids);
        self.ruled = rules::traced_ids();
        self.interned = 0;
    }

    /// Has these messages written once more when they are included next: nobody has their packets.
    pub(crate) fn forget(&mut self, ids: &[u64]) {
        for id in ids {
            self.messages.remove(id);
        }
    }

    /// Returns the number of groups that are written.
    pub(crate) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether it has a message that `other` lacks.
    pub(crate) fn has_more_than(&self, other: &Self) -> bool {
        self.messages.keys().any(|id| !other.messages.contains_key(id))
    }

    /// Returns whether the message with this id is left out.
    fn leaves_out(&self, id: u64) -> bool {
        self.only.as_ref().is_some_and(|only| !only.contains(&id))
    }

    /// Returns whether it has messages of the group with this full name at this level; of any, if
    /// none is given.
    fn includes(&self, group: &str, level: Option<Level>) -> bool {
        let Some(filter) = &self.filter else { return true };
        let known = self.levels.borrow().get(group).copied();
        let recorded = known.unwrap_or_else(|| {
            let levels = filter.levels(group);
            self.levels.borrow_mut().insert(group.to_owned(), levels);
            levels
        });
        recorded & level.map_or(u8::MAX, |level| 1 << level.severity()) != 0
    }

    /// Returns all that is known at the moment, without writing it.
    pub(in crate::session) fn known() -> Self {
        let mut known = Self::default();
        known.write_modules(&mut |_| {});
        known.write_interned(&mut |_| {});
        known
    }

    /// Returns drops with the names of their groups; one for each group and cause.
    pub(in crate::session) fn losses(
        &self,
        losses: impl IntoIterator<Item = LossCount>,
    ) -> Vec<Loss> {
        let mut sums = BTreeMap::<_, u64>::new();
        for LossCount { group, cause, count, .. } in losses {
            let Some(cause) = cause.lost() else { continue };
            *sums.entry((self.name(group), cause)).or_default() += count;
        }
        let loss = |((group, cause), count)| Loss { group, cause, count };
        sums.into_iter().map(loss).collect()
    }

    /// Returns the messages among them that sampling passed over, by group and level.
    pub(in crate::session) fn passed_over(
        &self,
        counts: impl IntoIterator<Item = LossCount>,
    ) -> Vec<PassedOver> {
        let mut sums = BTreeMap::<_, u64>::new();
        for LossCount { group, cause, count, .. } in counts {
            let Unwritten::PassedOver(level) = cause else { continue };
            *sums.entry((self.name(group), level)).or_default() += count;
        }
        let one = |((group, level), count)| PassedOver { group, level, count };
        sums.into_iter().map(one).collect()
    }

    /// Returns the messages of a gap as drops, by group.
    pub(in crate::session) fn unwritten(&self, gap: &Gap) -> Vec<LossCount> {
        let mut groups = BTreeMap::<(LossCause, u32), u64>::new();
        let causes = [(LossCause::WriteFailed, &gap.messages), (LossCause::Removed, &gap.removed)];
        for (cause, counts) in causes {
            for Count { id, messages, .. } in counts.all() {
                let group = id.and_then(|id| self.group_id(id)).unwrap_or_default();
                *groups.entry((cause, group)).or_default() += messages;
            }
        }
        let loss = |((cause, group), count)| LossCount::new(group, cause, count);
        groups.into_iter().map(loss).collect()
    }

    /// Returns messages, bytes and drops of each group.
    pub(in crate::session) fn groups(&self, counts: &Counts, losses: &[Loss]) -> Vec<GroupStats> {
        let mut groups = BTreeMap::<Option<String>, GroupStats>::new();
        for Count { id, messages, bytes } in counts.all() {
            let group = groups.entry(id.and_then(|id| self.group_of_message(id))).or_default();
            group.messages += messages;
            group.bytes += bytes;
        }
        for loss in losses {
            let group = groups.entry(loss.group.clone()).or_default();
            group.losses.push((loss.cause, loss.count));
        }
        groups.into_iter().map(|(group, stats)| GroupStats { group, ..stats }).collect()
    }

    /// Returns whether the message with this id is known.
    pub(in crate::session) fn has(&self, id: u64) -> bool {
        self.messages.contains_key(&id)
    }

    /// Returns the full name of the group of the message with this id.
    fn group_of_message(&self, id: u64) -> Option<String> {
        self.name(self.group_id(id)?)
    }

    /// Returns the group of the message with this id, from this dictionary or one that was stripped
    /// from a module.
    fn group_id(&self, id: u64) -> Option<u32> {
        let known = self.messages.get(&id).copied();
        known.or_else(|| stripped_message(id).map(message_group))
    }

    /// Returns the full name of the group with this id, from this dictionary or an enum that has
    /// logged.
    fn name(&self, id: u32) -> Option<String> {
        self.group(id).map(str::to_owned).or_else(|| {
            let mut name = None;
            level::for_each_group(|_, group, _| {
                name = name.take().or_else(|| (group.id == id).then(|| group.name.to_owned()));
            });
            name
        })
    }

    /// Passes packets with the texts of loaded modules that are not written yet to `give`.
    pub(crate) fn write_modules(&mut self, give: &mut dyn FnMut(&[u8])) {
        let mut entries: BTreeMap<u64, Entry> = BTreeMap::new();
        let mut groups = Vec::new();
        for_each_note(&mut |note| {
            let is_included =
                self.includes(note.group, Some(note.level)) || self.ruled.contains(&note.id);
            if self.messages.contains_key(&note.id) || !is_included {
                return;
            }
            self.add_group(note.group_id, note.group, note.tag, &mut groups);
            if self.leaves_out(note.id) {
                return;
            }
            let entry = entries.entry(note.id).or_insert_with(|| Entry {
                template: note.template.to_owned(),
                names: note.names.to_owned(),
                level: note.level,
                group_id: note.group_id,
                place: note.place.to_owned(),
                lines: BTreeMap::new(),
            });
            entry.lines.entry(note.file.to_owned()).or_default().insert(note.line);
        });
        self.messages.extend(entries.iter().map(|(id, entry)| (*id, entry.group_id)));
        write_elements(&entries, &groups, give);
        self.write_included(give);
        self.write_stripped(give);
    }

    /// Passes a packet that names the dictionaries stripped from modules to `give`.
    fn write_stripped(&mut self, give: &mut dyn FnMut(&[u8])) {
        let mut config = Writer::new(Heap::new());
        for_each_stripped(&mut |hash| {
            if self.stripped.insert(hash) {
                config.message().fixed64(viewer_config::STRIPPED, hash);
            }
        });
        end_packet(&mut config.into_vec().unwrap_or_default(), give);
    }

    /// Passes packets with the elements of included dictionaries that are not written yet to
    /// `give`.
    fn write_included(&mut self, give: &mut dyn FnMut(&[u8])) {
        let (mut groups, mut messages) = (Vec::new(), Vec::new());
        let mut ruled = HashSet::new();
        for_each_element(&mut |number, element| {
            let id = message_id(element).filter(|_| number == viewer_config::MESSAGES);
            ruled.extend(id.filter(|id| self.ruled.contains(id)).map(|_| message_group(element)));
        });
        // First, since a message is included by its group, whichever comes first.
        for_each_element(&mut |number, element| {
            if number == viewer_config::GROUPS {
                let (id, name, tag) = group_of(element);
                if self.includes(name, None) || ruled.contains(&id) {
                    self.add_group(id, name, tag, &mut groups);
                }
            }
        });
        for_each_element(&mut |number, element| {
            let is_new = |id: &u64| {
                let level = fields(element).find(|field| field.number == message_data::LEVEL);
                let level = level.and_then(|level| Level::from_wire(level.as_u64().ok()?));
                let group = self.groups.get(&message_group(element));
                let is_included = self.filter.is_none()
                    || self.ruled.contains(id)
                    || group.is_some_and(|name| self.includes(name, level));
                is_included && !self.leaves_out(*id) && !self.messages.contains_key(id)
            };
            let is_message = number == viewer_config::MESSAGES;
            let new = message_id(element).filter(|id| is_message && is_new(id));
            if let Some(id) = new {
                self.messages.insert(id, message_group(element));
                messages.push(element.to_vec());
            }
        });
        write_elements(&BTreeMap::new(), &groups, give);
        let mut config = Vec::new();
        for message in messages {
            append_element(&mut config, viewer_config::MESSAGES, &message, give);
        }
        end_packet(&mut config, give);
    }

    /// Passes packets with the messages interned at run time since the last call to `give`.
    pub(crate) fn write_interned(&mut self, give: &mut dyn FnMut(&[u8])) {
        let new = message_table::entries_from(self.interned);
        self.interned += new.len();
        self.write_messages(&new, give);
    }

    /// Passes packets with messages interned at run time to `give`.
    pub(in crate::session) fn write_messages(
        &mut self,
        new: &[RuntimeMessage],
        give: &mut dyn FnMut(&[u8]),
    ) {
        let mut entries = BTreeMap::new();
        let mut groups = Vec::new();
        for &RuntimeMessage { id, template, names, level, group, place, at } in new {
            // Rules may take messages that nobody knew before, as they are logged.
            if !self.includes(group.name, Some(level)) && !rules::is_any() {
                continue;
            }
            if !self.leaves_out(id) && self.messages.insert(id, group.id).is_none() {
                let (template, names, place) =
                    (template.to_owned(), names.to_owned(), place.to_owned());
                let lines = at.map(|(file, line)| (file.to_owned(), [line].into()));
                let lines = lines.into_iter().collect();
                let group_id = group.id;
                entries.insert(id, Entry { template, names, level, group_id, place, lines });
            }
            self.add_group(group.id, group.name, group.tag, &mut groups);
        }
        write_elements(&entries, &groups, give);
    }

    /// Adds a group to `new` unless it has been written.
    fn add_group(&mut self, id: u32, name: &str, tag: &str, new: &mut Vec<(u32, String, String)>) {
        self.groups.entry(id).or_insert_with(|| {
            new.push((id, name.to_owned(), tag.to_owned()));
            name.to_owned()
        });
    }

    /// Returns the full name of the group with this id.
    pub(in crate::session) fn group(&self, id: u32) -> Option<&str> {
        self.groups.get(&id).map(String::as_str)
    }
}

/// Passes packets with these messages and groups to `give`.
fn write_elements(
    entries: &BTreeMap<u64, Entry>,
    groups: &[(u32, String, String)],
    give: &mut dyn FnMut(&[u8]),
) {
    let mut config = Vec::new();
    for (id, name, tag) in groups {
        let mut writer = Writer::new(Heap::new());
        writer.message().uint32(group::ID, *id).string(group::NAME, name).string(group::TAG, tag);
        append_element(
            &mut config,
            viewer_config::GROUPS,
            &writer.into_vec().unwrap_or_default(),
            give,
        );
    }
    for (id, entry) in entries {
        let mut writer = Writer::new(Heap::new());
        message(&mut writer.message(), *id, entry);
        append_element(
            &mut config,
            viewer_config::MESSAGES,
            &writer.into_vec().unwrap_or_default(),
            give,
        );
    }
    end_packet(&mut config, give);
}

/// Appends an element of the dictionary, and ends the packet where it is large.
fn append_element(config: &mut Vec<u8>, field: u32, element: &[u8], give: &mut dyn FnMut(&[u8])) {
    let mut writer = Writer::new(Heap::new());
    writer.message().bytes(field, element);
    config.extend(writer.into_vec().unwrap_or_default());
    if config.len() > PACKET {
        end_packet(config, give);
    }
}

/// Ends a packet, unless it is empty.
fn end_packet(config: &mut Vec<u8>, give: &mut dyn FnMut(&[u8])) {
    if config.is_empty() {
        return;
    }
    let mut writer = Writer::new(Heap::with_capacity(config.len() + 16));
    writer.message().bytes(packet::PROTOLOG_VIEWER_CONFIG, config);
    config.clear();
    if let Ok(packet) = writer.into_vec() {
        give(&packet);
    }
}

fn message(to: &mut Message<'_, Heap>, id: u64, entry: &Entry) {
    let template = Template::parse(&entry.template).ok();
    let bare = template.filter(|template| !template.is_bare()).map(|full| full.bare().to_string());
    to.fixed64(message_data::MESSAGE_ID, id)
        .string(message_data::MESSAGE, bare.as_deref().unwrap_or(&entry.template))
        .uint32(message_data::LEVEL, entry.level.wire())
        .uint32(message_data::GROUP_ID, entry.group_id);
    let location = location(&entry.lines);
    if !location.is_empty() {
        to.string(message_data::LOCATION, &location);
    }
    let mut hints = Writer::new(Heap::new());
    if bare.is_some() {
        hints.message().string(message_hints::TEMPLATE, &entry.template);
    }
    if !entry.place.is_empty() {
        hints.message().string(message_hints::PLACE, &entry.place);
    }
    if !entry.names.is_empty() {
        hints.message().string(message_hints::NAMES, &entry.names);
    }
    match hints.into_vec() {
        Ok(hints) if !hints.is_empty() => {
            to.bytes(message_data::HINTS, &hints);
        }
        _ => {}
    }
}

/// Formats lines by file as `path:12,40`; several files, as an included module has them, are
/// separated by `;`.
fn location(lines: &BTreeMap<String, BTreeSet<u32>>) -> String {
    let mut text = String::new();
    for (index, (file, lines)) in lines.iter().enumerate() {
        let _ = write!(text, "{}{file}", if index > 0 { ";" } else { "" });
        for (index, line) in lines.iter().enumerate() {
            let _ = write!(text, "{}{line}", if index > 0 { "," } else { ":" });
        }
    }
    text
}
