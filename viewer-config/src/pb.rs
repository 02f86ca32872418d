//! The dictionary in protobuf: Perfetto's `ProtoLogViewerConfig` and our hints.
//!
//! The field `message` holds the bare template, which is all that trace_processor understands; the
//! rest stands in a field of ours that it skips. Messages come first and groups last, in the
//! dictionary's order.

use crate::{Collector, Dictionary, Group, Location, Message, Problem, ReadError, collector};
use protolog_core::{
    ArgumentNames, Level, Template,
    schema::{group, message_data, message_hints, viewer_config},
};
use protozero::{DecodeError, Field, Heap, Reader, Writer};
use std::{borrow::Cow, collections::HashMap, sync::Arc};

/// A message in the making.
type Fields<'a> = protozero::Message<'a, Heap>;

pub(crate) fn write(dictionary: &Dictionary) -> Vec<u8> {
    encode(|fields| {
        for message in dictionary.messages() {
            let group_id = dictionary.group(&message.group).map_or(0, |group| group.id);
            fields.bytes(viewer_config::MESSAGES, &encode_message(message, group_id));
        }
        for group in dictionary.groups() {
            fields.bytes(viewer_config::GROUPS, &encode_group(group));
        }
    })
}

fn encode_message(message: &Message, group_id: u32) -> Vec<u8> {
    let bare = message.bare();
    let hints = encode(|fields| {
        if message.template != bare {
            fields.string(message_hints::TEMPLATE, &message.template);
        }
        if message.unsigned != 0 {
            fields.uint32(message_hints::UNSIGNED, message.unsigned);
        }
        if let Some(place) = message.explicit_place() {
            fields.string(message_hints::PLACE, place);
        }
        if !message.names.is_empty() {
            fields.string(message_hints::NAMES, &message.names);
        }
    });
    encode(|fields| {
        fields
            .fixed64(message_data::MESSAGE_ID, message.id)
            .string(message_data::MESSAGE, &bare)
            .uint32(message_data::LEVEL, message.level.wire())
            .uint32(message_data::GROUP_ID, group_id);
        if !message.locations.is_empty() {
            fields.string(message_data::LOCATION, &Location::format_list(&message.locations));
        }
        if !hints.is_empty() {
            fields.bytes(message_data::HINTS, &hints);
        }
    })
}

fn encode_group(group: &Group) -> Vec<u8> {
    encode(|fields| {
        fields
            .uint32(group::ID, group.id)
            .string(group::NAME, &group.name)
            .string(group::TAG, &group.tag);
    })
}

fn encode(write: impl FnOnce(&mut Fields<'_>)) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    write(&mut writer.message());
    writer.into_vec().expect("the heap takes every write, and no size is announced")
}

/// Adds the entries in `bytes` to `collector`. Two passes, since messages come before the groups
/// that they name.
pub(crate) fn read(collector: &mut Collector, bytes: &[u8]) -> Result<(), ReadError> {
    let joined = without_separators(bytes);
    let bytes = joined.as_ref();
    // Shared by the messages, so that a long name used often takes no more memory than the input.
    let mut names: HashMap<u32, Arc<str>> = HashMap::new();
    for field in Reader::new(bytes) {
        let field = field?;
        if field.number == viewer_config::GROUPS {
            let group = decode_group(&field)?;
            names.entry(group.id).or_insert_with(|| collector::name_of(&group).into());
            collector.add_group(group);
        }
    }
    for field in Reader::new(bytes) {
        let field = field?;
        if field.number == viewer_config::MESSAGES {
            let raw = RawMessage::decode(&field)?;
            let id = raw.id.ok_or(ReadError::NoId { offset: field.offset })?;
            let group = names.entry(raw.group_id).or_insert_with(|| {
                let (group_id, name) = (raw.group_id, collector::placeholder(raw.group_id));
                collector.note(Problem::UnknownGroupId { group_id, message_id: id });
                let (shared, tag) = (Arc::from(name.as_str()), name.clone());
                collector.add_group(Group { id: group_id, name, tag });
                shared
            });
            let message = raw.into_message(id, group.clone(), collector);
            collector.add_message(message);
        }
    }
    Ok(())
}

/// The bytes without the line feeds that tools which merge jars put behind each file. Dictionaries
/// one after the other are one dictionary, but a line feed would be read as the beginning of a
/// message: of one that ends there, or that has ten bytes, fewer than its id and its level take.
fn without_separators(bytes: &[u8]) -> Cow<'_, [u8]> {
    const MESSAGES: u8 = (viewer_config::MESSAGES << 3 | 2) as u8;
    let (mut reader, mut kept, mut from) = (Reader::new(bytes), Vec::new(), 0);
    loop {
        let at = bytes.len() - reader.rest().len();
        let is_separator = match reader.rest() {
            [MESSAGES] => at > 0,
            rest => rest.starts_with(&[MESSAGES, b'\n']),
        };
        if is_separator {
            kept.extend_from_slice(&bytes[from..at]);
            reader.advance(1);
            from = at + 1;
        } else if !matches!(reader.next(), Some(Ok(_))) {
            // At the end. Malformed bytes stay as they are, for their reader.
            break;
        }
    }
    if from == 0 {
        return bytes.into();
    }
    kept.extend_from_slice(&bytes[from..]);
    kept.into()
}

