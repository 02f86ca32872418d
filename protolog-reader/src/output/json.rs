//! One JSON object per line, for machines.
//!
//! ```json
//! {"type":"message","ts":1000,"time":"2026-11-20T18:27:01.000001Z","level":"DEBUG","tag":"Net","group":"demo::AppLog::Net","pid":1234,"tid":1240,"id":"2f1c6d0a9be85377","template":"sent %d bytes","args":[512],"message":"sent 512 bytes"}
//! {"type":"loss","ts":2000,"reason":"buffer_full","group":"demo::AppLog::Disk","count":3,"pid":1234,"tid":1240}
//! ```
//!
//! Where arguments have names, `fields` has their values by these, too:
//!
//! ```json
//! "template":"sent %d bytes","args":[512],"fields":{"bytes":512},"message":"sent 512 bytes"
//! ```
//!
//! A row of suppressed messages has the time of its first message, too (`from_ts`), and one of
//! messages that say the same as the one before (`repeated`) that message: `id` and `message`.
//!
//! With spans, a thread that enters or leaves one has a line, with the nanoseconds that it was in
//! there. Where the end was lost, it has `end_lost` and the nanoseconds that it was at most
//! (`longest`), at the time by which it had ended; where it is not in the trace, `end_missing`:
//!
//! ```json
//! {"type":"span_end","ts":3000,"pid":1234,"tid":1240,"span":"request","target":"demo","depth":0,"duration":2000,"args":{"id":5}}
//! ```
//!
//! A message of a request has its id (`"request":"GET /cart/17"`).
//!
//! On request, a message has the spans that it was logged in, the outermost first. One that may
//! have been over has `end_lost`, and `gap` says that spans around it are not in the trace:
//!
//! ```json
//! "spans":[{"span":"request","target":"demo","span_id":5,"args":{"id":7}}]
//! ```
//!
//! At the end stands a line for each process whose session has no end, since it was killed or is
//! still running:
//!
//! ```json
//! {"type":"unended","pid":1234}
//! ```
//!
//! and before those one for each program that the tracing service asked to record, and that did
//! not:
//!
//! ```json
//! {"type":"refusal","pid":1234,"program":"app","reason":"it records 32 others, the most at a time"}
//! ```
//!
//! Where several messages have one id, and the values fit more than one of them, or none, the
//! message is a guess, and has `message_guessed`.
//!
//! `ts` is the trace's clock in nanoseconds, `time` the wall clock in UTC. Unknown members are
//! omitted. Ids are hexadecimal, because many JSON parsers have no 64-bit integers; floats that
//! JSON can't express are strings.

//!
//! Invariant: each line is one object, in UTF-8, for any contents of a trace: all text passes
//! through serde_json, and has escapes for all that a terminal would obey.

use std::ptr;

use foldhash::HashMap;

use crate::dictionary::Message;
use crate::formatting::fixed_decimals;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::log::log_items::Item;
use crate::log::render::{self, Rendering};
use crate::log::values::Values;
use crate::losses::loss::Loss;
use crate::output::json_fast::FastLines;
use crate::output::json_fields::{push_arg, push_fields};
use crate::output::json_members::{push_member, push_number};
use crate::output::json_parts::{
    begin_second, common_members, location_member, push_id, thread_members,
};
use crate::output::json_spans::{push_request, push_span_args, push_spans_around};
use crate::spans::span_slice::SpanSlice;
use crate::times::NS;
use crate::times::wall_times::WallTimes;

/// Writes items as lines of JSON.
#[derive(Debug)]
pub struct JsonWriter<'a> {
    log: &'a Log,
    /// The lines of usual messages.
    fast: FastLines,
    /// Members of process and thread, by the index of the thread.
    threads: Vec<Option<Vec<u8>>>,
    /// Members that all entries of a message have in common, by the address in the dictionary: of
    /// one id there may be several.
    messages: HashMap<(*const Message, bool), MessageMembers>,
    /// True if messages have the spans around them.
    has_spans_around: bool,
    /// True if all lines take the slow path, for a comparison of both.
    is_slow: bool,
    walls: WallTimes,
    /// The nanoseconds at which the last second began, and the member up to its decimals.
    second: Option<(i64, String)>,
    text: String,
}

