//! One JSON object per line, for machines.
//!
//! ```json
//! {"type":"message","ts":1000,"time":"2026-11-20T18:27:01.000001Z","level":"DEBUG","tag":"Net","group":"demo::AppLog::Net","pid":1234,"tid":1240,"id":"2f1c6d0a9be85377","template":"sent %d bytes","args":[512],"message":"sent 512 bytes"}
//! {"type":"loss","ts":2000,"reason":"buffer_full","group":"demo::AppLog::Disk","count":3,"pid":1234,"tid":1240}
//! ```
//!
//! At the end stands a line for each process whose session has no end, since it was killed or is still running:
//!
//! ```json
//! {"type":"unended","pid":1234}
//! ```
//!
//! `ts` is the trace's clock in nanoseconds, `time` the wall clock in UTC. Unknown members are omitted. Ids are hexadecimal,
//! because many JSON parsers have no 64-bit integers; floats that JSON can't express are strings.

use std::borrow::Cow;

use jiff::Timestamp;
use protolog_core::{Arg, Level};
use serde::{Serialize, Serializer};

use crate::dictionary::Message;
use crate::entry::Entry;
use crate::items::Item;
use crate::log::Log;
use crate::loss::Loss;
use crate::render::Rendering;
use crate::thread::Thread;

#[derive(Serialize)]
struct Line<'a> {
    r#type: &'static str,
    ts: i64,
    #[serde(skip_serializing_if = "is_false")]
    ts_guessed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    origin: Origin<'a>,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
struct Origin<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Message(Box<MessageLine<'a>>),
    Loss {
        reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
    },
}

#[derive(Serialize)]
struct MessageLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'a str>,
    args: Vec<JsonArg<'a>>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack_trace: Option<&'a str>,
}

/// Appends the line of `item` to `out`, with its line end.
pub fn write_json(log: &Log, item: &Item<'_>, out: &mut Vec<u8>) {
    let line = match item {
        Item::Entry(entry) => entry_line(log, entry),
        Item::Loss(loss) => loss_line(log, loss),
    };
    serde_json::to_writer(&mut *out, &line)
        .expect("a vector takes every write, and all keys are strings");
    out.push(b'\n');
}

/// Appends the lines that follow the last item.
pub fn write_json_end(log: &Log, out: &mut Vec<u8>) {
    for pid in &log.stats().unended {
        out.extend_from_slice(format!("{{\"type\":\"unended\",\"pid\":{pid}}}\n").as_bytes());
    }
}

fn entry_line<'a>(log: &'a Log, entry: &Entry<'a>) -> Line<'a> {
    let values = entry.values();
    let (message, group) = (values.message(), values.group(log));
    let body = Body::Message(Box::new(MessageLine {
        level: values.level().map(Level::name),
        tag: group.map(|group| group.tag.as_str()),
        group: group.map(|group| group.name.as_str()),
        id: format!("{:016x}", values.message_id()),
        template: message.map(Message::template),
        args: values.args().into_iter().map(JsonArg).collect(),
        message: values.text(Rendering::Full),
        location: message.map(|message| message.location.as_str()).filter(|at| !at.is_empty()),
        stack_trace: entry.stack_trace(),
    }));
    line(log, "message", entry.time(), entry.time_is_guess(), entry.thread(), body)
}

fn loss_line<'a>(log: &'a Log, loss: &Loss) -> Line<'a> {
    let group = loss.group.map(|id| log.dictionary().group_name(id));
    let body = Body::Loss { reason: loss.reason.name(), group, count: loss.count };
    line(log, "loss", loss.time, loss.guessed, log.thread_of(loss), body)
}

fn line<'a>(
    log: &'a Log,
    r#type: &'static str,
    ts: i64,
    ts_guessed: bool,
    thread: &'a Thread,
    body: Body<'a>,
) -> Line<'a> {
    let wall = log.wall_time(ts).map(i128::from).map(Timestamp::from_nanosecond);
    let origin = Origin {
        pid: thread.pid,
        tid: thread.tid,
        thread: thread.name.as_deref(),
        process: thread.pid.and_then(|pid| log.process_name(pid)),
    };
    let time = wall.and_then(Result::ok).map(|wall| wall.to_string());
    Line { r#type, ts, ts_guessed, time, origin, body }
}

/// A value in its own JSON type.
struct JsonArg<'a>(Arg<'a>);

impl Serialize for JsonArg<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Arg::Str(text) => serializer.serialize_str(text),
            Arg::Int(value) => serializer.serialize_i64(value),
            Arg::Uint(value) => serializer.serialize_u64(value),
            Arg::Float(value) if value.is_finite() => serializer.serialize_f64(value),
            Arg::Float(value) => serializer.collect_str(&value),
            Arg::Bool(value) => serializer.serialize_bool(value),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
