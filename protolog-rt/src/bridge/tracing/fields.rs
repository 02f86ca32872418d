//! The fields of an event or span: as arguments and a template, or as annotations.
//!
//! The field `message` comes first and without its name; the others follow in the order in which they were written.

use crate::value::FixedString;
use protolog_core::schema::debug_annotation;
use protolog_core::{Arg, MAX_PARAMS};
use protozero::{Heap, Writer};
use std::fmt::{self, Write as _};
use std::ops::Range;
use tracing_core::Field;
use tracing_core::field::Visit;

/// The most bytes of all texts of an event.
const TEXT: usize = 4096;

/// The name of the field that is the event's own text.
const MESSAGE: &str = "message";

/// See the module.
pub(super) struct Fields {
    /// The first `len` have a name.
    list: [(&'static str, Value); MAX_PARAMS],
    len: usize,
    names: u32,
    text: FixedString<TEXT>,
}

/// The value of a field; texts stand in the buffer.
#[derive(Clone, Copy)]
enum Value {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text { from: usize, to: usize },
}

impl Fields {
    /// No fields yet.
    pub(super) fn new() -> Self {
        let list = [("", Value::Bool(false)); MAX_PARAMS];
        Self { list, len: 0, names: 0, text: FixedString::new() }
    }

    /// Bit `i`: field `i` of the callsite has a value.
    pub(super) fn names(&self) -> u32 {
        self.names
    }

    /// Calls `f` with the values.
    pub(super) fn with_args<R>(&self, f: impl FnOnce(&[Arg<'_>]) -> R) -> R {
        let mut args = [Arg::Bool(false); MAX_PARAMS];
        for (arg, (_, value)) in args.iter_mut().zip(self.ordered()) {
            *arg = match *value {
                Value::Int(value) => Arg::Int(value),
                Value::Uint(value) => Arg::Uint(value),
                Value::Float(value) => Arg::Float(value),
                Value::Bool(value) => Arg::Bool(value),
                Value::Text { from, to } => Arg::Str(self.text_at(from, to)),
            };
        }
        f(&args[..self.len])
    }

    /// The template that such events have.
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
                Value::Int(_) | Value::Uint(_) => "%d",
                Value::Float(_) => "%g",
                Value::Bool(_) => "%b",
                Value::Text { .. } => "%s",
            });
        }
        template
    }

    /// Gives each field's name, and the field as a `DebugAnnotation`.
    pub(super) fn annotations(&self, mut give: impl FnMut(&'static str, &[u8])) {
        for (name, value) in self.ordered() {
            let mut writer = Writer::new(Heap::new());
            let mut annotation = writer.message();
            annotation.string(debug_annotation::NAME, name.strip_prefix("r#").unwrap_or(name));
            match *value {
                Value::Int(value) => annotation.int64(debug_annotation::INT_VALUE, value),
                Value::Uint(value) => annotation.uint64(debug_annotation::UINT_VALUE, value),
                Value::Float(value) => annotation.double(debug_annotation::DOUBLE_VALUE, value),
                Value::Bool(value) => annotation.bool(debug_annotation::BOOL_VALUE, value),
                Value::Text { from, to } => {
                    annotation.string(debug_annotation::STRING_VALUE, self.text_at(from, to))
                }
            };
            give(name, &writer.into_vec().unwrap_or_default());
        }
    }

    /// A text, which ends in the ellipsis where the cut of a later one took from this one.
    fn text_at(&self, from: usize, to: usize) -> &str {
        let text = self.text.text();
        text.get(from..to).or_else(|| text.get(from..)).unwrap_or("…")
    }

    fn ordered(&self) -> impl Iterator<Item = &(&'static str, Value)> {
        let fields = &self.list[..self.len];
        let is_message = |field: &&(&str, Value)| field.0 == MESSAGE;
        fields.iter().filter(is_message).chain(fields.iter().filter(move |f| !is_message(f)))
    }

    fn add(&mut self, field: &Field, value: Value) {
        // The crate allows as many fields as we do.
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = (field.name(), value);
            self.names |= 1 << (field.index() % 32);
            self.len += 1;
        }
    }

    fn add_text(&mut self, field: &Field, text: fmt::Arguments<'_>) {
        let from = self.text.text().len();
        // The buffer takes what it has room for, and never fails.
        let _ = self.text.write_fmt(text);
        let Range { start, end } = self.text.appended(from);
        self.add(field, Value::Text { from: start, to: end });
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, Value::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, Value::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, Value::Uint(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, Value::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add_text(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add_text(field, format_args!("{value:?}"));
    }
}
