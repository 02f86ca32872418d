//! A trace made of the items of an archive: what `read-log`, `view`, `diff` and `merge` show of it
//! is what they show of the trace that was exported.
//!
//! ```text
//! sequence 1     dictionary, clocks, processes
//! 2 …            the items of one thread each
//! ```
//!
//! The trace says itself all that the archive says: a loss that the reader had found in the
//! exported trace is a record here, and so is a time that was a guess.
//!
//! Invariant: packets are in the order of the items.

use std::collections::BTreeMap;
use std::io::{self, Write};

use foldhash::HashMap;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, group, interned_data, interned_string, message, message_data,
    message_hints, packet, process_descriptor, request, sequence_flags, sequence_info, track_event,
    viewer_config,
};
use protolog_core::{Arg, Conversion, Level, ParamKind, Template};
use protolog_recording::PacketWriter;
use protozero::{Heap, Message};
use serde_json::Value as Json;

use super::items::{ItemKind, ItemRow, TemplateRecord, Templates};
use super::lines::{args, rate};

mod losses;
mod request_numbers;
mod spans;

use request_numbers::RequestNumbers;
use spans::Tracks;

/// The sequence of what is about the whole trace.
const TRACE: u32 = 1;

/// The most strings that a sequence has defined at a time.
const MOST_STRINGS: usize = 4096;

/// See the module.
pub(super) struct TraceMaker<'a> {
    to: PacketWriter<'a>,
    templates: HashMap<(String, i64), Form>,
    groups: BTreeMap<String, u32>,
    threads: HashMap<ThreadName, ThreadState>,
    /// The names of the processes of each pid: the place, from 1, is the fingerprint.
    processes: HashMap<i64, Vec<Option<String>>>,
    /// The trace's clock minus the wall clock.
    offset: Option<i64>,
    sequences: u32,
    /// The threads of which a span ended whose end was lost, where no event has shown it yet.
    over: Vec<ThreadName>,
    requests: RequestNumbers,
}

/// The values that rows of one message share.
struct Form {
    id: u64,
    template: Option<String>,
}

/// The key of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ThreadName {
    pid: Option<i64>,
    tid: Option<i64>,
    process: Option<String>,
    thread: Option<String>,
}

/// The sequence of a thread.
#[derive(Default)]
struct ThreadState {
    sequence: u32,
    is_begun: bool,
    /// Ids of strings, and of stack traces.
    strings: [HashMap<String, u64>; 2],
    tracks: Tracks,
    /// The request of the last message.
    request: Option<String>,
}

impl<'a> TraceMaker<'a> {
    /// Writes the dictionary.
    pub(super) fn begin(out: &'a mut dyn Write, templates: &Templates) -> io::Result<Self> {
        let mut to = PacketWriter::new(out);
        let mut groups: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for record in templates.values() {
            if let Some(key) = group_of(record) {
                let next = groups.len() as u32 + 1;
                groups.entry(key).or_insert(next);
            }
        }
        to.write_with(TRACE, |packet| {
            let mut config = packet.nested(packet::PROTOLOG_VIEWER_CONFIG);
            for ((id, _), record) in templates {
                let mut data = config.nested(viewer_config::MESSAGES);
                data.fixed64(message_data::MESSAGE_ID, number_of(id));
                write_message(&mut data, record, group_of(record).map(|key| groups[&key]));
            }
            for ((name, tag), id) in &groups {
                config
                    .nested(viewer_config::GROUPS)
                    .uint32(group::ID, *id)
                    .bytes(group::NAME, name.as_bytes())
                    .bytes(group::TAG, tag.as_bytes());
            }
        })?;
        let form = |((id, variant), record): (&(String, i64), &TemplateRecord)| {
            let template = record.template.clone();
            let template = Template::parse(&template).is_ok().then_some(template);
            ((id.clone(), *variant), Form { id: number_of(id), template })
        };
        Ok(Self {
            to,
            templates: templates.iter().map(form).collect(),
            groups: groups.into_iter().map(|((name, _), id)| (name.to_owned(), id)).collect(),
            threads: HashMap::default(),
            processes: HashMap::default(),
            offset: None,
            sequences: TRACE,
            over: Vec::new(),
            requests: RequestNumbers::default(),
        })
    }

