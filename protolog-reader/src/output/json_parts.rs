//! Members of lines of JSON that many lines have in common: those of a message, of a thread, of a
//! second.

use jiff::Timestamp;
use protolog_core::Level;

use crate::dictionary::Message;
use crate::log::Log;
use crate::output::json_members::{push_member, push_number};
use crate::times::NS;

/// The members of a message before its values.
pub(super) fn common_members(log: &Log, id: u64, (message, template): (&Message, &str)) -> Vec<u8> {
    let mut common = Vec::new();
    if let Some(level) = message.level.map(Level::name) {
        push_member(&mut common, "level", level);
    }
    if let Some(known) = log.dictionary().group(message.group) {
        push_member(&mut common, "tag", &known.tag);
        push_member(&mut common, "group", &known.name);
    }
    push_id(&mut common, id);
    push_member(&mut common, "template", template);
    common
}

/// The member after the text of a message; none where its place is not known.
pub(super) fn location_member(message: &Message) -> Vec<u8> {
    let mut location = Vec::new();
    if !message.location.is_empty() {
        push_member(&mut location, "location", &message.location);
    }
    location
}

/// The members of process and thread.
pub(super) fn thread_members(log: &Log, index: u32) -> Vec<u8> {
    let (thread, mut out) = (log.thread(index), Vec::new());
    for (name, id) in [("pid", thread.pid), ("tid", thread.tid)] {
        if let Some(id) = id {
            push_number(&mut out, name, id);
        }
    }
    let process = log.process_name(thread);
    for (name, text) in [("thread", thread.name.as_deref()), ("process", process)] {
        if let Some(text) = text {
            push_member(&mut out, name, text);
        }
    }
    out
}

/// Makes the text of the second that this time of the wall clock is in; none beyond the calendar.
#[cold]
pub(super) fn begin_second(wall: i64) -> Option<(i64, String)> {
    let number = wall.div_euclid(NS);
    let text = Timestamp::from_second(number).ok()?.to_string();
    let start = format!(",\"time\":\"{}", text.trim_end_matches('Z'));
    // A second may begin before all times; differences are right all the same.
    Some((number.wrapping_mul(NS), start))
}

/// Appends the id in hexadecimal.
pub(super) fn push_id(out: &mut Vec<u8>, id: u64) {
    out.extend_from_slice(b",\"id\":\"");
    let digits = (0..16).rev().map(|digit| b"0123456789abcdef"[(id >> (4 * digit)) as usize & 15]);
    out.extend(digits);
    out.push(b'"');
}
