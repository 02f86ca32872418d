//! The result of a source in a state.
//!
//! ```text
//! Result   { place 1, names_class 2, message* 3, group* 4, rewritten calls 5 }
//! Message  { id 1, template 2, unsigned 3, level 4, group 5, place 6, location* 7, names 8 }    place: only where not the file's
//! Location { path 1, line* 2 }                                                         path: the same
//! ```

use crate::pipeline::Processed;
use protolog_core::Level;
use protozero::{DecodeError, Heap, Message as Fields, Reader, Writer};
use std::path::Path;
use viewer_config::{Location, Message};

/// The fields of a result.
pub(super) fn encode(file: &Processed) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    let mut fields = writer.message();
    fields.string(1, &file.place).bool(2, file.names_class);
    for message in &file.messages {
        encode_message(message, &file.place, &mut fields.nested(3));
    }
    for group in &file.groups {
        fields.uint64(4, *group as u64);
    }
    // A file with other calls is processed again.
    fields.uint64(5, file.log_calls.rewritten as u64);
    writer.into_vec().expect("the heap takes every write, and no size is announced")
}

/// The result of the source at `path`.
pub(super) fn decode(fields: &[u8], path: &Path) -> Result<Processed, DecodeError> {
    let mut file = Processed::untouched(path, String::new());
    for field in Reader::new(fields) {
        let field = field?;
        match field.number {
            1 => field.as_str()?.clone_into(&mut file.place),
            2 => file.names_class = field.as_bool()?,
            3 => file.messages.push(decode_message(&file.place, field.as_message()?)?),
            5 => file.log_calls.rewritten = field.as_u64()? as usize,
            4 => file.groups.push(field.as_u64()? as usize),
            _ => {}
        }
    }
    Ok(file)
}

/// Writes a message of the file at `place`.
fn encode_message(message: &Message, place: &str, fields: &mut Fields<'_, Heap>) {
    let Message { id, template, names, unsigned, level, group, place: own, locations } = message;
    fields.fixed64(1, *id).string(2, template).uint32(3, *unsigned).uint32(4, level.wire());
    fields.string(5, group);
    if !names.is_empty() {
        fields.string(8, names);
    }
    if own != place {
        fields.string(6, own);
    }
    for location in locations {
        let mut fields = fields.nested(7);
        if location.path != place {
            fields.string(1, &location.path);
        }
        for line in &location.lines {
            fields.uint32(2, *line);
        }
    }
}

/// Reads a message of the file at `place`.
fn decode_message(place: &str, fields: Reader<'_>) -> Result<Message, DecodeError> {
    let mut message = Message {
        id: 0,
        template: String::new(),
        names: String::new(),
        unsigned: 0,
        level: Level::Debug,
        group: "".into(),
        place: place.to_owned(),
        locations: Vec::with_capacity(1),
    };
    for field in fields {
        let field = field?;
        match field.number {
            1 => message.id = field.as_fixed64()?,
            2 => field.as_str()?.clone_into(&mut message.template),
            3 => message.unsigned = field.as_u32()?,
            4 => message.level = Level::from_wire(field.as_u64()?).unwrap_or(Level::Debug),
            5 => message.group = field.as_str()?.into(),
            6 => field.as_str()?.clone_into(&mut message.place),
            8 => field.as_str()?.clone_into(&mut message.names),
            7 => message.locations.push(location(place, field.as_message()?)?),
            _ => {}
        }
    }
    Ok(message)
}

fn location(place: &str, fields: Reader<'_>) -> Result<Location, DecodeError> {
    let mut location = Location { path: place.to_owned(), lines: Vec::with_capacity(1) };
    for field in fields {
        let field = field?;
        match field.number {
            1 => field.as_str()?.clone_into(&mut location.path),
            2 => location.lines.push(field.as_u32()?),
            _ => {}
        }
    }
    Ok(location)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_counts::CallCounts;

    #[test]
    fn results_are_read_as_written() {
        let message = |place: &str, path: &str| Message {
            id: u64::MAX,
            template: "a %d".into(),
            names: "b".into(),
            unsigned: 5,
            level: Level::Wtf,
            group: "com.foo.AppLog.NET".into(),
            place: place.into(),
            locations: vec![Location::line(path, 7), Location::line("x", 9)],
        };
        let place = "com/foo/A.java";
        let file = Processed {
            messages: vec![message(place, place), message("other", "a/b")],
            log_calls: CallCounts { rewritten: 3, ..CallCounts::default() },
            groups: vec![3, 0],
            names_class: true,
            ..Processed::untouched("src/A.java", place)
        };
        let read = decode(&encode(&file), &file.path).unwrap();
        assert_eq!((&read.path, read.place, read.names_class), (&file.path, file.place, true));
        assert_eq!((read.messages, read.groups), (file.messages, file.groups));
        assert_eq!(read.log_calls, file.log_calls);
    }
}
