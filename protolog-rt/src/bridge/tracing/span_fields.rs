//! The fields of a span, as annotations of its slices.
//!
//! The newest value of a field counts. Where they are more than a slice has room for, the longest
//! texts are cut, with a mark; what has no room then is left out, and counted.
//!
//! Invariant: a value that was superseded is never written.

use super::fields::AnnotationValue;
use crate::writer::slice::MAX_SLICE;
use protolog_core::schema::{debug_annotation, track_event};
use protozero::{Delegate, Message};

/// Maximum bytes of a name or category.
pub(super) const MAX_NAME: usize = 200;

/// Maximum bytes of a slice's annotations.
const MAX_ANNOTATIONS: usize = MAX_SLICE - 3 * MAX_NAME;

/// The most bytes of an annotation beside its name and its text: three tags and three lengths.
const AROUND: usize = 9;

/// Texts are not cut to fewer bytes than this, with the mark.
const SHORTEST: usize = 16;

/// Stands for the part that is cut off.
const MARK: char = '…';

/// The name of the annotation that counts fields that are left out.
const LEFT_OUT: &str = "fields left out";

/// A span's fields.
#[derive(Debug, Default)]
pub(super) struct SpanFields {
    list: Vec<SpanField>,
    /// Number of values recorded so far.
    recorded: u32,
    /// The names of those that have no room.
    left_out: Vec<&'static str>,
}

#[derive(Debug)]
struct SpanField {
    name: &'static str,
    /// Number of this value in the order of recording, from 1.
    number: u32,
    value: SpanValue,
}

#[derive(Debug)]
enum SpanValue {
    Text(String),
    /// An encoded `DebugAnnotation`.
    Encoded(Vec<u8>),
}

impl SpanFields {
    /// Number of values recorded so far.
    pub(super) fn recorded(&self) -> u32 {
        self.recorded
    }

    /// Adds a value, or replaces the field's earlier one.
    pub(super) fn set(&mut self, name: &'static str, value: AnnotationValue<'_>) {
        self.recorded = self.recorded.saturating_add(1);
        let value = match value {
            AnnotationValue::Text(text) => SpanValue::Text(text.to_owned()),
            AnnotationValue::Encoded(bytes) => SpanValue::Encoded(bytes.to_vec()),
        };
        let field = SpanField { name, number: self.recorded, value };
        self.left_out.retain(|known| *known != name);
        match self.list.iter().position(|known| known.name == name) {
            Some(known) => self.list[known] = field,
            None => self.list.push(field),
        }
        self.fit();
    }

    /// Appends the fields with a number above `after`.
    pub(super) fn append<D: Delegate>(&self, after: u32, to: &mut Message<'_, D>) {
        for SpanField { name, number, value } in &self.list {
            if *number <= after {
                continue;
            }
            match value {
                SpanValue::Encoded(bytes) => drop(to.bytes(track_event::DEBUG_ANNOTATIONS, bytes)),
                SpanValue::Text(text) => {
                    to.nested(track_event::DEBUG_ANNOTATIONS)
                        .string(debug_annotation::NAME, name.strip_prefix("r#").unwrap_or(name))
                        .string(debug_annotation::STRING_VALUE, text);
                }
            }
        }
        if !self.left_out.is_empty() && self.recorded > after {
            to.nested(track_event::DEBUG_ANNOTATIONS)
                .string(debug_annotation::NAME, LEFT_OUT)
                .uint64(debug_annotation::UINT_VALUE, self.left_out.len() as u64);
        }
    }

    /// Cuts texts, the longest first, until all fields have room; then leaves out the last ones.
    fn fit(&mut self) {
        // The count of those left out is a field, too.
        let room = MAX_ANNOTATIONS - (AROUND + LEFT_OUT.len() + 5);
        while let excess @ 1.. = self.size().saturating_sub(room) {
            let longest =
                self.list.iter_mut().filter_map(SpanField::text).max_by_key(|it| it.len());
            match longest {
                // By half at most, so that several long ones share the room.
                Some(text) if text.len() > SHORTEST => {
                    let length = (text.len() / 2).max(text.len().saturating_sub(excess + 3));
                    cut(text, length.max(SHORTEST));
                }
                _ => self.left_out.extend(self.list.pop().map(|field| field.name)),
            }
        }
    }