/// Members of a message: before the values and after the text.
#[derive(Clone, Debug)]
struct MessageMembers {
    common: Vec<u8>,
    location: Vec<u8>,
}

impl MessageMembers {
    fn new(log: &Log, values: &Values<'_>) -> Option<Self> {
        let (message, id) = (values.message()?, values.message_id());
        let template = values.template().unwrap_or_default();
        let common = common_members(log, id, (message, template));
        Some(Self { common, location: location_member(message) })
    }

    fn is_short(&self) -> bool {
        self.common.len() + self.location.len() <= MOST_KEPT
    }
}

/// The most bytes of members that are kept for later lines: one long name may belong to any number
/// of messages or threads.
const MOST_KEPT: usize = 1 << 14;

impl<'a> JsonWriter<'a> {
    /// A writer for the items of `log`.
    pub fn new(log: &'a Log) -> Self {
        Self {
            log,
            fast: FastLines::default(),
            threads: Vec::new(),
            messages: HashMap::default(),
            has_spans_around: false,
            is_slow: false,
            walls: WallTimes::default(),
            second: None,
            text: String::new(),
        }
    }

    /// Appends the line of `item` to `out`, with its line end.
    pub fn write(&mut self, item: &Item<'_>, out: &mut Vec<u8>) {
        match item {
            Item::Entry(entry) => {
                let is_slow = self.is_slow || self.has_spans_around;
                if !is_slow && self.fast.push(self.log, entry, out).is_some() {
                    return;
                }
                self.entry(entry, out);
            }
            Item::Loss(loss) => self.loss(loss, out),
            Item::SpanBegin(slice) => self.span(slice, false, out),
            Item::SpanEnd(slice) => self.span(slice, true, out),
        }
        out.extend_from_slice(b"}\n");
    }

    /// Gives messages the spans that they were logged in, if the log was read with spans.
    #[must_use]
    pub fn with_spans_around(mut self, wanted: bool) -> Self {
        self.has_spans_around = wanted && self.log.has_spans_around();
        self
    }