fn decode_group(field: &Field<'_>) -> Result<Group, DecodeError> {
    let mut group = Group { id: 0, name: String::new(), tag: String::new() };
    for field in field.as_message()? {
        let field = field?;
        match field.number {
            group::ID => group.id = field.as_u32()?,
            group::NAME => group.name = field.as_str()?.into(),
            group::TAG => group.tag = field.as_str()?.into(),
            _ => {}
        }
    }
    Ok(group)
}

/// The fields of a message as they stand in the file.
#[derive(Default)]
struct RawMessage<'a> {
    id: Option<u64>,
    text: Option<&'a str>,
    level: u64,
    group_id: u32,
    location: &'a str,
    template: Option<&'a str>,
    unsigned: u32,
    place: Option<&'a str>,
    names: &'a str,
}

impl<'a> RawMessage<'a> {
    fn decode(field: &Field<'a>) -> Result<Self, DecodeError> {
        let mut raw = Self::default();
        for field in field.as_message()? {
            let field = field?;
            match field.number {
                message_data::MESSAGE_ID => raw.id = Some(field.as_fixed64()?),
                message_data::MESSAGE => raw.text = Some(field.as_str()?),
                message_data::LEVEL => raw.level = field.as_u64()?,
                message_data::GROUP_ID => raw.group_id = field.as_u32()?,
                message_data::LOCATION => raw.location = field.as_str()?,
                message_data::HINTS => raw.decode_hints(&field)?,
                _ => {}
            }
        }
        Ok(raw)
    }

    fn decode_hints(&mut self, field: &Field<'a>) -> Result<(), DecodeError> {
        for field in field.as_message()? {
            let field = field?;
            match field.number {
                message_hints::TEMPLATE => self.template = Some(field.as_str()?),
                message_hints::UNSIGNED => self.unsigned = field.as_u32()?,
                message_hints::PLACE => self.place = Some(field.as_str()?),
                message_hints::NAMES => self.names = field.as_str()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn into_message(self, id: u64, group: Arc<str>, collector: &mut Collector) -> Message {
        let level = Level::from_wire(self.level).unwrap_or_else(|| {
            // Once per id, so that memory stays in proportion to the input.
            if !collector.has_message(id) {
                collector.note(Problem::UnknownLevel { level: self.level, message_id: id });
            }
            Level::Info
        });
        let text = self.text.or(self.template).unwrap_or_default();
        let template = self.template.unwrap_or(text);
        let template = if is_full_form(template, text) {
            template
        } else {
            let (template, bare) = (template.into(), text.into());
            collector.note(Problem::StrangeTemplate { template, bare, message_id: id });
            text
        };
        let locations = Location::parse_list(self.location);
        Message {
            id,
            template: template.into(),
            names: ArgumentNames::parse(self.names).list().into(),
            unsigned: self.unsigned,
            level,
            group,
            place: self.place.unwrap_or(Message::default_place(&locations)).into(),
            locations,
        }
    }
}

/// Returns whether `bare` is the bare form of `template`.
pub(crate) fn is_full_form(template: &str, bare: &str) -> bool {
    template == bare
        || Template::parse(template).is_ok_and(|template| template.bare().to_string() == bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of this id and text, as one file.
    fn file(id: u64, text: &str) -> Vec<u8> {
        let message = encode(|message| {
            message.fixed64(message_data::MESSAGE_ID, id).string(message_data::MESSAGE, text);
        });
        encode(|config| {
            config.bytes(viewer_config::MESSAGES, &message);
        })
    }

    #[test]
    fn dictionaries_that_a_tool_has_joined_by_line_feeds_are_one() {
        let joined = [&file(1, "of one jar")[..], b"\n", &file(2, "of another"), b"\n"].concat();
        let mut collector = Collector::new();
        read(&mut collector, &joined).expect("it is read");
        let found = collector.finish_anyway().dictionary;
        let text = |id| found.message(id).map(|message| &*message.template);
        assert_eq!((text(1), text(2)), (Some("of one jar"), Some("of another")));
        let plain = [file(1, "of one jar"), file(2, "of another")].concat();
        assert!(matches!(without_separators(&plain), Cow::Borrowed(_)));
        let malformed = [&plain[..], b"\n\x64"].concat();
        assert_eq!(without_separators(&malformed), malformed);
    }
}
