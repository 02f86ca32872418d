//! Packets that make a log visible in Perfetto's UI without a query.
//!
//! The UI shows `ProtoLog` messages nowhere by itself, of any version. It has a table and a track
//! for logs of Android, so each message becomes one of these, beside the message as it is; a loss
//! becomes one, too, and a mark on a track of its own. Threads get their names, and chosen
//! arguments become counters.
//!
//! A trace that has such packets gets new ones in their place, with the counters that they had.
//!
//! Invariants: all is appended, on sequences that the trace does not have, in packets whose first
//! field says what they are for. So they are found again, and replaced. Only slices without a name
//! get one where they are. What needs the wall clock, as the times of Android's logs do, is counted
//! where the trace does not know it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use protolog_core::schema::{
    debug_annotation, packet, process_descriptor, sequence_flags, thread_descriptor,
    track_descriptor, track_event,
};
use protolog_core::{Arg, Level};
use protolog_recording::PacketWriter;
use protozero::{Heap, Message};

use crate::damage::limits::Limits;
use crate::inputs::pid_apart::name_suffix;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::log::log_items::Item;
use crate::log::render::Rendering;
use crate::log::values::beginning;
use crate::output::earlier_ui::{CounterArg, TRACK_COUNTER, TRACK_NAME, without_perfetto_ui};
use crate::output::slice_names;
use crate::output::task_tracks::{self, Task};
use crate::sequences::thread::Thread;
use crate::spans::slices::SliceRepair;
use crate::spans::span_slice::SpanSlice;
use crate::traces::read_error::{ReadError, ReadErrorKind};
use crate::traces::whole_trace::Trace;

/// `TracePacket.android_log`
const ANDROID_LOG: u32 = 39;
/// `AndroidLogPacket.events`
const EVENTS: u32 = 1;
/// The fields of `AndroidLogPacket.LogEvent`.
mod log_event {
    pub(super) const LOG_ID: u32 = 1;
    pub(super) const PID: u32 = 2;
    pub(super) const TID: u32 = 3;
    pub(super) const TIMESTAMP: u32 = 5;
    pub(super) const TAG: u32 = 6;
    pub(super) const PRIORITY: u32 = 7;
    pub(super) const MESSAGE: u32 = 8;
}
/// `TrackDescriptor.parent_uuid`
const TRACK_PARENT: u32 = 5;
/// `TrackEvent.double_counter_value`
const COUNTER_VALUE: u32 = 44;
/// A value of `TrackEvent.type`.
const TYPE_COUNTER: u32 = 4;

/// The bytes of a name that each message repeats.
const MOST_OF_NAME: usize = 256;
/// Events of one packet.
const BATCH: usize = 256;
/// The first track of ours; those of processes and threads are made of their ids.
const FIRST_TRACK: u64 = 0x7072_6f74_6f6c_6f67;
/// The name of a span of which only the end is known.
const BEGIN_LOST: &str = "(its begin was lost)";
/// The sequence of the added packets: the traces' own sequences are numbered from 1.
const SEQUENCE: u32 = 0x7fff_0000;

/// The amounts that were added for the UI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedForUi {
    /// Messages and losses in the table of logs.
    pub events: u64,
    /// Messages that are not, since the trace does not relate its clock to the wall clock.
    pub without_wall_clock: u64,
    /// Values of each counter, in the order in which they were asked for.
    pub counter_values: Vec<u64>,
    /// Texts and names of slices that are left out, since the trace expands to more than its limit.
    pub cut_texts: u64,
}

/// The trace with the packets that the UI shows, in place of such packets that it had. Counters
/// that it had stay, behind those that are asked for.
///
/// The texts of messages may be so many times the size of the trace, as [`Limits::of_expansion`]
/// says.
///
/// # Errors
///
/// If the trace can't be read.
pub fn for_perfetto_ui(
    trace: Vec<u8>,
    counters: &[CounterArg],
    expansion: u64,
) -> Result<(Vec<u8>, AddedForUi), ReadError> {
    let (trace, known) = without_perfetto_ui(trace);
    let is_asked_for = |known: &CounterArg| {
        counters.iter().any(|it| it.argument == known.argument && it.is_of(&known.template))
    };
    let kept = known.into_iter().filter(|known| !is_asked_for(known));
    let counters: Vec<CounterArg> = counters.iter().cloned().chain(kept).collect();
    let limits = Limits::of_expansion(trace.len() as u64, expansion);
    let log = Trace::from_bytes(trace.clone()).with_limits(limits).with_slices().read()?;
    let most = limits.named_texts;
    let (mut trace, cut_names) = slice_names::with_names(trace, log.dictionary(), most);
    let mut added = write(&log, &counters, &mut trace).map_err(ReadErrorKind::Io)?;
    added.cut_texts += cut_names;
    Ok((trace, added))
}