    /// Makes all lines take the slow path, which are the same.
    #[doc(hidden)]
    #[must_use]
    pub fn with_slow_path(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// Appends the lines that follow the last item.
    pub fn write_end(&self, out: &mut Vec<u8>) {
        for refusal in &self.log.stats().refusals {
            out.extend_from_slice(b"{\"type\":\"refusal\"");
            push_number(out, "pid", refusal.pid);
            push_member(out, "program", &refusal.program);
            push_member(out, "reason", &refusal.reason);
            out.extend_from_slice(b"}\n");
        }
        for pid in &self.log.stats().unended {
            out.extend_from_slice(format!("{{\"type\":\"unended\",\"pid\":{pid}}}\n").as_bytes());
        }
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) {
        let values = entry.values();
        self.start("message", entry.time(), entry.time_is_guess(), entry.thread_index(), out);
        push_request(out, entry);
        let key = values.message().map(|message| (ptr::from_ref(message), values.is_cut));
        let known = key.filter(|key| self.messages.contains_key(key));
        let learned = if known.is_some() { None } else { MessageMembers::new(self.log, &values) };
        if let (Some(key), Some(short)) = (key, learned.as_ref().filter(|it| it.is_short())) {
            self.messages.insert(key, short.clone());
        }
        let members = known.and_then(|key| self.messages.get(&key)).or(learned.as_ref());
        match members {
            Some(members) => out.extend_from_slice(&members.common),
            None => push_id(out, values.message_id()),
        }
        push_args(out, &values);
        push_fields(out, &values);
        self.text.clear();
        render::write(&mut self.text, Rendering::Full, &values)
            .expect("a string takes every write");
        push_member(out, "message", &self.text);
        if values.message_is_guess() {
            out.extend_from_slice(b",\"message_guessed\":true");
        }
        out.extend_from_slice(members.map_or(&[], |members| &members.location));
        if let Some(rate) = entry.rate() {
            push_member(out, "rate", &rate.to_string());
        }
        if let Some(stack_trace) = entry.stack_trace() {
            push_member(out, "stack_trace", stack_trace);
        }
        if self.has_spans_around {
            push_spans_around(out, &entry.spans());
        }
    }

    fn loss(&mut self, loss: &Loss, out: &mut Vec<u8>) {
        self.start("loss", loss.time, loss.guessed, loss.thread, out);
        push_member(out, "reason", loss.reason.name());
        if let Some(id) = loss.group {
            push_member(out, "group", &self.log.dictionary().group_name(id));
        }
        if let Some(count) = loss.count {
            push_number(out, "count", count);
        }
        if let Some(from) = loss.from {
            push_number(out, "from_ts", from);
        }
        if let Some(id) = loss.message {
            push_member(out, "id", &format!("{id:016x}"));
        }
        if let Some(text) = self.log.repeated_text(loss) {
            push_member(out, "message", &text);
        }
    }

    fn span(&mut self, slice: &SpanSlice, is_end: bool, out: &mut Vec<u8>) {
        let (kind, time) =
            if is_end { ("span_end", slice.end_time()) } else { ("span_begin", None) };
        self.start(kind, time.unwrap_or(slice.begin), false, slice.thread_index(), out);
        push_member(out, "span", &slice.name);
        push_member(out, "target", &slice.target);
        if let Some(number) = slice.number() {
            push_number(out, "span_id", number);
        }
        push_number(out, "depth", slice.depth);
        if let Some(duration) = slice.duration() {
            push_number(out, "duration", duration);
            if let (true, Some(busy), Some(age)) = (is_end, slice.busy(), slice.age()) {
                push_number(out, "busy", busy);
                push_number(out, "age", age);
            }
        } else if let Some(longest) = slice.longest() {
            push_number(out, "longest", longest);
            out.extend_from_slice(b",\"end_lost\":true");
        } else if !slice.may_end {
            out.extend_from_slice(b",\"end_missing\":true");
        }
        push_span_args(out, slice, is_end);
    }

    /// Appends type, time and thread.
    fn start(&mut self, r#type: &str, ts: i64, is_guess: bool, thread: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(r#type.as_bytes());
        out.push(b'"');
        push_number(out, "ts", ts);
        self.push_time_and_thread(ts, is_guess, thread, out);
    }

    /// Appends the fields after a time of the trace's clock.
    fn push_time_and_thread(&mut self, ts: i64, is_guess: bool, thread: u32, out: &mut Vec<u8>) {
        if is_guess {
            out.extend_from_slice(b",\"ts_guessed\":true");
        }
        self.push_wall_time(ts, out);
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, None);
        }
        if let Some(members) = &self.threads[index] {
            out.extend_from_slice(members);
            return;
        }
        let members = thread_members(self.log, thread);
        out.extend_from_slice(&members);
        self.threads[index] = Some(members).filter(|it| it.len() <= MOST_KEPT);
    }

    /// Appends the wall clock in UTC, if it is known.
    fn push_wall_time(&mut self, ts: i64, out: &mut Vec<u8>) {
        let Some(wall) = self.walls.convert(self.log, ts) else { return };
        let is_within = |(begin, _): &(i64, _)| (0..NS).contains(&wall.wrapping_sub(*begin));
        if !self.second.as_ref().is_some_and(is_within) {
            self.second = begin_second(wall);
        }
        let Some((begin, text)) = &self.second else { return };
        out.extend_from_slice(text.as_bytes());
        fixed_decimals::push_nanos(out, wall.wrapping_sub(*begin) as u32);
        out.extend_from_slice(b"Z\"");
    }
}

/// Appends the values in the order of the template.
fn push_args(out: &mut Vec<u8>, values: &Values<'_>) {
    out.extend_from_slice(b",\"args\":[");
    for (index, arg) in values.args().into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_arg(out, arg);
    }
    out.push(b']');
}
