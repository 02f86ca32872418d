//! Writing the JSON form: two-space indent, the dictionary's order, a newline at the end.

use super::VERSION;
use crate::{Dictionary, Location, Message};
use serde::{Serialize, Serializer};

pub(crate) fn write(dictionary: &Dictionary) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(&JsonOutput {
        version: VERSION,
        messages: Messages(dictionary),
        groups: Groups(dictionary),
    })
    .expect("texts and numbers are written to memory");
    bytes.push(b'\n');
    bytes
}

#[derive(Serialize)]
struct JsonOutput<'a> {
    version: &'static str,
    messages: Messages<'a>,
    groups: Groups<'a>,
}

struct Messages<'a>(&'a Dictionary);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages = self.0.messages().iter();
        serializer.collect_map(messages.map(|message| (message.id as i64, Entry::new(message))))
    }
}

struct Groups<'a>(&'a Dictionary);

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let groups = self.0.groups().iter();
        serializer.collect_map(
            groups.map(|group| (&group.name, GroupEntry { tag: &group.tag, id: group.id })),
        )
    }
}

#[derive(Serialize)]
struct GroupEntry<'a> {
    tag: &'a str,
    id: u32,
}

#[derive(Serialize)]
struct Entry<'a> {
    message: String,
    level: &'static str,
    group: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsigned: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    names: &'a str,
}

impl<'a> Entry<'a> {
    fn new(message: &'a Message) -> Self {
        let bare = message.bare().into_owned();
        let at = message.locations.first().map(|location| location.path.as_str());
        let location = Location::format_list(&message.locations);
        // A blank text is an error to readers of this form, unless the template beside it says that
        // it is meant.
        let template = message.template != bare || bare.trim().is_empty();
        Self {
            message: bare,
            level: message.level.name(),
            group: &message.group,
            at,
            location: (location != at.unwrap_or_default()).then_some(location),
            template: template.then_some(&message.template),
            unsigned: (message.unsigned != 0).then_some(message.unsigned),
            place: message.explicit_place(),
            names: &message.names,
        }
    }
}