/// The packets to append to a trace that was just written, so that the UI shows it.
///
/// # Errors
///
/// If the trace can't be read.
pub fn perfetto_ui_packets(trace: &[u8]) -> Result<Vec<u8>, ReadError> {
    let log = Trace::from_bytes(trace.to_vec()).with_slices().read()?;
    let mut packets = Vec::new();
    write(&log, &[], &mut packets).map_err(ReadErrorKind::Io)?;
    Ok(packets)
}

/// Appends the packets that the UI shows to `out`, which has the trace of `log`.
fn write(log: &Log, counters: &[CounterArg], out: &mut dyn Write) -> io::Result<AddedForUi> {
    let (counter_values, cut_texts) = (vec![0; counters.len()], log.stats().cut_texts);
    let added = AddedForUi { counter_values, cut_texts, ..AddedForUi::default() };
    let mut ui = UiWriter {
        log,
        counters,
        to: PacketWriter::new(out),
        events: Vec::new(),
        tracks: HashMap::new(),
        added,
    };
    ui.name_threads()?;
    for item in log.items() {
        ui.item(item)?;
    }
    ui.flush_events()?;
    for repair in log.slice_repairs() {
        ui.repair(*repair)?;
    }
    for (at, task) in task_tracks::tasks(log).iter().enumerate() {
        ui.task(at, task)?;
    }
    Ok(ui.added)
}

/// The use of a track of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TrackKey {
    Losses,
    /// A counter, and the message that it is an argument of.
    Counter(usize, u64),
    /// A process of which the trace has no track.
    Process(u32),
    /// A task, and which of its tracks.
    Task(usize, usize),
}

/// The kind of a track of ours.
#[derive(Clone, Copy, Debug)]
enum TrackKind {
    Plain,
    Counter,
    /// Below the track with this number.
    ChildOf(Option<u64>),
}

/// An event of the table of logs.
struct LogEvent<'a> {
    wall: i64,
    thread: &'a Thread,
    tag: &'a str,
    /// As in Android: 2 for verbose to 7 for fatal.
    priority: u32,
    text: String,
}

struct UiWriter<'a, 'b> {
    log: &'a Log,
    counters: &'a [CounterArg],
    to: PacketWriter<'b>,
    events: Vec<LogEvent<'a>>,
    tracks: HashMap<TrackKey, u64>,
    added: AddedForUi,
}

/// The beginning of a text with a name in it, with a mark where it ends: a name stands in the trace
/// once, however many messages have it.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_OF_NAME {
        return text.into();
    }
    format!("{}…", beginning(text, MOST_OF_NAME)).into()
}

