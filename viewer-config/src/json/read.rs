//! Reading the JSON form, by AOSP's rules: members in any order, unknown ones skipped, everything
//! that the texts need required. Unlike there, an id that comes twice is no silent overwriting but
//! one message or a clash.
//!
//! Every error names the entry and carries line and column, which serde_json adds to errors found
//! while it reads.

use super::VERSION;
use crate::{
    Collector, Group, Location, Message, Problem, ReadError, format::BYTE_ORDER_MARK,
    pb::is_full_form,
};
use protolog_core::{ArgumentNames, Level, group_id};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use std::{collections::HashSet, fmt, marker::PhantomData};

/// Adds the entries in `bytes` to `collector`.
pub(crate) fn read(collector: &mut Collector, bytes: &[u8]) -> Result<(), ReadError> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let file: JsonInput = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    let mut names = HashSet::new();
    for group in file.groups.0 {
        names.insert(group.name.clone());
        collector.add_group(group);
    }
    for ReadMessage { message, strange } in file.messages.0 {
        if !names.contains(&*message.group) {
            return Err(ReadError::Json {
                message: format!(
                    "no group `{}`, as named by message `{}`",
                    message.group, message.id as i64
                ),
                line: 0,
                column: 0,
            });
        }
        if let Some(problem) = strange {
            collector.note(problem);
        }
        collector.add_message(message);
    }
    Ok(())
}

/// serde_json's text ends in the position, which [`ReadError`] keeps apart.
fn json_error(error: &serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let message = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    ReadError::Json { message: message.into(), line, column }
}

struct JsonInput {
    messages: Entries<ReadMessage>,
    groups: Entries<Group>,
}

impl<'de> Deserialize<'de> for JsonInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Members {
            version: Option<String>,
            messages: Option<Entries<ReadMessage>>,
            groups: Option<Entries<Group>>,
        }
        let members = Members::deserialize(deserializer)?;
        let version = required(members.version, "version", &"the dictionary")?;
        if version != VERSION {
            return Err(Error::custom(format_args!("version `{version}` instead of `{VERSION}`")));
        }
        Ok(Self {
            messages: required(members.messages, "messages", &"the dictionary")?,
            groups: required(members.groups, "groups", &"the dictionary")?,
        })
    }
}

/// The members of an object, in their order; a key may come twice.
struct Entries<T>(Vec<T>);

/// A value that stands under a key.
trait Keyed: Sized {
    type Value: for<'de> Deserialize<'de>;

    fn new<E: Error>(key: String, value: Self::Value) -> Result<Self, E>;
}

impl<'de, T: Keyed> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Walk<T>(PhantomData<T>);

        impl<'de, T: Keyed> Visitor<'de> for Walk<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry()? {
                    entries.push(T::new(key, value)?);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Walk(PhantomData))
    }
}

/// A message, and the error in its texts if there is one.
struct ReadMessage {
    message: Message,
    strange: Option<Problem>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct MessageMembers {
    message: Option<String>,
    level: Option<String>,
    group: Option<String>,
    at: Option<String>,
    location: Option<String>,
    template: Option<String>,
    unsigned: Option<u32>,
    place: Option<String>,
    names: Option<String>,
}

impl Keyed for ReadMessage {
    type Value = MessageMembers;

    fn new<E: Error>(key: String, members: MessageMembers) -> Result<Self, E> {
        let id: i64 = key.parse().map_err(|_| {
            Error::custom(format_args!("key `{key}` of a message is no 64-bit number"))
        })?;
        let owner = format!("message `{key}`");
        let text = match members.message {
            // Meant to be blank, see the writer.
            Some(text) if members.template.is_some() => text,
            text => required_text(text, "message", &owner)?,
        };
        let level = required_text(members.level, "level", &owner)?;
        let level = Level::ALL
            .into_iter()
            .find(|known| known.name() == level)
            .ok_or_else(|| E::custom(format_args!("unknown level `{level}` of {owner}")))?;
        let group = required_text(members.group, "group", &owner)?.into();
        let template = members.template.unwrap_or_else(|| text.clone());
        let (template, strange) = if is_full_form(&template, &text) {
            (template, None)
        } else {
            let bare = text.clone();
            (text, Some(Problem::StrangeTemplate { template, bare, message_id: id as u64 }))
        };
        let location = members.location.or(members.at).unwrap_or_default();
        let locations = Location::parse_list(&location);
        let place = members.place.unwrap_or_else(|| Message::default_place(&locations).to_owned());
        let (id, unsigned) = (id as u64, members.unsigned.unwrap_or(0));
        let names =
            ArgumentNames::parse(members.names.as_deref().unwrap_or_default()).list().into();
        let message = Message { id, template, names, unsigned, level, group, place, locations };
        Ok(Self { message, strange })
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct GroupMembers {
    tag: Option<String>,
    id: Option<u32>,
}

impl Keyed for Group {
    type Value = GroupMembers;

    fn new<E: Error>(name: String, members: GroupMembers) -> Result<Self, E> {
        let tag = required(members.tag, "tag", &format_args!("group `{name}`"))?;
        Ok(Self { id: members.id.unwrap_or_else(|| group_id(&name)), name, tag })
    }
}

fn required<T, E: Error>(value: Option<T>, member: &str, owner: &dyn fmt::Display) -> Result<T, E> {
    value.ok_or_else(|| E::custom(format_args!("no `{member}` in {owner}")))
}

/// As [`required`], and not blank either.
fn required_text<E: Error>(value: Option<String>, member: &str, owner: &str) -> Result<String, E> {
    let value = value.filter(|text| !text.trim().is_empty());
    required(value, member, &owner)
}