    /// Writes the packet of an item, after what it needs to be known.
    pub(super) fn write(&mut self, item: ItemRow<'_>) -> io::Result<()> {
        if item.kind == ItemKind::Unended {
            return self.write_unended(item);
        }
        let (time, wall) = (item.trace_time(), item.wall_time());
        // What sampling passed over stands behind all items, whatever its time is.
        if let Some(wall) = wall.filter(|_| item.kind != ItemKind::PassedOver)
            && self.offset != Some(time.wrapping_sub(wall))
        {
            self.offset = Some(time.wrapping_sub(wall));
            self.write_clocks(time, wall)?;
        }
        let name = ThreadName::of(item);
        self.show_lost_ends(Some((&name, item)))?;
        if !self.threads.get(&name).is_some_and(|thread| thread.is_begun) {
            self.begin_thread(&name)?;
        }
        match item.kind {
            ItemKind::Message => self.write_entry(item, &name),
            ItemKind::Loss => self.write_loss(item, &name),
            ItemKind::SpanBegin | ItemKind::SpanEnd => {
                let Self { to, threads, over, .. } = self;
                let Some(thread) = threads.get_mut(&name) else { return Ok(()) };
                let sequence = thread.sequence;
                thread.tracks.write(to, sequence, item, |packet| set_time(packet, item))?;
                if thread.tracks.over_at().is_some() {
                    over.push(name);
                }
                Ok(())
            }
            ItemKind::PassedOver => self.write_passed_over(item, &name),
            ItemKind::Unended => Ok(()),
        }
    }

