//! Values as JSON, in the form that `read-log --format json` has.

use std::borrow::Cow;

use foldhash::HashMap;
use protolog_core::{Arg, ArgumentNames};
use protolog_reader::{SpanArg, printable_json};

/// Appends the values as an array.
pub(super) fn push_args(out: &mut String, args: &[Arg<'_>]) {
    out.push('[');
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_arg(out, *arg);
    }
    out.push(']');
}

/// The values with names as an object; none if no argument has one.
pub(super) fn fields(names: ArgumentNames<'_>, args: &[Arg<'_>]) -> Option<String> {
    let mut out = String::new();
    for (name, arg) in names.iter().zip(args) {
        let Some(name) = name else { continue };
        out.push(if out.is_empty() { '{' } else { ',' });
        push_json(&mut out, name);
        out.push(':');
        push_arg(&mut out, *arg);
    }
    (!out.is_empty()).then(|| out + "}")
}

fn push_arg(out: &mut String, arg: Arg<'_>) {
    match arg {
        Arg::Str(text) => push_json(out, text),
        Arg::Int(value) => out.push_str(&value.to_string()),
        Arg::Uint(value) => out.push_str(&value.to_string()),
        Arg::Float(value) if value.is_finite() => push_json(out, &value),
        Arg::Float(value) => push_json(out, &value.to_string()),
        Arg::Bool(value) => out.push_str(if value { "true" } else { "false" }),
    }
}

/// The fields of a span as an object, in the order in which they were first recorded. Of two values
/// of one name, the newest counts.
pub(super) fn span_args(args: &[SpanArg]) -> String {
    let mut places = HashMap::default();
    let mut fields: Vec<&SpanArg> = Vec::new();
    for arg in args {
        let place = *places.entry(&arg.name).or_insert(fields.len());
        match fields.get_mut(place) {
            Some(field) => *field = arg,
            None => fields.push(arg),
        }
    }
    let mut out = "{".to_owned();
    for (index, arg) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_json(&mut out, &*arg.name);
        out.push(':');
        if arg.is_text {
            push_json(&mut out, &arg.value);
        } else {
            out.push_str(&arg.value);
        }
    }
    out.push('}');
    out
}

/// Appends `,"name":"text"`.
pub(super) fn push_member(out: &mut String, name: &str, text: &str) {
    push_raw(out, name, "");
    push_json(out, text);
}

/// Appends `,"name":value`, of a value that is JSON.
pub(super) fn push_raw(out: &mut String, name: &str, value: &str) {
    out.extend([",\"", name, "\":", value]);
}

/// Appends a value in the form of `read-log`, which shows no control characters.
pub(super) fn push_json(out: &mut String, value: &(impl serde::Serialize + ?Sized)) {
    let json = serde_json::to_string(value).unwrap_or_default();
    match printable_json(&json) {
        Cow::Owned(printable) => out.push_str(&printable),
        Cow::Borrowed(json) => out.push_str(json),
    }
}