impl<'a> UiWriter<'a, '_> {
    /// Names threads and processes by descriptors, not by tracks: trace_processor takes a second
    /// track of a thread for another thread.
    fn name_threads(&mut self) -> io::Result<()> {
        let mut processes = BTreeMap::new();
        for thread in self.log.threads() {
            let (Some(own), Some(tid)) = (thread.pid, thread.tid) else { continue };
            let Some(pid) = self.log.pid_apart(thread) else { continue };
            processes.insert(pid, (own, self.log.process_name(thread)));
            self.write(|to| {
                if pid != own {
                    to.uint32(packet::LOCAL_PID, own);
                }
                to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
                let mut fields = to.nested(packet::THREAD_DESCRIPTOR);
                fields.uint32(thread_descriptor::PID, pid).uint32(thread_descriptor::TID, tid);
                if let Some(name) = &thread.name {
                    fields.string(thread_descriptor::THREAD_NAME, name);
                }
            })?;
        }
        for (pid, (own, name)) in processes {
            let Some(name) = name else { continue };
            let mut name = Cow::Borrowed(name);
            self.write(|to| {
                if pid != own {
                    to.uint32(packet::LOCAL_PID, own);
                    name.to_mut().push_str(&name_suffix(own));
                }
                to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
                let mut fields = to.nested(packet::PROCESS_DESCRIPTOR);
                fields.uint32(process_descriptor::PID, pid);
                fields.string(process_descriptor::PROCESS_NAME, &name);
            })?;
        }
        Ok(())
    }

    fn item(&mut self, item: Item<'a>) -> io::Result<()> {
        match item {
            Item::Entry(entry) => {
                self.counters_of(&entry)?;
                let values = entry.values();
                let group = values.group(self.log);
                let tag =
                    group.map_or(
                        "?",
                        |group| if group.tag.is_empty() { &group.name } else { &group.tag },
                    );
                let mut text = values.text(Rendering::Full);
                if let Some(stack) = entry.stack_trace() {
                    text.push('\n');
                    text.push_str(stack);
                }
                self.event(entry.time(), entry.thread(), tag, values.level(), text)
            }
            // Slices are in the trace already.
            Item::SpanBegin(_) | Item::SpanEnd(_) => Ok(()),
            Item::Loss(loss) => {
                let text = shortened(&self.log.describe(loss)).into_owned();
                let track = self.track(TrackKey::Losses, "lost messages", TrackKind::Plain)?;
                self.track_event(loss.time, track, |event| {
                    event.uint32(track_event::TYPE, track_event::TYPE_INSTANT);
                    event.string(track_event::NAME, &text);
                })?;
                let thread = self.log.thread_of(loss);
                self.event(loss.time, thread, "LOST", Some(Level::Warn), text)
            }
        }
    }

    /// Adds the edge of a span that was lost: an end of another span would pass for its end, and
    /// whatever follows would be within it.
    fn repair(&mut self, repair: SliceRepair) -> io::Result<()> {
        let SliceRepair { track, time, is_end } = repair;
        self.track_event(time, track, |event| {
            let (kind, mark) = if is_end {
                (track_event::TYPE_SLICE_END, "end_lost")
            } else {
                event.string(track_event::NAME, BEGIN_LOST);
                (track_event::TYPE_SLICE_BEGIN, "begin_lost")
            };
            event.uint32(track_event::TYPE, kind);
            let mut annotation = event.nested(track_event::DEBUG_ANNOTATIONS);
            annotation.string(debug_annotation::NAME, mark);
            annotation.bool(debug_annotation::BOOL_VALUE, true);
        })
    }

    /// Adds the tracks of a task.
    fn task(&mut self, at: usize, task: &Task) -> io::Result<()> {
        let slices = self.log.slices();
        let name = shortened(&slices[task.slice].beginning(MOST_OF_NAME + 4)).into_owned();
        let kind = TrackKind::ChildOf(self.process_track(&slices[task.slice])?);
        for (lane, edges) in task.tracks.iter().enumerate() {
            let track = self.track(TrackKey::Task(at, lane), &name, kind)?;
            for edge in edges {
                self.track_event(edge.time, track, |event| match edge.begins {
                    Some(slice) => {
                        let SpanSlice { name, target, .. } = &slices[slice];
                        event
                            .uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN)
                            .string(track_event::CATEGORIES, &shortened(target))
                            .string(track_event::NAME, &shortened(name));
                    }
                    None => {
                        event.uint32(track_event::TYPE, track_event::TYPE_SLICE_END);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Adds an event to the table of logs.
    fn event(
        &mut self,
        time: i64,
        thread: &'a Thread,
        tag: &'a str,
        level: Option<Level>,
        text: String,
    ) -> io::Result<()> {
        let Some(wall) = self.log.wall_time(time) else {
            self.added.without_wall_clock += 1;
            return Ok(());
        };
        // The table needs one of messages in no dictionary, too.
        let priority = level.unwrap_or(Level::Info) as u32 + 2;
        self.events.push(LogEvent { wall, thread, tag, priority, text });
        self.added.events += 1;
        if self.events.len() == BATCH { self.flush_events() } else { Ok(()) }
    }

    fn flush_events(&mut self) -> io::Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        let (events, log_of) = (std::mem::take(&mut self.events), self.log);
        self.write(|to| {
            let mut log = to.nested(ANDROID_LOG);
            for LogEvent { wall, thread, tag, priority, text } in &events {
                let mut event = log.nested(EVENTS);
                event.uint32(log_event::LOG_ID, 0);
                event.uint32(log_event::PID, log_of.pid_apart(thread).unwrap_or(0));
                event.uint32(log_event::TID, thread.tid.unwrap_or(0));
                event.uint64(log_event::TIMESTAMP, *wall as u64);
                event
                    .string(log_event::TAG, &shortened(tag))
                    .uint32(log_event::PRIORITY, *priority);
                event.string(log_event::MESSAGE, text);
            }
        })
    }

    /// Adds the values of the arguments of an entry that are counters.
    fn counters_of(&mut self, entry: &Entry<'a>) -> io::Result<()> {
        let Some(message) = entry.message().filter(|_| !self.counters.is_empty()) else {
            return Ok(());
        };
        for (index, counter) in self.counters.iter().enumerate() {
            if !counter.is_of(message.template()) {
                continue;
            }
            let value = match entry.values().args().get(counter.argument.wrapping_sub(1)) {
                Some(Arg::Int(value)) => *value as f64,
                Some(Arg::Uint(value)) => *value as f64,
                Some(Arg::Float(value)) => *value,
                Some(Arg::Bool(value)) => f64::from(u8::from(*value)),
                Some(Arg::Str(_)) | None => continue,
            };
            // `counter_of` reads it.
            let name = format!("{} [{}]", message.template(), counter.argument);
            let track = self.track(
                TrackKey::Counter(index, entry.message_id()),
                &name,
                TrackKind::Counter,
            )?;
            self.track_event(entry.time(), track, |event| {
                event.uint32(track_event::TYPE, TYPE_COUNTER).double(COUNTER_VALUE, value);
            })?;
            self.added.counter_values[index] += 1;
        }
        Ok(())
    }

    /// The id of a track of ours, which is described when it is first asked for.
    fn track(&mut self, key: TrackKey, name: &str, kind: TrackKind) -> io::Result<u64> {
        let (track, is_new) = self.track_id(key);
        if is_new {
            self.write(|to| {
                let mut descriptor = to.nested(packet::TRACK_DESCRIPTOR);
                descriptor.uint64(track_descriptor::UUID, track).string(TRACK_NAME, name);
                match kind {
                    TrackKind::Counter => drop(descriptor.nested(TRACK_COUNTER)),
                    TrackKind::ChildOf(Some(parent)) => {
                        descriptor.uint64(TRACK_PARENT, parent);
                    }
                    TrackKind::Plain | TrackKind::ChildOf(None) => {}
                }
            })?;
        }
        Ok(track)
    }

    /// The id of a track of ours, and whether it is asked for the first time.
    fn track_id(&mut self, key: TrackKey) -> (u64, bool) {
        let next = FIRST_TRACK + self.tracks.len() as u64;
        let track = *self.tracks.entry(key).or_insert(next);
        (track, track == next)
    }

    /// The track of the process of a slice: the one that the trace has, since trace_processor takes
    /// a second one for that of another process with its pid.
    fn process_track(&mut self, slice: &SpanSlice) -> io::Result<Option<u64>> {
        let thread = self.log.thread_of_slice(slice);
        if let Some(known) = self.log.process_track(thread) {
            return Ok(Some(known));
        }
        let (Some(pid), Some(own)) = (self.log.pid_apart(thread), thread.pid) else {
            return Ok(None);
        };
        let (track, is_new) = self.track_id(TrackKey::Process(pid));
        if is_new {
            self.write(|to| {
                if pid != own {
                    to.uint32(packet::LOCAL_PID, own);
                }
                let mut descriptor = to.nested(packet::TRACK_DESCRIPTOR);
                descriptor.uint64(track_descriptor::UUID, track);
                descriptor.nested(track_descriptor::PROCESS).uint32(process_descriptor::PID, pid);
            })?;
        }
        Ok(Some(track))
    }

    /// Writes a packet that is known by its first field.
    fn write(&mut self, fill: impl FnOnce(&mut Message<'_, Heap>)) -> io::Result<()> {
        self.to.write_with(SEQUENCE, |to| {
            to.bool(packet::FOR_UI, true);
            fill(to);
        })
    }

    fn track_event(
        &mut self,
        time: i64,
        track: u64,
        fill: impl FnOnce(&mut Message<'_, Heap>),
    ) -> io::Result<()> {
        self.write(|to| {
            to.uint64(packet::TIMESTAMP, time as u64);
            let mut event = to.nested(packet::TRACK_EVENT);
            event.uint64(track_event::TRACK_UUID, track);
            fill(&mut event);
        })
    }
}
