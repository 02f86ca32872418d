//! Writing the JSON form as AOSP's tool of Android 15 writes it, byte for byte, for dictionaries in
//! version control that its rules compare line by line.
//!
//! Messages come in the order of the sources rather than sorted, once for each file: equal calls of
//! a file are one entry, as in AOSP's map of texts, levels, groups and files. Groups come sorted.
//! There are no members of ours, and `/` is written as `\/`. The omitted parts (lines, widths and
//! precisions) a reader does not get back.

use super::VERSION;
use crate::{Dictionary, Format, Message, gzip};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// The log calls of a run, in the order of the sources.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    messages: Vec<Message>,
    known: HashSet<(u64, Option<String>)>,
    /// Tags by names.
    groups: BTreeMap<String, String>,
}

impl Statements {
    /// Adds a group, unless there is one of that name.
    pub fn add_group(&mut self, name: &str, tag: &str) {
        if !self.groups.contains_key(name) {
            self.groups.insert(name.to_owned(), tag.to_owned());
        }
    }

    /// Adds the message of one call. A second one of the same file changes nothing.
    pub fn add_message(&mut self, message: Message) {
        let file = message.locations.first().map(|location| location.path.clone());
        if self.known.insert((message.id, file)) {
            self.messages.push(message);
        }
    }

    /// Adds another dictionary behind the present entries: its messages that are missing here, and
    /// its groups.
    pub fn add(&mut self, dictionary: &Dictionary) {
        let own: HashSet<u64> = self.messages.iter().map(|message| message.id).collect();
        let others = dictionary.messages().iter().filter(|message| !own.contains(&message.id));
        others.for_each(|message| self.add_message(message.clone()));
        dictionary.groups().iter().for_each(|group| self.add_group(&group.name, &group.tag));
    }

    /// The bytes of a file; none in a format that is not JSON.
    pub fn to_bytes(&self, format: Format) -> Option<Vec<u8>> {
        match format {
            Format::Pb => None,
            Format::Json => Some(self.json().into_bytes()),
            Format::JsonGz => Some(gzip::compress(self.json().as_bytes())),
        }
    }

    fn json(&self) -> String {
        let mut text = format!("{{\n  \"version\": {},\n  \"messages\": {{", quoted(VERSION));
        let messages = self.messages.iter().map(|message| {
            let at = message.locations.first().map_or("", |location| &location.path);
            let members = [
                ("message", &*message.bare()),
                ("level", message.level.name()),
                ("group", &message.group),
                ("at", at),
            ];
            ((message.id as i64).to_string(), members.map(|(name, of)| (name, of.to_owned())))
        });
        entries(&mut text, messages);
        text.push_str(",\n  \"groups\": {");
        entries(&mut text, self.groups.iter().map(|(name, tag)| (name, [("tag", tag)])));
        text + "\n}\n"
    }
}

/// The rest of an object with entries that are objects of texts.
fn entries<const N: usize>(
    text: &mut String,
    entries: impl Iterator<Item = (impl AsRef<str>, [(&'static str, impl AsRef<str>); N])>,
) {
    let mut is_empty = true;
    for (key, members) in entries {
        let comma = if is_empty { "" } else { "," };
        is_empty = false;
        let _ = write!(text, "{comma}\n    {}: {{", quoted(key.as_ref()));
        for (index, (name, value)) in members.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n      {}: {}", quoted(name), quoted(value.as_ref()));
        }
        text.push_str("\n    }");
    }
    text.push_str(if is_empty { "}" } else { "\n  }" });
}

/// A text as AOSP's writer quotes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' | '/' => quoted.extend(['\\', char]),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\u{c}' => quoted.push_str("\\f"),
            '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;
    use protolog_core::Level;

    fn message(id: u64, template: &str, line: u32) -> Message {
        Message {
            id,
            template: template.to_owned(),
            names: String::new(),
            unsigned: 0,
            level: Level::Debug,
            group: "NET".into(),
            place: "a/B.java".to_owned(),
            locations: vec![Location::line("a/B.java".to_owned(), line)],
        }
    }

    #[test]
    fn equal_calls_of_a_file_are_one_entry() {
        let mut statements = Statements::default();
        statements.add_group("NET", "Net");
        statements.add_group("ACE", "a/\"\u{1}\u{2028}é\u{7f}");
        for (id, template, line) in [(u64::MAX, "b\t%d", 9), (1, "a", 3), (1, "a", 3), (1, "a", 4)]
        {
            statements.add_message(message(id, template, line));
        }
        let entry = |id: i64, text: &str| {
            format!(
                "    \"{id}\": {{\n      \"message\": \"{text}\",\n      \"level\": \"DEBUG\",\n      \
                \"group\": \"NET\",\n      \"at\": \"a\\/B.java\"\n    }}"
            )
        };
        let expected = format!(
            "{{\n  \"version\": \"2.0.0\",\n  \"messages\": {{\n{},\n{}\n  }},\n  \"groups\": {{\n    \
            \"ACE\": {{\n      \"tag\": \"a\\/\\\"\\u0001\\u2028é\u{7f}\"\n    }},\n    \
            \"NET\": {{\n      \"tag\": \"Net\"\n    }}\n  }}\n}}\n",
            entry(-1, "b\\t%d"),
            entry(1, "a"),
        );
        let bytes = statements.to_bytes(Format::Json).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
        let read = Dictionary::read(&bytes).unwrap().dictionary;
        assert_eq!((read.messages().len(), read.groups().len()), (2, 2));
        let packed = statements.to_bytes(Format::JsonGz).unwrap();
        assert_eq!(Dictionary::read(&packed).unwrap().dictionary, read);
    }

    #[test]
    fn nothing_is_two_empty_objects() {
        let bytes = Statements::default().to_bytes(Format::Json).unwrap();
        let expected = "{\n  \"version\": \"2.0.0\",\n  \"messages\": {},\n  \"groups\": {}\n}\n";
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
    }

    #[test]
    fn others_are_put_behind() {
        let mut statements = Statements::default();
        statements.add_message(message(2, "z", 9));
        let mut others = crate::Collector::new();
        others.add_group(crate::Group { id: 1, name: "NET".into(), tag: "Net".into() });
        others.add_message(message(2, "z", 8));
        others.add_message(message(3, "a", 1));
        statements.add(&others.finish().unwrap().dictionary);
        let text = String::from_utf8(statements.to_bytes(Format::Json).unwrap()).unwrap();
        let at = |id: &str| text.find(id).unwrap();
        assert!(at("\"2\"") < at("\"3\"") && text.matches("\"z\"").count() == 1, "{text}");
    }
}
