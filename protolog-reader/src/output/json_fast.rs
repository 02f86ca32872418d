//! Lines of JSON by the fast path: of messages whose values stand in the order of their template.
//!
//! The values stand in a line up to three times: in the order of the template, by their names, and
//! in the text. Mostly they look the same, and are copied from where they stand first.
//!
//! Invariant: lines of the fast path are those of the slow one.

use protolog_core::ParamKind;

use crate::dictionary::Message;
use crate::dictionary::message_plan;
use crate::formatting::line::{Line, LineRoom, ROOM};
use crate::formatting::printable::{is_plain_json, printable_json};
use crate::formatting::snippet::Snippet;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::log::fast_values::{BlockHints, FastValues, Prepared};
use crate::log::line_plan::LinePlan;
use crate::output::json_fields::FieldNames;
use crate::output::json_members::{push_float, push_member, push_string};
use crate::output::json_parts::{begin_second, common_members, location_member, thread_members};
use crate::times::NS;
use crate::times::wall_times::WallTimes;

/// Writes the lines of the entries of one log.
#[derive(Debug, Default)]
pub(super) struct FastLines {
    /// The lines of messages, and where to look for their values.
    messages: Prepared<MessageLine>,
    hints: BlockHints,
    /// Members of process and thread, by the index of the thread.
    threads: Vec<Option<Snippet>>,
    /// The time before its last digits, and the beginning of lines with such times.
    stamp: Option<(i64, Snippet)>,
    walls: WallTimes,
    /// The nanoseconds at which the last second began, and the member up to its decimals.
    second: Option<(i64, Snippet)>,
    /// The values of an entry.
    args: Vec<ArgPlace>,
    room: LineRoom,
    text: Vec<u8>,
}

/// The lines of a message: up to the values, the names of these, and from the text on.
#[derive(Debug)]
struct MessageLine {
    common: Snippet,
    names: FieldNames,
    plan: LinePlan,
}

/// A value that stands in a line, without its quotation marks if it is a string.
#[derive(Debug)]
struct ArgPlace {
    start: usize,
    len: usize,
    /// Those of a number.
    bits: u64,
    is_text: bool,
}

/// The time that a beginning of lines is for, in nanoseconds.
const STAMP: i64 = 100_000_000;

impl FastLines {
    /// Appends the line of an entry; none if that is left to the slow path.
    pub(super) fn push(&mut self, log: &Log, entry: &Entry<'_>, out: &mut Vec<u8>) -> Option<()> {
        let (id, mut values) = entry.fast_values(&mut self.hints)?;
        let known = self
            .messages
            .get(log.dictionary(), id, |message| MessageLine::new(log, id, message))?;
        let mut line = self.room.begin();
        push_stamp(&mut self.stamp, entry.time(), &mut line);
        if entry.time_is_guess() {
            line.push_slice(b",\"ts_guessed\":true");
        }
        if let Some(wall) = self.walls.convert(log, entry.time()) {
            push_wall_time(&mut self.second, wall, &mut line);
        }
        members_of_thread(&mut self.threads, log, entry.thread_index())?.push(&mut line);
        if let Some(request) = entry.request() {
            self.text.clear();
            push_member(&mut self.text, "request", request);
            line.push_slice(&self.text);
        }
        known.common.push(&mut line);
        push_args(&known.plan, &mut values, &mut line, (&mut self.args, &mut self.text))?;
        known.names.push(&mut line, |index| self.args.get(index).map(ArgPlace::quoted))?;
        known.plan.head().push(&mut line);
        for (step, arg) in known.plan.steps().iter().zip(&self.args) {
            if step.is_as_in_json() {
                line.push_again(arg.start, arg.len);
            } else {
                step.push_number(arg.bits, &mut line)?;
            }
            step.after().push(&mut line);
        }
        out.extend_from_slice(line.finish()?);
        Some(())
    }
}

impl MessageLine {
    /// None where no line has room for it: it is not to be kept for each message.
    fn new(log: &Log, id: u64, message: &Message) -> Option<Self> {
        let mut common = common_members(log, id, (message, message.template()));
        common.extend_from_slice(b",\"args\":[");
        let location = location_member(message);
        let after = format!("\"{}}}\n", String::from_utf8_lossy(&location));
        if common.len() + after.len() > ROOM {
            return None;
        }
        let args = message.plan().conversions().count();
        let names = FieldNames::of(message, args, "]");
        let end_of_values = if names.are_none() { "]" } else { "}" };
        let before = format!("{end_of_values},\"message\":\"");
        let plan = LinePlan::new(message, (before, &after), escaped);
        Some(Self { common: Snippet::new(String::from_utf8_lossy(&common)), names, plan })
    }
}

