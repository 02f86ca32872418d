//! Spans in lines of JSON: their fields, and those that a message was logged in; and its request.

use std::collections::BTreeMap;

use crate::log::entry::Entry;
use crate::output::json_members::{push_member, push_number, push_string};
use crate::spans::around::SpanAround;
use crate::spans::span_slice::{SpanArg, SpanSlice};

/// Appends the request that a message belongs to, if it does.
#[inline]
pub(super) fn push_request(out: &mut Vec<u8>, entry: &Entry<'_>) {
    if let Some(id) = entry.request() {
        push_member(out, "request", id);
    }
}

/// Appends the spans that a message was logged in; nothing for none.
pub(super) fn push_spans_around(out: &mut Vec<u8>, spans: &[SpanAround<'_>]) {
    for (index, around) in spans.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b",\"spans\":[{" } else { b",{" });
        let slice = around.slice;
        out.extend_from_slice(b"\"span\":");
        push_string(out, &slice.name);
        push_member(out, "target", &slice.target);
        if let Some(number) = slice.number() {
            push_number(out, "span_id", number);
        }
        push_span_args(out, slice, false);
        out.extend_from_slice(if around.may_be_over { b",\"end_lost\":true" } else { b"" });
        out.extend_from_slice(if around.is_after_gap { b",\"gap\":true" } else { b"" });
        out.push(b'}');
    }
    out.extend_from_slice(if spans.is_empty() { b"" } else { b"]" });
}

/// Appends the fields of a span at its begin or end. As for the trace's own fields: of two values
/// of one name, the newest counts.
pub(super) fn push_span_args(out: &mut Vec<u8>, slice: &SpanSlice, is_end: bool) {
    let known = if is_end { slice.args.len() } else { slice.begin_args };
    out.extend_from_slice(b",\"args\":{");
    let args: BTreeMap<&str, &SpanArg> =
        slice.args.iter().take(known).map(|arg| (&*arg.name, arg)).collect();
    for (index, (name, arg)) in args.into_iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"" } else { b"," });
        push_string(out, name);
        out.push(b':');
        if arg.is_text {
            push_string(out, &arg.value);
        } else {
            out.extend_from_slice(arg.value.as_bytes());
        }
    }
    out.push(b'}');
}
