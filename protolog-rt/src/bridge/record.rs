//! A record of the crate `log` as a message: `%s`, one per target, level, file and line.

use crate::dynamic::{Arg, trace_as, trace_text};
use crate::level::GroupInfo;
use crate::level::rules::{self, RuledCall};
use crate::log;
use crate::message_table::NewMessage;
use crate::value::FixedString;
use protolog_core::control::selector::Call;
use protolog_core::{Level, message_id};

/// Maximum bytes of `file:line`.
const PLACE: usize = 512;

/// Returns whether a record of this place may be taken by the sessions or the text output.
pub(super) fn is_enabled(
    group: &'static GroupInfo,
    level: Level,
    (file, line): (&str, Option<u32>),
) -> bool {
    let lines = &[line.unwrap_or_default()];
    group.is_on(level) || rules::may_switch_on(&call(group, level, file, lines))
}

/// Writes the record with the text `text` to the sessions and the text output that take it.
pub(super) fn write(
    group: &'static GroupInfo,
    level: Level,
    text: &str,
    (file, line): (&str, Option<u32>),
) {
    let line = line.unwrap_or_default();
    let mut place = FixedString::<PLACE>::new();
    let place = place.print(&format_args!("{file}:{line}"));
    let id = message_id(place, "%s", level, group.name);
    let mut ruled = RuledCall::default();
    if rules::is_any() {
        let lines = [line];
        let known = call(group, level, file, &lines);
        let call = Call { id: Some(id), template: text, ..known };
        ruled = rules::ruled_call(&call, &|visitor| visitor(Arg::Str(text)));
    }
    let Some(passed) = log::pass_taken(ruled, level, group, &[Arg::Str(text)]) else { return };
    let rule = passed.state;
    if rule.is_printed(group.is_text_enabled(level)) {
        crate::text::emit_dynamic(level, group.tag, "%s", &[Arg::Str(text)]);
    }
    if !rule.is_traced() && !group.is_trace_enabled(level) {
        return;
    }
    let at = Some((file, line)).filter(|(file, _)| !file.is_empty());
    let message = NewMessage { id, template: "%s", names: "", level, group, place, at };
    if !trace_as(message, &[Arg::Str(text)], passed) {
        trace_text(group, level, text, passed);
    }
}

/// The known facts about a record before its text is. `log` passes no template, so that the text
/// stands for it.
fn call<'a>(group: &'static GroupInfo, level: Level, file: &'a str, lines: &'a [u32]) -> Call<'a> {
    // The target, which is the module as long as nobody chooses another one.
    let (group, module) = (group.name, group.name);
    Call { level: Some(level), group, module, file, lines, ..Call::default() }
}
