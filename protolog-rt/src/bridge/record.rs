//! A record of the crate `log` as a message: `%s`, one per target, level, file and line.
//!
//! The ids of places are remembered, since the text of a place has to be put together for them.
//! That table is bounded.
//!
//! Invariant: an id is remembered once the table of messages has it. A place that is known takes no
//! lock.

use crate::dynamic::{Arg, trace_as, trace_text};
use crate::level::GroupInfo;
use crate::level::rules::{self, RuledCall};
use crate::log;
use crate::message_table::NewMessage;
use crate::sys::once::ForkOnce;
use crate::value::FixedString;
use protolog_core::control::selector::Call;
use protolog_core::{Level, message_id};
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let known = known_id(group, level, file, line);
    let id = known.unwrap_or_else(|| id_of(group, level, file, line));
    let mut ruled = RuledCall::default();
    if rules::is_any() {
        let lines = [line];
        let known = call(group, level, file, &lines);
        let call = Call { id: Some(id), template: text, ..known };
        ruled = rules::ruled_call(&call, &|visitor| visitor(Arg::Str(text)));
    }
    let Some(passed) = log::pass_taken(ruled, level, group, (id, &[Arg::Str(text)])) else {
        return;
    };
    let rule = passed.state;
    if rule.is_printed(group.is_text_enabled(level)) {
        crate::text::emit_dynamic(level, group.tag, "%s", &[Arg::Str(text)]);
    }
    if passed.is_repeat || !rule.is_traced() && !group.is_trace_enabled(level) {
        return;
    }
    if known.is_some() {
        return log::trace_passed(id, level, group, &[Arg::Str(text)], passed);
    }
    let mut place = FixedString::<PLACE>::new();
    let place = place.print(&format_args!("{file}:{line}"));
    let at = Some((file, line)).filter(|(file, _)| !file.is_empty());
    let message = NewMessage { id, template: "%s", names: "", level, group, place, at };
    if trace_as(message, &[Arg::Str(text)], passed) {
        remember(RecordPlace { group, level, line, file: file.into(), id });
    } else {
        trace_text(group, level, text, passed);
    }
}

/// Returns the id of the message of a place.
#[cold]
fn id_of(group: &GroupInfo, level: Level, file: &str, line: u32) -> u64 {
    let mut place = FixedString::<PLACE>::new();
    let place = place.print(&format_args!("{file}:{line}"));
    message_id(place, "%s", level, group.name)
}

/// A place of records whose message is known.
#[derive(Debug)]
struct RecordPlace {
    group: &'static GroupInfo,
    level: Level,
    line: u32,
    file: Box<str>,
    id: u64,
}

/// Maximum number of places whose ids are remembered.
const MAX_PLACES: usize = 1024;

static PLACES: [ForkOnce<RecordPlace>; MAX_PLACES * 2] =
    [const { ForkOnce::new() }; MAX_PLACES * 2];
static REMEMBERED: AtomicUsize = AtomicUsize::new(0);

/// The slots in which a place of this group and line may be, in order.
fn slots(group: &GroupInfo, line: u32) -> impl Iterator<Item = &'static ForkOnce<RecordPlace>> {
    // Lines of a file are close to each other, and groups have some 100 bytes.
    let start =
        (std::ptr::from_ref(group).addr() / 64).wrapping_mul(31).wrapping_add(line as usize);
    (0..PLACES.len()).map(move |step| &PLACES[start.wrapping_add(step) % PLACES.len()])
}

/// Returns the id of a place that is remembered.
fn known_id(group: &GroupInfo, level: Level, file: &str, line: u32) -> Option<u64> {
    let mut known = slots(group, line).map_while(ForkOnce::get);
    let is_it = |it: &&RecordPlace| {
        it.line == line && it.level == level && std::ptr::eq(it.group, group) && *it.file == *file
    };
    known.find(is_it).map(|place| place.id)
}

#[cold]
fn remember(place: RecordPlace) {
    if REMEMBERED.load(Ordering::Relaxed) >= MAX_PLACES {
        return;
    }
    let mut place = place;
    for slot in slots(place.group, place.line) {
        match slot.set(place) {
            // Another thread may have stored the same: it is found all the same.
            Ok(()) => {
                REMEMBERED.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Err(taken) => place = taken,
        }
    }
}

/// The known facts about a record before its text is. `log` passes no template, so that the text
/// stands for it.
fn call<'a>(group: &'static GroupInfo, level: Level, file: &'a str, lines: &'a [u32]) -> Call<'a> {
    // The target, which is the module as long as nobody chooses another one.
    let (group, module) = (group.name, group.name);
    Call { level: Some(level), group, module, file, lines, ..Call::default() }
}
