//! Values of arguments in lines of JSON: as they are, and by their names.

use protolog_core::Arg;

use crate::dictionary::Message;
use crate::dictionary::message_plan;
use crate::formatting::line::Line;
use crate::formatting::snippet::Snippet;
use crate::log::values::Values;
use crate::output::json_members::{push_float, push_string};

/// The names of a message's arguments, each with its index and the text from the value before it.
#[derive(Debug)]
pub(super) struct FieldNames(Vec<(usize, Snippet)>);

impl FieldNames {
    /// The names of the first arguments of a message, so many; `before` is the text before them.
    pub(super) fn of(message: &Message, args: usize, before: &str) -> Self {
        let mut is_first = true;
        let names = message.names().iter().take(args).enumerate().filter_map(|(index, name)| {
            let (name, mut text) = (name?, Vec::new());
            text.extend_from_slice(if is_first { before.as_bytes() } else { b"" });
            begin_field(&mut text, &mut is_first);
            push_name(&mut text, name);
            Some((index, Snippet::new(String::from_utf8_lossy(&text))))
        });
        Self(names.collect())
    }

    /// Returns whether no argument has one.
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the values by their names. Each stands in the line already, at the place and of the
    /// length that `value` gives.
    #[inline]
    pub(super) fn push(
        &self,
        line: &mut Line<'_>,
        value: impl Fn(usize) -> Option<(usize, usize)>,
    ) -> Option<()> {
        for (index, name) in &self.0 {
            let (start, len) = value(*index)?;
            name.push(line);
            line.push_again(start, len);
        }
        Some(())
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