    fn size(&self) -> usize {
        self.list.iter().map(SpanField::size).sum()
    }
}

impl SpanField {
    /// The most bytes that it takes in an event.
    fn size(&self) -> usize {
        AROUND
            + match &self.value {
                SpanValue::Text(text) => self.name.len() + text.len(),
                SpanValue::Encoded(bytes) => bytes.len(),
            }
    }

    fn text(&mut self) -> Option<&mut String> {
        match &mut self.value {
            SpanValue::Text(text) => Some(text),
            SpanValue::Encoded(_) => None,
        }
    }
}

/// The beginning of a text, with whole characters in at most `length` bytes.
pub(super) fn shortened(text: &str, length: usize) -> &str {
    let mut end = text.len().min(length);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Cuts a text to `length` bytes, fewer than it has, with the mark.
fn cut(text: &mut String, length: usize) {
    text.truncate(shortened(text, length - MARK.len_utf8()).len());
    text.push(MARK);
}

#[cfg(test)]
mod tests {
    use super::*;
    use protozero::{Heap, Reader, Writer};

    /// The fields as a reader finds them: name and text, or its number of bytes if it is no text.
    fn shown(fields: &SpanFields, after: u32) -> Vec<(String, String)> {
        let mut writer = Writer::new(Heap::new());
        fields.append(after, &mut writer.message());
        let bytes = writer.into_vec().unwrap();
        assert!(bytes.len() <= MAX_ANNOTATIONS, "{} bytes", bytes.len());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let one = |annotation: &[u8]| {
            let (mut name, mut value) = (String::new(), String::new());
            for field in Reader::new(annotation).map(Result::unwrap) {
                match field.number {
                    debug_annotation::NAME => name = text(field.as_bytes().unwrap()),
                    debug_annotation::STRING_VALUE => value = text(field.as_bytes().unwrap()),
                    _ => value = field.as_u64().unwrap().to_string(),
                }
            }
            (name, value)
        };
        Reader::new(&bytes).map(|field| one(field.unwrap().as_bytes().unwrap())).collect()
    }

    #[test]
    fn long_values_are_cut_and_take_the_place_of_older_ones() {
        let mut fields = SpanFields::default();
        fields.set("status", AnnotationValue::Text("pending"));
        fields.set("r#type", AnnotationValue::Text("a"));
        let before = fields.recorded();
        fields.set("status", AnnotationValue::Text(&"é".repeat(2000)));
        let all = shown(&fields, 0);
        assert_eq!(all[1], ("type".into(), "a".into()));
        assert!(all[0].1.starts_with("éé") && all[0].1.ends_with("é…"), "{all:?}");
        assert!(all[0].1.len() > 700, "{}", all[0].1.len());
        assert_eq!(shown(&fields, before), all[..1]);
        fields.set("sql", AnnotationValue::Text(&"s".repeat(4000)));
        let all = shown(&fields, 0);
        assert!(
            all[0].1.len() > 350 && all[2].1.len() > 350 && all[2].1.ends_with("s…"),
            "{all:?}"
        );
        fields.set("status", AnnotationValue::Text("short"));
        assert_eq!(shown(&fields, 0)[0].1, "short");
    }

    #[test]
    fn what_has_no_room_is_left_out_and_counted() {
        const NAMES: [&str; 32] =
            ["a_name_that_is_as_long_as_a_whole_sentence_about_the_field"; 32];
        let mut fields = SpanFields::default();
        // The second time those are recorded again that were left out.
        for (index, name) in [NAMES, NAMES].into_iter().flat_map(|it| it.into_iter().enumerate()) {
            // As many fields, each with a name of its own.
            let name = &name[..name.len() - index];
            fields.set(name, AnnotationValue::Text(&"v".repeat(100)));
        }
        let all = shown(&fields, 0);
        let (left_out, rest) = all.split_last().unwrap();
        assert_eq!(left_out, &(LEFT_OUT.into(), (32 - rest.len()).to_string()));
        assert!(rest.len() > 15 && rest.iter().all(|(_, value)| value.ends_with('…')), "{all:?}");
    }
}