impl ArgPlace {
    /// The place and the length of the value, with its quotation marks if it is a string.
    #[inline]
    fn quoted(&self) -> (usize, usize) {
        let marks = usize::from(self.is_text);
        (self.start - marks, self.len + 2 * marks)
    }
}

/// Begins a line, with its time.
#[inline]
fn push_stamp(known: &mut Option<(i64, Snippet)>, time: i64, line: &mut Line<'_>) {
    let is_known = |(base, _): &(i64, _)| (0..STAMP).contains(&time.wrapping_sub(*base));
    if !known.as_ref().is_some_and(is_known) {
        *known = begin_stamp(time);
    }
    match known {
        Some((base, head)) => {
            head.push(line);
            line.push_eight(time.wrapping_sub(*base) as u32);
        }
        None => {
            line.push_slice(STAMP_HEAD);
            line.push_integer(time);
        }
    }
}

const STAMP_HEAD: &[u8] = b"{\"type\":\"message\",\"ts\":";

/// The beginning of lines at times with these first digits; none for short ones.
#[cold]
fn begin_stamp(time: i64) -> Option<(i64, Snippet)> {
    let first = Some(time / STAMP).filter(|_| time >= STAMP)?;
    let head = format!("{}{first}", String::from_utf8_lossy(STAMP_HEAD));
    Some((first * STAMP, Snippet::new(head)))
}

/// Appends the wall clock in UTC.
#[inline]
fn push_wall_time(second: &mut Option<(i64, Snippet)>, wall: i64, line: &mut Line<'_>) {
    let is_within = |(begin, _): &(i64, _)| (0..NS).contains(&wall.wrapping_sub(*begin));
    if !second.as_ref().is_some_and(is_within) {
        *second = begin_second(wall).map(|(begin, text)| (begin, Snippet::new(text)));
    }
    let Some((begin, text)) = second else { return };
    text.push(line);
    line.push_nanos(wall.wrapping_sub(*begin) as u32);
    line.push_few(*b"Z\"", 2);
}

/// The members of a thread, as they are known from an earlier line; none where no line has room
/// for them.
#[inline]
fn members_of_thread<'t>(
    known: &'t mut Vec<Option<Snippet>>,
    log: &Log,
    index: u32,
) -> Option<&'t Snippet> {
    let place = index as usize;
    if !matches!(known.get(place), Some(Some(_))) {
        learn_thread(known, log, index);
    }
    known[place].as_ref()
}

#[cold]
fn learn_thread(known: &mut Vec<Option<Snippet>>, log: &Log, index: u32) {
    let place = index as usize;
    known.resize(known.len().max(place + 1), None);
    let members = thread_members(log, index);
    if members.len() <= ROOM {
        known[place] = Some(Snippet::new(String::from_utf8_lossy(&members)));
    }
}

/// Appends the values, if they are just those that the template takes, and notes where they stand.
#[inline]
fn push_args(
    plan: &LinePlan,
    values: &mut FastValues<'_, '_>,
    line: &mut Line<'_>,
    (args, text): (&mut Vec<ArgPlace>, &mut Vec<u8>),
) -> Option<()> {
    args.clear();
    for step in plan.steps() {
        if !args.is_empty() {
            line.push_byte(b',');
        }
        let start = line.len();
        let kind = step.kind();
        if kind == ParamKind::Str {
            let (window, len) = values.next_string()?;
            push_text(window.get(..len)?, window, line, text);
            let len = line.len() - start - 2;
            args.push(ArgPlace { start: start + 1, len, bits: 0, is_text: true });
            continue;
        }
        let bits = values.next_number(kind)?;
        match kind {
            ParamKind::Float => {
                text.clear();
                push_float(text, f64::from_bits(bits));
                line.push_slice(text);
            }
            ParamKind::Bool => line.push_slice(message_plan::bool_text(bits != 0)),
            ParamKind::Int | ParamKind::Str => step.push_integer(bits as i64, line),
        }
        args.push(ArgPlace { start, len: line.len() - start, bits, is_text: false });
    }
    values.are_done().then_some(())
}

/// Appends a string, which is UTF-8, in quotation marks; `window` begins with it.
#[inline]
fn push_text(bytes: &[u8], window: &[u8], line: &mut Line<'_>, text: &mut Vec<u8>) {
    if is_plain_json(bytes) {
        line.push_byte(b'"');
        line.push_start(window, bytes.len());
        line.push_byte(b'"');
    } else {
        text.clear();
        push_string(text, str::from_utf8(bytes).unwrap_or_default());
        line.push_slice(text);
    }
}

/// A text as a part of a string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("a string takes every write");
    printable_json(&quoted[1..quoted.len() - 1]).into_owned()
}