    /// Writes what only the end of the items shows.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.show_lost_ends(None)
    }

    /// Writes events that show lost ends, unless the next item of the thread does so itself: a
    /// begin at that time.
    fn show_lost_ends(&mut self, next: Option<(&ThreadName, ItemRow<'_>)>) -> io::Result<()> {
        for name in std::mem::take(&mut self.over) {
            let Some(thread) = self.threads.get_mut(&name) else { continue };
            let is_shown = next.is_some_and(|(next, item)| {
                let time = (item.kind == ItemKind::SpanBegin).then(|| item.trace_time());
                *next == name && time == thread.tracks.over_at()
            });
            if !is_shown {
                thread.tracks.show_lost_ends(&mut self.to, thread.sequence)?;
            }
        }
        Ok(())
    }

    /// Relates the trace's clock to the wall clock from this time on.
    fn write_clocks(&mut self, time: i64, wall: i64) -> io::Result<()> {
        self.to.write_with(TRACE, |packet| {
            let mut snapshot = packet.nested(packet::CLOCK_SNAPSHOT);
            for (id, ns) in [(clock_id::BOOTTIME, time), (clock_id::REALTIME, wall)] {
                snapshot
                    .nested(clock_snapshot::CLOCKS)
                    .uint32(clock::CLOCK_ID, id)
                    .uint64(clock::TIMESTAMP, ns as u64);
            }
        })
    }

    /// Names a thread, and its process if that is new.
    fn begin_thread(&mut self, name: &ThreadName) -> io::Result<()> {
        let fingerprint = self.name_process(name)?;
        self.sequences += 1;
        let sequence = self.sequences;
        self.to.write_with(sequence, |packet| {
            packet.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            if name.pid.is_none() && name.tid.is_none() && name.thread.is_none() {
                return;
            }
            let mut info = packet.nested(packet::SEQUENCE_INFO);
            for (number, id) in [(sequence_info::PID, name.pid), (sequence_info::TID, name.tid)] {
                if let Some(id) = id {
                    info.uint32(number, id as u32);
                }
            }
            if let Some(name) = &name.thread {
                info.bytes(sequence_info::THREAD_NAME, name.as_bytes());
            }
            if let Some(fingerprint) = fingerprint {
                info.fixed64(sequence_info::PROCESS, fingerprint);
            }
        })?;
        let state = ThreadState { sequence, is_begun: true, ..ThreadState::default() };
        self.threads.insert(name.clone(), state);
        Ok(())
    }

    /// Names the process of a thread. Returns what tells it from another one with its pid.
    fn name_process(&mut self, of: &ThreadName) -> io::Result<Option<u64>> {
        let Some(pid) = of.pid else { return Ok(None) };
        let known = self.processes.entry(pid).or_default();
        let fingerprint = |place: usize| Some(place as u64 + 1);
        if let Some(place) = known.iter().position(|name| *name == of.process) {
            return Ok(fingerprint(place));
        }
        known.push(of.process.clone());
        let fingerprint = fingerprint(known.len() - 1);
        let Some(name) = &of.process else { return Ok(fingerprint) };
        self.sequences += 1;
        self.to.write_with(self.sequences, |packet| {
            packet
                .nested(packet::PROCESS_DESCRIPTOR)
                .uint32(process_descriptor::PID, pid as u32)
                .bytes(process_descriptor::PROCESS_NAME, name.as_bytes());
            let mut info = packet.nested(packet::SEQUENCE_INFO);
            info.uint32(sequence_info::PID, pid as u32);
            if let Some(fingerprint) = fingerprint {
                info.fixed64(sequence_info::PROCESS, fingerprint);
            }
        })?;
        Ok(fingerprint)
    }

    /// Writes the mark of the request that a message belongs to, unless the thread is in it.
    fn write_request(&mut self, item: ItemRow<'_>, name: &ThreadName) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(name) else { return Ok(()) };
        let id = item.text("request");
        // With its strings a sequence forgets the request, so that comes after.
        let is_forgotten = id.is_some() && thread.forget_strings();
        if thread.request.as_deref() == id && !is_forgotten {
            return Ok(());
        }
        thread.request = id.map(str::to_owned);
        let named = id.map(|id| (self.requests.of(id), id));
        self.to.write_with(thread.sequence, |packet| {
            if is_forgotten {
                packet.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            }
            let mut mark = packet.nested(packet::REQUEST);
            if let Some((number, id)) = named {
                mark.uint64(request::NUMBER, number).bytes(request::ID, id.as_bytes());
            }
        })
    }

    fn write_entry(&mut self, item: ItemRow<'_>, name: &ThreadName) -> io::Result<()> {
        self.write_request(item, name)?;
        let Self { to, templates, threads, .. } = self;
        let Some(thread) = threads.get_mut(name) else { return Ok(()) };
        let id = item.text("id").unwrap_or_default();
        let form = templates.get(&(id.to_owned(), item.int("variant").unwrap_or(0)));
        let template = form.and_then(|form| Template::parse(form.template.as_deref()?).ok());
        // Rows that fit no template have their values as JSON.
        let json: Vec<Json> = item
            .text("args")
            .map_or_else(Vec::new, |args| serde_json::from_str(args).unwrap_or_default());
        let values: Vec<Arg<'_>> = match &template {
            Some(template) if item.text("args").is_none() => args(item, template),
            _ => {
                let text = item.text("text").unwrap_or_default();
                let of = |value| arg_of(value, template.as_ref(), text);
                json.iter().filter_map(of).collect()
            }
        };
        let stack_trace = item.text("stack_trace");
        to.write_with(thread.sequence, |packet| {
            set_time(packet, item);
            thread.define(packet, &values, stack_trace);
            let mut out = packet.nested(packet::PROTOLOG_MESSAGE);
            out.fixed64(message::MESSAGE_ID, form.map_or_else(|| number_of(id), |form| form.id));
            let mut unsigned = 0;
            for (index, value) in values.iter().enumerate() {
                match value {
                    Arg::Str(text) => {
                        out.uint64(message::STR_PARAM_IIDS, thread.strings[0][*text]);
                    }
                    Arg::Int(value) => {
                        out.sint64(message::SINT64_PARAMS, *value);
                    }
                    Arg::Uint(value) => {
                        unsigned |= 1_u32.checked_shl(index as u32).unwrap_or(0);
                        out.sint64(message::SINT64_PARAMS, *value as i64);
                    }
                    Arg::Float(value) => {
                        out.double(message::DOUBLE_PARAMS, *value);
                    }
                    Arg::Bool(value) => {
                        out.int32(message::BOOLEAN_PARAMS, i32::from(*value));
                    }
                }
            }
            if let Some(text) = stack_trace {
                out.uint64(message::STACKTRACE_IID, thread.strings[1][text]);
            }
            if unsigned != 0 {
                out.uint32(message::UNSIGNED, unsigned);
            }
            if let Some(rate) = rate(item) {
                out.uint32(message::RATE_OF, rate.of());
                out.uint32(message::RATE_KEPT, rate.kept());
                if let Some(number) = rate.by() {
                    out.uint32(message::RATE_BY, number.into());
                }
            }
        })
    }

    /// The id of a group, which gets one now if the dictionary lacks it.
    fn group(&mut self, name: &str) -> io::Result<u32> {
        if let Some(id) = self.groups.get(name) {
            return Ok(*id);
        }
        // Ids of messages' groups count from 1.
        let id = (1 << 20) + self.groups.len() as u32;
        self.groups.insert(name.to_owned(), id);
        self.to.write_with(TRACE, |packet| {
            packet
                .nested(packet::PROTOLOG_VIEWER_CONFIG)
                .nested(viewer_config::GROUPS)
                .uint32(group::ID, id)
                .bytes(group::NAME, name.as_bytes());
        })?;
        Ok(id)
    }

    /// Writes a session that begins, and does not end.
    fn write_unended(&mut self, item: ItemRow<'_>) -> io::Result<()> {
        let pid = item.int("pid").unwrap_or(0) as u32;
        self.sequences += 1;
        self.to.write_with(self.sequences, |packet| {
            packet.nested(packet::PROCESS_DESCRIPTOR).uint32(process_descriptor::PID, pid).bytes(
                process_descriptor::PROCESS_NAME,
                item.text("process").unwrap_or_default().as_bytes(),
            );
            packet.nested(packet::SEQUENCE_INFO).uint32(sequence_info::PID, pid);
            packet
                .nested(packet::TRACK_EVENT)
                .uint32(track_event::TYPE, track_event::TYPE_INSTANT)
                .bytes(track_event::NAME, b"protolog session started");
        })
    }
}

