//! Messages of the program's dictionary, by what people call them.
//!
//! | text | message |
//! |---|---|
//! | `#81985529216486895`, `#0x123456789abcdef` | the one with this id |
//! | `src/net.rs:12`, `net.rs:12` | those of this line |
//! | `sent %d bytes` | those with this template |
//! | `net and "sent"`, where nothing else is meant | those of calls that this selector takes |

use crate::dictionary::{
    fields, for_each_element, for_each_note, group_of, message_id, template_of,
};
use crate::level::rules::for_each_taken;
use protolog_core::Level;
use protolog_core::control::selector::Selector;
use protolog_core::schema::{message_data, viewer_config};
use std::collections::{BTreeMap, BTreeSet};

/// A message: its id, the full name of its group, and its level as a bit.
pub(in crate::session) type KnownMessage = (u64, String, u8);

/// Returns the messages that `text` means; see the module.
pub(in crate::session) fn find(text: &str) -> Vec<KnownMessage> {
    let wanted = Wanted::parse(text);
    let mut found = BTreeSet::new();
    for_each_note(&mut |note| {
        if wanted.is(note.id, note.template, (note.file, note.line)) {
            found.insert((note.id, note.group.to_owned(), 1 << note.level.severity()));
        }
    });
    // Rewritten calls: their groups are other elements of the same dictionaries.
    let (mut groups, mut messages) = (BTreeMap::new(), Vec::new());
    for_each_element(&mut |number, element| match number {
        viewer_config::GROUPS => {
            let (id, name, _) = group_of(element);
            groups.insert(id, name.to_owned());
        }
        viewer_config::MESSAGES => messages.extend(rewritten(&wanted, element)),
        _ => {}
    });
    for (id, group, level) in messages {
        found.extend(groups.get(&group).map(|name| (id, name.clone(), level)));
    }
    if found.is_empty() {
        selected(text, &mut found);
    }
    found.into_iter().collect()
}

/// Adds the messages of calls that `text` takes as a selector, if it is one.
fn selected(text: &str, found: &mut BTreeSet<KnownMessage>) {
    // A trigger looks at no arguments.
    let Some(selector) = Selector::parse(text).ok().filter(|it| !it.is_by_arguments()) else {
        return;
    };
    for_each_taken(&selector, &mut |call, _| {
        let message = call.id.zip(call.level);
        found.extend(message.map(|(id, level)| (id, call.group.to_owned(), 1 << level.severity())));
    });
}

/// Returns id, group and level of a message in a dictionary, if it is wanted.
fn rewritten(wanted: &Wanted<'_>, element: &[u8]) -> Option<(u64, u32, u8)> {
    let id = message_id(element)?;
    let (mut group, mut level, mut place) = (0, None, "");
    for field in fields(element) {
        match field.number {
            message_data::GROUP_ID => group = field.as_u32().ok()?,
            message_data::LEVEL => level = Level::from_wire(field.as_u64().ok()?),
            message_data::LOCATION => place = field.as_str().unwrap_or_default(),
            _ => {}
        }
    }
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    let line = line.parse().unwrap_or_default();
    let is_wanted = wanted.is(id, template_of(element), (file, line));
    is_wanted.then(|| Some((id, group, 1 << level?.severity())))?
}

/// The meaning of a text.
#[derive(Debug)]
struct Wanted<'a> {
    id: Option<u64>,
    line: Option<(&'a str, u32)>,
    template: &'a str,
}

impl<'a> Wanted<'a> {
    fn parse(text: &'a str) -> Self {
        let number = text.strip_prefix('#');
        let id = number.and_then(|number| match number.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        });
        let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        Self { id, line, template: text }
    }

    fn is(&self, id: u64, template: &str, (file, line): (&str, u32)) -> bool {
        let is_end = |end: &str| {
            file.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        self.id == Some(id)
            || template == self.template
            || self.line.is_some_and(|(end, at)| at == line && !end.is_empty() && is_end(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_means_an_id_a_line_or_a_template() {
        let at = ("src/net.rs", 12);
        for (text, is) in [
            ("#7", true),
            ("#0x7", true),
            ("#8", false),
            ("src/net.rs:12", true),
            ("net.rs:12", true),
            ("et.rs:12", false),
            (":12", false),
            ("net.rs:13", false),
            ("sent %d", true),
            ("sent", false),
        ] {
            assert_eq!(Wanted::parse(text).is(7, "sent %d", at), is, "{text}");
        }
    }
}
