//! Members of a line of JSON, and the texts in them.
//!
//! Invariant: all text passes through serde_json, and has escapes for all that a terminal would
//! obey.

use std::borrow::Cow;

use crate::formatting::printable::printable_json;

/// Appends a member with a text.
pub(super) fn push_member(out: &mut Vec<u8>, name: &str, text: &str) {
    push_name(out, name);
    push_string(out, text);
}

/// Appends a member with an integer.
pub(super) fn push_number(out: &mut Vec<u8>, name: &str, number: impl itoa::Integer) {
    push_name(out, name);
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a float; one that JSON can't express becomes a string.
pub(super) fn push_float(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        // Digits, which need no escapes.
        serde_json::to_writer(out, &value).expect("a vector takes every write");
    } else {
        push_string(out, &value.to_string());
    }
}

/// Appends a string with its quotation marks.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str) {
    push_json(out, text);
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn push_json(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    let start = out.len();
    serde_json::to_writer(&mut *out, value).expect("a vector takes every write");
    let json = str::from_utf8(&out[start..]).unwrap_or_default();
    if let Cow::Owned(printable) = printable_json(json) {
        out.truncate(start);
        out.extend_from_slice(printable.as_bytes());
    }
}