impl ThreadName {
    fn of(item: ItemRow<'_>) -> Self {
        let text = |column| item.text(column).map(str::to_owned);
        let (pid, tid) = (item.int("pid"), item.int("tid"));
        Self { pid, tid, process: text("process"), thread: text("thread") }
    }
}

impl ThreadState {
    /// Forgets the strings if they are many; the next packet has to say so.
    fn forget_strings(&mut self) -> bool {
        let are_many = self.strings.iter().any(|strings| strings.len() > MOST_STRINGS);
        if are_many {
            self.strings.iter_mut().for_each(HashMap::clear);
        }
        are_many
    }

    /// Defines the strings that a packet needs, and the sequence has not.
    fn define(
        &mut self,
        packet: &mut Message<'_, Heap>,
        values: &[Arg<'_>],
        stack_trace: Option<&str>,
    ) {
        let mut flags = sequence_flags::NEEDS_INCREMENTAL_STATE;
        if self.forget_strings() {
            flags |= sequence_flags::INCREMENTAL_STATE_CLEARED;
        }
        packet.uint32(packet::SEQUENCE_FLAGS, flags);
        let texts = values.iter().filter_map(|value| match value {
            Arg::Str(text) => Some((0, *text)),
            _ => None,
        });
        let mut new: Vec<(usize, &str, u64)> = Vec::new();
        for (table, text) in texts.chain(stack_trace.map(|text| (1, text))) {
            let strings = &mut self.strings[table];
            if !strings.contains_key(text) {
                let id = strings.len() as u64 + 1;
                strings.insert(text.to_owned(), id);
                new.push((table, text, id));
            }
        }
        if new.is_empty() {
            return;
        }
        let mut interned = packet.nested(packet::INTERNED_DATA);
        for (table, text, id) in new {
            let fields = [interned_data::PROTOLOG_STRING_ARGS, interned_data::PROTOLOG_STACKTRACE];
            interned
                .nested(fields[table])
                .uint64(interned_string::IID, id)
                .bytes(interned_string::STR, text.as_bytes());
        }
    }
}

/// Sets the time of a packet.
fn set_time(packet: &mut Message<'_, Heap>, item: ItemRow<'_>) {
    packet.uint64(packet::TIMESTAMP, item.trace_time() as u64);
    packet.uint32(packet::TIMESTAMP_CLOCK_ID, clock_id::BOOTTIME);
    if item.is("time_guessed") {
        packet.bool(packet::TIME_IS_GUESS, true);
    }
}

/// The name and tag of the group of a message; none if it has none.
fn group_of(record: &TemplateRecord) -> Option<(&str, &str)> {
    Some((record.group.as_deref()?, record.tag.as_deref().unwrap_or_default()))
}

fn write_message(data: &mut Message<'_, Heap>, record: &TemplateRecord, group: Option<u32>) {
    let template = Template::parse(&record.template);
    let bare = template.map_or_else(|_| record.template.clone(), |it| it.bare().to_string());
    data.bytes(message_data::MESSAGE, bare.as_bytes());
    if let Some(level) = record.level.as_deref().and_then(level_of) {
        data.uint32(message_data::LEVEL, level.wire());
    }
    if let Some(group) = group {
        data.uint32(message_data::GROUP_ID, group);
    }
    if !record.location.is_empty() {
        data.bytes(message_data::LOCATION, record.location.as_bytes());
    }
    if bare != record.template || !record.names.is_empty() {
        let mut hints = data.nested(message_data::HINTS);
        if bare != record.template {
            hints.bytes(message_hints::TEMPLATE, record.template.as_bytes());
        }
        if !record.names.is_empty() {
            hints.bytes(message_hints::NAMES, record.names.as_bytes());
        }
    }
}

/// The level with this name.
fn level_of(name: &str) -> Option<Level> {
    Level::ALL.into_iter().find(|level| level.name() == name)
}

/// An id from its text.
fn number_of(id: &str) -> u64 {
    u64::from_str_radix(id, 16).unwrap_or(0)
}

/// A value in JSON, as `read-log` prints it, of a message with this text.
fn arg_of<'a>(value: &'a Json, template: Option<&Template<'_>>, text: &str) -> Option<Arg<'a>> {
    let kind = |conversion: Conversion| conversion.verb.kind();
    let has_floats =
        template.is_none_or(|it| it.conversions().map(kind).any(|it| it == ParamKind::Float));
    // JSON has no number for these floats. A text in a list of values is quoted.
    let is_float = |it: &str| {
        has_floats && matches!(it, "NaN" | "inf" | "-inf") && !text.contains(&format!("\"{it}\""))
    };
    Some(match value {
        Json::String(text) if is_float(text) => Arg::Float(text.parse().ok()?),
        Json::String(text) => Arg::Str(text),
        Json::Bool(value) => Arg::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Arg::Int(value),
            (None, Some(value)) => Arg::Uint(value),
            (None, None) => Arg::Float(number.as_f64()?),
        },
        _ => return None,
    })
}
