//! The fields of an event or span, as arguments and a template, or as debug annotations.
//!
//! The field `message` comes first, without its name; the others follow in source order.

use crate::value::{FixedString, GrowingString};
use protolog_core::schema::debug_annotation;
use protolog_core::{Arg, is_name};
use protozero::{Heap, Writer};
use std::error::Error;
use std::fmt;
use std::ops::Range;
use tracing_core::Field;
use tracing_core::field::Visit;

/// Bytes of all strings of an event that need no memory of the heap.
const STACK: usize = 4096;

/// The name of the field with the event's text.
const MESSAGE: &str = "message";

/// Recorded fields, at most `N`.
pub(super) struct EventFields<const N: usize> {
    /// The first `len` are in use.
    list: [(&'static str, FieldValue); N],
    len: usize,
    present: u32,
    text: GrowingString<STACK>,
    log: LogPlace,
}

/// The value of a field; strings are ranges of the buffer.
#[derive(Clone, Copy)]
enum FieldValue {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(FieldText),
}

/// The value of a span's field.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnnotationValue<'a> {
    Text(&'a str),
    /// Another one, with its name, as an encoded `DebugAnnotation`.
    Encoded(&'a [u8]),
}

/// A range of the buffer.
type FieldText = (usize, usize);

/// The place of a record of the crate `log`, which comes as fields of an event: `tracing` has one
/// callsite for all of a level.
#[derive(Clone, Copy, Default)]
pub(super) struct LogPlace {
    target: Option<FieldText>,
    file: Option<FieldText>,
    line: Option<u64>,
}

impl<const N: usize> EventFields<N> {
    /// Creates an empty list.
    pub(super) fn new() -> Self {
        let list = [("", FieldValue::Bool(false)); N];
        Self { list, len: 0, present: 0, text: GrowingString::new(), log: LogPlace::default() }
    }

    /// Returns a mask: bit `i` is set if field `i` of the callsite has a value.
    pub(super) fn present(&self) -> u32 {
        self.present
    }

    /// Calls `f` with the values as arguments.
    pub(super) fn with_args<R>(&self, f: impl FnOnce(&[Arg<'_>]) -> R) -> R {
        let mut args = [Arg::Bool(false); N];
        for (arg, (_, value)) in args.iter_mut().zip(self.ordered()) {
            *arg = match *value {
                FieldValue::Int(value) => Arg::Int(value),
                FieldValue::Uint(value) => Arg::Uint(value),
                FieldValue::Float(value) => Arg::Float(value),
                FieldValue::Bool(value) => Arg::Bool(value),
                FieldValue::Text(range) => Arg::Str(self.text_at(range)),
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
                // As many digits as every float has; six would take a time for another one.
                FieldValue::Float(_) => "%.15g",
                FieldValue::Bool(_) => "%b",
                FieldValue::Text(_) => "%s",
            });
        }
        template
    }

    /// Returns the names of the arguments, as a list of [`protolog_core::ArgumentNames`]: those of
    /// the fields, but for the event's text. A name that readers would not take, and a second one
    /// of the same spelling, is left out; the template has it.
    pub(super) fn argument_names(&self) -> String {
        let (mut names, mut later) = (String::new(), String::new());
        for (index, (name, _)) in self.ordered().enumerate() {
            if index > 0 {
                later.push(',');
            }
            let name = name.strip_prefix("r#").unwrap_or(name);
            if name != MESSAGE && is_name(name) && names.split(',').all(|known| known != name) {
                names.push_str(&std::mem::take(&mut later));
                names.push_str(name);
            }
        }
        names
    }

    /// Returns the text of the field of this name, as far as `M` bytes have room.
    pub(super) fn text_of<const M: usize>(&self, name: &str) -> Option<FixedString<M>> {
        let (_, value) = self.ordered().find(|(known, _)| *known == name)?;
        let mut text = FixedString::new();
        match *value {
            FieldValue::Int(value) => text.print(&value),
            FieldValue::Uint(value) => text.print(&value),
            FieldValue::Float(value) => text.print(&value),
            FieldValue::Bool(value) => text.print(&value),
            FieldValue::Text(range) => text.print(&self.text_at(range)),
        };
        Some(text)
    }

    /// Passes each field's name, and its value, to `f`.
    pub(super) fn for_each_annotation(&self, mut f: impl FnMut(&'static str, AnnotationValue<'_>)) {
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
                FieldValue::Text(range) => {
                    f(name, AnnotationValue::Text(self.text_at(range)));
                    continue;
                }
            };
            f(name, AnnotationValue::Encoded(&writer.into_vec().unwrap_or_default()));
        }
    }

    /// Returns a string of the buffer.
    fn text_at(&self, (from, to): FieldText) -> &str {
        self.text.text(from..to)
    }

    /// True if a string was cut for want of memory.
    pub(super) fn lacks_memory(&self) -> bool {
        self.text.lacks_memory()
    }

    /// Returns the target, the file and the line of a record of `log`; none if the event is of
    /// `tracing` itself.
    pub(super) fn log_place(&self) -> Option<(&str, Option<&str>, Option<u32>)> {
        let target = self.text_at(self.log.target?);
        let line = self.log.line.and_then(|line| u32::try_from(line).ok());
        Some((target, self.log.file.map(|file| self.text_at(file)), line))
    }

    /// Returns the text of the field `message`.
    pub(super) fn message(&self) -> &str {
        let message = self.list[..self.len].iter().find(|(name, _)| *name == MESSAGE);
        match message {
            Some((_, FieldValue::Text(range))) => self.text_at(*range),
            _ => "",
        }
    }

    fn ordered(&self) -> impl Iterator<Item = &(&'static str, FieldValue)> {
        let fields = &self.list[..self.len];
        let is_message = |field: &&(&str, FieldValue)| field.0 == MESSAGE;
        fields.iter().filter(is_message).chain(fields.iter().filter(move |f| !is_message(f)))
    }

    fn add(&mut self, field: &Field, value: FieldValue) {
        // `tracing` has no more fields for a callsite than it declares.
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = (field.name(), value);
            self.present |= 1 << (field.index() % 32);
            self.len += 1;
        }
    }

    fn add_text(&mut self, field: &Field, text: &dyn fmt::Display) {
        let Range { start, end } = self.text.append(text);
        match field.name() {
            "log.target" => self.log.target = Some((start, end)),
            "log.file" => self.log.file = Some((start, end)),
            // The target says as much.
            "log.module_path" => {}
            _ => self.add(field, FieldValue::Text((start, end))),
        }
    }
}

impl<const N: usize> Visit for EventFields<N> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, FieldValue::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, FieldValue::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "log.line" {
            self.log.line = Some(value);
            return;
        }
        self.add(field, FieldValue::Uint(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, FieldValue::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add_text(field, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add_text(field, &format_args!("{value:?}"));
    }

    /// An error, and those that it comes of, as `tracing`'s own formatter has them.
    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        match value.source() {
            None => self.add_text(field, &value),
            Some(source) => {
                let name = field.name();
                self.add_text(field, &format_args!("{value} {name}.sources={}", Sources(source)));
            }
        }
    }
}

/// An error and its sources, in brackets.
struct Sources<'a>(&'a (dyn Error + 'static));

impl fmt::Display for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ", {error}")?;
            source = error.source();
        }
        f.write_str("]")
    }
}
