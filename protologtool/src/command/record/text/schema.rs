//! The messages, fields and enumerations of a `TraceConfig`.
//!
//! They are in `schema.txt`, which a test makes of the official file
//! `tests/fixtures/record/perfetto_config.proto`:
//!
//! ```text
//! message TraceConfig.BufferConfig
//! 1 size_kb uint32
//! enum TraceConfig.BufferConfig.FillPolicy
//! 1 RING_BUFFER
//! ```
//!
//! A `*` after the type is a repeated field. The members of a `oneof` have its name at the end.
//! Numbers come first: behind its name, that of `deflate` reads like a version of zlib's, and
//! lintian takes the program for one that has zlib in it.

use std::collections::HashMap;

const TEXT: &str = include_str!("schema.txt");

/// All messages and enumerations, by their names.
pub(super) struct Schema {
    messages: HashMap<&'static str, Vec<Field>>,
    enums: HashMap<&'static str, Vec<(&'static str, i32)>>,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) number: u32,
    /// A type of protobuf's own, or the name of a message or of an enumeration.
    pub(super) of: &'static str,
    pub(super) is_repeated: bool,
    /// The name of the `oneof` that it is a member of.
    pub(super) one_of: Option<&'static str>,
}

impl Schema {
    /// The official one. A line that is not understood would be left out.
    pub(super) fn parse() -> Self {
        let (mut messages, mut enums) =
            (HashMap::<_, Vec<Field>>::new(), HashMap::<_, Vec<_>>::new());
        let mut current = ("", "");
        for line in TEXT.lines() {
            match *line.split(' ').collect::<Vec<_>>() {
                ["message", name] => {
                    messages.insert(name, Vec::new());
                    current = (name, "");
                }
                ["enum", name] => {
                    enums.insert(name, Vec::new());
                    current = ("", name);
                }
                [number, name, of, ref one_of @ ..] if one_of.len() < 2 => {
                    let Some(fields) = messages.get_mut(current.0) else { continue };
                    let Ok(number) = number.parse() else { continue };
                    let single = of.trim_end_matches('*');
                    let (is_repeated, one_of) = (single != of, one_of.first().copied());
                    fields.push(Field { name, number, of: single, is_repeated, one_of });
                }
                [number, name] => {
                    let Some(values) = enums.get_mut(current.1) else { continue };
                    let Ok(number) = number.parse() else { continue };
                    values.push((name, number));
                }
                _ => {}
            }
        }
        Self { messages, enums }
    }

    /// The fields of a message; none of what is no message.
    pub(super) fn message(&self, name: &str) -> Option<&[Field]> {
        self.messages.get(name).map(Vec::as_slice)
    }

    /// The names and numbers of an enumeration; none of what is no enumeration.
    pub(super) fn enumeration(&self, name: &str) -> Option<&[(&'static str, i32)]> {
        self.enums.get(name).map(Vec::as_slice)
    }
}
