//! Values of arguments in lines of JSON: as they are, and by their names.

use std::ops::Range;

use protolog_core::Arg;

use crate::dictionary::Message;
use crate::dictionary::message_plan;
use crate::log::values::Values;
use crate::output::json_members::{push_float, push_string};

/// The names of a message's arguments, each with its index and as the beginning of a member.
#[derive(Debug)]
pub(super) struct FieldNames(Vec<(usize, Vec<u8>)>);

impl FieldNames {
    pub(super) fn of(message: &Message) -> Self {
        let names = message.names().iter().enumerate().filter_map(|(index, name)| {
            let mut quoted = Vec::new();
            push_name(&mut quoted, name?);
            Some((index, quoted))
        });
        Self(names.collect())
    }

    /// Appends the values by their names. Each stands in the line already, at the place that
    /// `value` gives.
    pub(super) fn push(&self, out: &mut Vec<u8>, value: impl Fn(usize) -> Option<Range<usize>>) {
        let mut is_first = true;
        for (index, name) in &self.0 {
            let Some(at) = value(*index) else { continue };
            begin_field(out, &mut is_first);
            out.extend_from_slice(name);
            out.extend_from_within(at);
        }
        end_fields(out, is_first);
    }
}

/// Appends the values of the arguments that have names.
pub(super) fn push_fields(out: &mut Vec<u8>, values: &Values<'_>) {
    let mut is_first = true;
    for (name, arg) in values.fields() {
        begin_field(out, &mut is_first);
        push_name(out, name);
        push_arg(out, arg);
    }
    end_fields(out, is_first);
}

/// Appends a value.
pub(super) fn push_arg(out: &mut Vec<u8>, arg: Arg<'_>) {
    match arg {
        Arg::Str(text) => push_string(out, text),
        Arg::Int(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Arg::Uint(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Arg::Float(value) => push_float(out, value),
        Arg::Bool(value) => out.extend_from_slice(message_plan::bool_text(value)),
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    push_string(out, name);
    out.push(b':');
}

fn begin_field(out: &mut Vec<u8>, is_first: &mut bool) {
    out.extend_from_slice(if std::mem::take(is_first) { b",\"fields\":{" } else { b"," });
}

fn end_fields(out: &mut Vec<u8>, is_empty: bool) {
    out.extend_from_slice(if is_empty { b"" } else { b"}" });
}
