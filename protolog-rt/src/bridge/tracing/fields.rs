//! The fields of an event or span, as arguments and a template, or as debug annotations.
//!
//! The field `message` comes first, without its name; the others follow in source order.

use crate::value::FixedString;
use protolog_core::schema::debug_annotation;
use protolog_core::{Arg, MAX_PARAMS};
use protozero::{Heap, Writer};
use std::fmt::{self, Write as _};
use std::ops::Range;
use tracing_core::Field;
use tracing_core::field::Visit;

/// Maximum bytes of all strings of an event.
const TEXT: usize = 4096;

/// The name of the field with the event's text.
const MESSAGE: &str = "message";

/// Recorded fields.
pub(super) struct EventFields {
    /// The first `len` are in use.
    list: [(&'static str, FieldValue); MAX_PARAMS],
    len: usize,
    names: u32,
    text: FixedString<TEXT>,
}

/// The value of a field; strings are ranges of the buffer.
#[derive(Clone, Copy)]
enum FieldValue {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text { from: usize, to: usize },
}

impl EventFields {
    /// Creates an empty list.
    pub(super) fn new() -> Self {
        let list = [("", FieldValue::Bool(false)); MAX_PARAMS];
        Self { list, len: 0, names: 0, text: FixedString::new() }
    }

    /// Returns a mask: bit `i` is set if field `i` of the callsite has a value.
    pub(super) fn names(&self) -> u32 {
        self.names
    }

    /// Calls `f` with the values as arguments.
    pub(super) fn with_args<R>(&self, f: impl FnOnce(&[Arg<'_>]) -> R) -> R {
        let mut args = [Arg::Bool(false); MAX_PARAMS];
        for (arg, (_, value)) in args.iter_mut().zip(self.ordered()) {
            *arg = match *value {
                FieldValue::Int(value) => Arg::Int(value),
                FieldValue::Uint(value) => Arg::Uint(value),
                FieldValue::Float(value) => Arg::Float(value),
                FieldValue::Bool(value) => Arg::Bool(value),
                FieldValue::Text { from, to } => Arg::Str(self.text_at(from, to)),
            };
        }
        f(&args[..self.len])
    }

    /// Returns the template of events with these fields.
    pub(super) fn template(&self) -> String {
        let mut template = String::new();
        for (name, value) in self.ordered() {
            if !template.is_empty() {
                template.push(' ');
            }
            if *name != MESSAGE {
                let name = name.strip_prefix("r#").unwrap_or(name).replace('%', "%%");
                template.push_str(&name);
                template.push('=');
            }
            template.push_str(match value {
                FieldValue::Int(_) | FieldValue::Uint(_) => "%d",
                FieldValue::Float(_) => "%g",
                FieldValue::Bool(_) => "%b",
                FieldValue::Text { .. } => "%s",
            });
        }
        template
    }

    /// Passes each field's name, and the field as a `DebugAnnotation`, to `f`.
    pub(super) fn for_each_annotation(&self, mut f: impl FnMut(&'static str, &[u8])) {
        for (name, value) in self.ordered() {
            let mut writer = Writer::new(Heap::new());
            let mut annotation = writer.message();
            annotation.string(debug_annotation::NAME, name.strip_prefix("r#").unwrap_or(name));
            match *value {
                FieldValue::Int(value) => annotation.int64(debug_annotation::INT_VALUE, value),
                FieldValue::Uint(value) => annotation.uint64(debug_annotation::UINT_VALUE, value),
                FieldValue::Float(value) => {
                    annotation.double(debug_annotation::DOUBLE_VALUE, value)
                }
                FieldValue::Bool(value) => annotation.bool(debug_annotation::BOOL_VALUE, value),
                FieldValue::Text { from, to } => {
                    annotation.string(debug_annotation::STRING_VALUE, self.text_at(from, to))
                }
            };
            f(name, &writer.into_vec().unwrap_or_default());
        }
    }

    /// Returns a string of the buffer. It ends in the ellipsis if the cut of a later one shortened it.
    fn text_at(&self, from: usize, to: usize) -> &str {
        let text = self.text.text();
        text.get(from..to).or_else(|| text.get(from..)).unwrap_or("…")
    }

    fn ordered(&self) -> impl Iterator<Item = &(&'static str, FieldValue)> {
        let fields = &self.list[..self.len];
        let is_message = |field: &&(&str, FieldValue)| field.0 == MESSAGE;
        fields.iter().filter(is_message).chain(fields.iter().filter(move |f| !is_message(f)))
    }

    fn add(&mut self, field: &Field, value: FieldValue) {
        // `tracing` allows no more fields than this.
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = (field.name(), value);
            self.names |= 1 << (field.index() % 32);
            self.len += 1;
        }
    }

    fn add_text(&mut self, field: &Field, text: fmt::Arguments<'_>) {
        let from = self.text.text().len();
        // The buffer never fails; it cuts.
        let _ = self.text.write_fmt(text);
        let Range { start, end } = self.text.appended(from);
        self.add(field, FieldValue::Text { from: start, to: end });
    }
}

impl Visit for EventFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, FieldValue::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, FieldValue::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, FieldValue::Uint(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, FieldValue::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add_text(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add_text(field, format_args!("{value:?}"));
    }
}
