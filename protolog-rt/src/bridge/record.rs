//! A record of the crate `log` as a message: `%s`, one per target, level, file and line.

use crate::dynamic::{Arg, trace_as, trace_text};
use crate::level::GroupInfo;
use crate::message_table::NewMessage;
use crate::value::FixedString;
use protolog_core::{Level, message_id};

/// Maximum bytes of `file:line`.
const PLACE: usize = 512;

/// Writes the record with the text `text` to the sessions and the text output that take it.
pub(super) fn write(
    group: &'static GroupInfo,
    level: Level,
    text: &str,
    (file, line): (&str, Option<u32>),
) {
    if group.is_text_enabled(level) {
        crate::text::emit_dynamic(level, group.tag, "%s", &[Arg::Str(text)]);
    }
    if !group.is_trace_enabled(level) {
        return;
    }
    let line = line.unwrap_or_default();
    let mut place = FixedString::<PLACE>::new();
    let place = place.print(&format_args!("{file}:{line}"));
    let id = message_id(place, "%s", level, group.name);
    let at = Some((file, line)).filter(|(file, _)| !file.is_empty());
    let message = NewMessage { id, template: "%s", level, group, place, at };
    if !trace_as(message, &[Arg::Str(text)]) {
        trace_text(group, level, text);
    }
}
