//! The calls that the program knows of before they log: those in notes of loaded modules, and those
//! of rewritten code in embedded dictionaries.

use crate::dictionary::{
    fields, for_each_element, for_each_keyed_note, group_of, message_id, template_of,
};
use protolog_core::Level;
use protolog_core::control::selector::Call;
use protolog_core::schema::{message_data, message_hints, viewer_config};
use std::collections::BTreeMap;

/// The most lines of a message in a dictionary that are looked at.
const LINES: usize = 16;

/// A call, and the key of its rule.
pub(super) struct KnownCall<'a> {
    pub(super) key: u64,
    pub(super) call: &'a Call<'a>,
}

/// Calls `f` with each call. `f` must not load or unload a library.
pub(super) fn for_each_call(f: &mut dyn FnMut(&KnownCall<'_>)) {
    for_each_keyed_note(&mut |key, note| {
        let call = Call {
            id: Some(note.id),
            level: Some(note.level),
            group: note.group,
            module: note.place,
            file: note.file,
            lines: &[note.line],
            template: note.template,
        };
        f(&KnownCall { key, call: &call });
    });
    let mut groups = BTreeMap::new();
    for_each_element(&mut |number, element| {
        if number == viewer_config::GROUPS {
            let (id, name, _) = group_of(element);
            groups.insert(id, name.to_owned());
        }
    });
    if groups.is_empty() {
        return;
    }
    for_each_element(&mut |number, element| {
        if number == viewer_config::MESSAGES {
            rewritten(element, &groups, f);
        }
    });
}

/// Calls `f` with a message of a dictionary.
fn rewritten(element: &[u8], groups: &BTreeMap<u32, String>, f: &mut dyn FnMut(&KnownCall<'_>)) {
    let Some(id) = message_id(element) else { return };
    let mut call = Call { id: Some(id), template: template_of(element), ..Call::default() };
    let (mut location, mut place) = ("", None);
    for field in fields(element) {
        match field.number {
            message_data::GROUP_ID => {
                let group = field.as_u32().ok().and_then(|id| groups.get(&id));
                call.group = group.map_or("", |name| name);
            }
            message_data::LEVEL => call.level = field.as_u64().ok().and_then(Level::from_wire),
            message_data::LOCATION => location = field.as_str().unwrap_or_default(),
            message_data::HINTS => {
                let mut hints = fields(field.as_bytes().unwrap_or_default());
                place = hints.find(|hint| hint.number == message_hints::PLACE);
            }
            _ => {}
        }
    }
    let (file, listed) = location.rsplit_once(':').unwrap_or((location, ""));
    let mut lines = [0; LINES];
    let numbers = listed.split(',').filter_map(|line| line.parse().ok());
    let count = lines.iter_mut().zip(numbers).map(|(to, line)| *to = line).count();
    (call.file, call.lines) = (file, lines.get(..count).unwrap_or_default());
    call.module = place.as_ref().and_then(|place| place.as_str().ok()).unwrap_or_default();
    f(&KnownCall { key: id, call: &call });
}
