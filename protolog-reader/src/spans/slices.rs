//! Slices: the spans of the `tracing` bridge, as threads entered and left them.
//!
//! A slice is two events on a track, which may be far apart. They are collected with the packets,
//! and matched by time after the last one. Names and arguments may be interned, as Perfetto's SDK
//! writes them. Of a trace that is being written, the events so far are matched, and the slices
//! that are open then are kept for the ends that follow.
//!
//! Events of ours have the depth of their slices. So where an end was lost, the next event of the
//! thread says it: a slice that can't be open then had ended by that time. An end whose begin was
//! lost ends no other slice. Readers that match ends by their order alone do otherwise; for them,
//! the edges that were lost are kept as [`SliceRepair`]s.
//!
//! Invariants: slices of a track are nested; an end belongs to the innermost slice that is open, or
//! to that of its depth. One without a begin is counted, and a slice without an end is open until
//! the trace ends, or the next event of which it can't be. Memory is in proportion to the events,
//! or to the open slices of a trace that is being written: events share a text that is interned,
//! however many refer to it.

use foldhash::HashMap;
use std::mem;
use std::sync::Arc;

use protolog_core::schema::{debug_annotation, packet, track_event};
use protozero::{DecodeError, Field};

use crate::clocks::Moment;
use crate::sequences::sequence_state::parse_interned;
use crate::sequences::thread;
use crate::spans::span_slice::{SpanArg, SpanProgress, SpanSlice};

/// `InternedData.event_categories`, `event_names` and `debug_annotation_names`.
const INTERNED: [u32; 3] = [CATEGORIES, NAMES, ARG_NAMES];
const CATEGORIES: u32 = 1;
const NAMES: u32 = 2;
const ARG_NAMES: u32 = 3;
/// `TrackEvent.category_iids`
const CATEGORY_IIDS: u32 = 3;
/// `TrackEvent.name_iid`
const NAME_IID: u32 = 10;
/// `DebugAnnotation.name_iid`
const ARG_NAME_IID: u32 = 1;
/// `TracePacketDefaults.track_event_defaults`
const TRACK_EVENT_DEFAULTS: u32 = 11;
/// `TrackEventDefaults.track_uuid`
const DEFAULT_TRACK: u32 = 11;

/// The most bytes of the categories of an event that has several: two bytes of it name one, however
/// long that is.
const MOST_OF_SEVERAL: usize = 256;

/// A begin or an end of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceEdge {
    pub(crate) time: i64,
    pub(crate) slice: u32,
    pub(crate) is_end: bool,
}

/// An edge that was lost, where the events around it show that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SliceRepair {
    pub(crate) track: u64,
    /// An end was before the next event of the track, a begin no earlier than the last one.
    pub(crate) time: i64,
    pub(crate) is_end: bool,
}

/// The events of slices so far.
#[derive(Debug, Default)]
pub(crate) struct SliceEvents {
    /// They are left out unless they are asked for.
    pub(crate) are_wanted: bool,
    events: Vec<SliceEvent>,
    /// The memory of the texts of the events, in bytes.
    text_bytes: usize,
    sequences: HashMap<u32, SequenceNames>,
    /// Slices that were open when the last part of a trace ended, by track, the innermost last;
    /// none if the trace is whole.
    open: Option<Tracks<SpanSlice>>,
}

/// Stacks of slices, the innermost last.
type Tracks<T> = HashMap<SliceStack, Vec<T>>;

/// The place where slices are nested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SliceStack {
    /// A track, by its id and its process's fingerprint: processes with one pid use the same track
    /// ids.
    Track(u64, Option<u64>),
    /// That of a thread, where an event names no track.
    Thread(u32),
    /// That of a sequence of which no thread is known.
    Sequence(u32),
}

/// The state of a sequence.
#[derive(Debug, Default)]
struct SequenceNames {
    /// Interned strings, by field and id.
    names: HashMap<(u32, u64), Arc<str>>,
    default_track: u64,
}

#[derive(Debug)]
struct SliceEvent {
    moment: Moment,
    is_end: bool,
    track: SliceStack,
    thread: u32,
    entered: Option<u32>,
    progress: SpanProgress,
    message: Option<u64>,
    name: Arc<str>,
    target: Arc<str>,
    args: Vec<SpanArg>,
}

/// Slices that were matched.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// By begin.
    pub(crate) list: Vec<SpanSlice>,
    /// By time.
    pub(crate) edges: Vec<SliceEdge>,
    /// Ends without a begin.
    pub(crate) unmatched: u64,
    /// In the order of the events that show them, those of one event in the order in which they
    /// were.
    pub(crate) repairs: Vec<SliceRepair>,
}

/// A track while its events are matched.
#[derive(Debug, Default)]
struct OpenTrack {
    /// The slices that are open, the innermost last.
    slices: Vec<u32>,
    /// The time of the event before.
    last: Option<i64>,
}

impl SliceEvents {
    /// Drops the state of a sequence, where its writer does.
    pub(crate) fn clear(&mut self, sequence: u32) {
        self.sequences.remove(&sequence);
    }

    /// Takes the interned strings of a packet.
    pub(crate) fn intern(&mut self, sequence: u32, interned: Field<'_>) -> Result<(), DecodeError> {
        for field in interned.as_message()? {
            let field = field?;
            if INTERNED.contains(&field.number) {
                let (iid, bytes, _) = parse_interned(field)?;
                let names = &mut self.sequences.entry(sequence).or_default().names;
                names.insert((field.number, iid), String::from_utf8_lossy(bytes).into());
            }
        }
        Ok(())
    }

    /// Takes the track of events that name none.
    pub(crate) fn defaults(
        &mut self,
        sequence: u32,
        defaults: Field<'_>,
    ) -> Result<(), DecodeError> {
        for field in defaults.as_message()? {
            let field = field?;
            if field.number != TRACK_EVENT_DEFAULTS {
                continue;
            }
            for field in field.as_message()? {
                let field = field?;
                if field.number == DEFAULT_TRACK {
                    self.sequences.entry(sequence).or_default().default_track = field.as_u64()?;
                }
            }
        }
        Ok(())
    }

    /// Takes an event, with the packet that it is in, if it is one of a slice.
    pub(crate) fn event(
        &mut self,
        sequence: u32,
        (thread, process): (u32, Option<u64>),
        moment: Moment,
        (event, packet): (Field<'_>, Field<'_>),
    ) -> Result<(), DecodeError> {
        let state = self.sequences.entry(sequence).or_default();
        let name_of = |kind: u32, iid: u64| state.names.get(&(kind, iid)).cloned();
        let (mut kind, mut track) = (0, state.default_track);
        let mut targets: Vec<Arc<str>> = Vec::new();
        let (mut name, mut args) = (Arc::default(), Vec::new());
        for field in event.as_message()? {
            let field = field?;
            match field.number {
                track_event::TYPE => kind = field.as_u32()?,
                track_event::TRACK_UUID => track = field.as_u64()?,
                track_event::NAME => name = text(field)?.into(),
                NAME_IID => name = name_of(NAMES, field.as_u64()?).unwrap_or_default(),
                track_event::CATEGORIES => targets.push(text(field)?.into()),
                CATEGORY_IIDS => targets.extend(name_of(CATEGORIES, field.as_u64()?)),
                track_event::DEBUG_ANNOTATIONS => args.extend(arg(field, name_of)?),
                _ => {}
            }
        }
        if [track_event::TYPE_SLICE_BEGIN, track_event::TYPE_SLICE_END].contains(&kind) {
            let is_end = kind == track_event::TYPE_SLICE_END;
            let target = joined(targets);
            let track = match (track, thread) {
                (0, thread::UNKNOWN) => SliceStack::Sequence(sequence),
                (0, thread) => SliceStack::Thread(thread),
                (track, _) => SliceStack::Track(track, process),
            };
            let texts =
                args.iter().map(|arg: &SpanArg| own_bytes(&arg.name) + arg.value.capacity());
            self.text_bytes += texts.sum::<usize>() + args.capacity() * size_of::<SpanArg>();
            self.text_bytes += own_bytes(&name) + own_bytes(&target);
            let (entered, progress, message) = beside(packet)?;
            self.events.push(SliceEvent {
                moment,
                is_end,
                track,
                thread,
                entered,
                progress,
                message,
                name,
                target,
                args,
            });
        }
        Ok(())
    }

    /// Keeps slices that are open for the parts of the trace that follow.
    pub(crate) fn follow(&mut self) {
        (self.are_wanted, self.open) = (true, Some(Tracks::default()));
    }

    /// Those of the next trace of a process, with the slices that are open.
    pub(crate) fn next_trace(&mut self) -> Self {
        Self { are_wanted: self.are_wanted, open: self.open.take(), ..Self::default() }
    }

    /// The memory that grows with the trace, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.events.capacity() * size_of::<SliceEvent>() + self.text_bytes
    }

    /// Matches the events so far, whose moments `convert` takes to the trace's clock.
    pub(crate) fn finish(&mut self, mut convert: impl FnMut(&mut Moment)) -> Slices {
        let mut events = mem::take(&mut self.events);
        self.text_bytes = 0;
        for event in &mut events {
            convert(&mut event.moment);
        }
        // Those of a thread stay in order where times are equal.
        events.sort_by_key(|event| event.moment.ns);
        let may_end = self.open.is_some();
        let mut found = Slices::default();
        let mut open: HashMap<SliceStack, OpenTrack> = HashMap::default();
        for (track, slices) in self.open.take().into_iter().flatten() {
            let first = found.list.len() as u32;
            found.list.extend(slices);
            let slices = (first..found.list.len() as u32).collect();
            open.insert(track, OpenTrack { slices, last: None });
        }
        for event in events {
            let track = event.track;
            found.apply(event, open.entry(track).or_default(), may_end);
        }
        if may_end {
            open.retain(|_, track| !track.slices.is_empty());
            let slice = |index: u32| found.list[index as usize].clone();
            let kept = open.into_iter();
            let kept = kept.map(|(key, it)| (key, it.slices.into_iter().map(slice).collect()));
            self.open = Some(kept.collect());
        }
        found
    }
}

impl Slices {
    /// Applies the next event of a track, on which these slices are open.
    fn apply(&mut self, event: SliceEvent, on: &mut OpenTrack, may_end: bool) {
        let SliceEvent {
            moment,
            is_end,
            track,
            thread,
            entered,
            progress,
            message,
            name,
            target,
            args,
        } = event;
        let (open, before) = (&mut on.slices, on.last.replace(moment.ns));
        if let Some(entered) = entered {
            let entered = entered.saturating_add(u32::from(is_end));
            self.end_lost(open, (entered, track), moment.ns);
        }
        let (index, begin, begin_args) = (self.list.len() as u32, moment.ns, args.len());
        let slice = if is_end {
            let of_open = |slice: &mut u32| self.list[*slice as usize].entered;
            // The begin of an outer slice is not that of this end.
            let is_its =
                |known: Option<u32>| known.is_none() || entered.is_none() || known == entered;
            let Some(slice) = open.pop_if(|slice| is_its(of_open(slice))) else {
                self.unmatched += 1;
                // Without an event before it, nothing says since when it can have been open.
                self.repair(track, before, false);
                return;
            };
            let ended = &mut self.list[slice as usize];
            (ended.end, ended.may_end) = (Some(moment.ns), false);
            ended.progress = progress.or(ended.progress);
            ended.args.extend(args);
            slice
        } else {
            let depth = open.len() as u32;
            open.push(index);
            self.list.push(SpanSlice {
                begin,
                end: None,
                ended_by: None,
                name,
                target,
                args,
                begin_args,
                depth,
                may_end,
                thread,
                entered,
                progress,
                message,
            });
            index
        };
        self.edges.push(SliceEdge { time: moment.ns, slice, is_end });
    }

    /// Ends the slices that can't be open any more when the thread is in so many: their ends were
    /// lost.
    fn end_lost(&mut self, open: &mut Vec<u32>, (entered, track): (u32, SliceStack), time: i64) {
        let is_over = |slice: &SpanSlice| slice.entered.is_some_and(|known| known >= entered);
        while let Some(slice) = open.pop_if(|slice| is_over(&self.list[*slice as usize])) {
            let lost = &mut self.list[slice as usize];
            (lost.ended_by, lost.may_end) = (Some(time), false);
            self.edges.push(SliceEdge { time, slice, is_end: true });
            let begin = lost.begin;
            // Before the event that shows it, which may be at the time of the begin.
            self.repair(track, time.checked_sub(1).filter(|end| *end >= begin), true);
        }
    }

    /// Notes an edge that was lost on a track that has a number.
    fn repair(&mut self, track: SliceStack, time: Option<i64>, is_end: bool) {
        if let (SliceStack::Track(track, _), Some(time)) = (track, time) {
            self.repairs.push(SliceRepair { track, time, is_end });
        }
    }
}

/// The fields beside an event in its packet: the number of slices that the thread is in, the span,
/// and the id of its template.
fn beside(packet: Field<'_>) -> Result<(Option<u32>, SpanProgress, Option<u64>), DecodeError> {
    let (mut entered, mut progress, mut message) = (None, SpanProgress::default(), None);
    for field in packet.as_message()? {
        let field = field?;
        match field.number {
            packet::SLICE_DEPTH => entered = Some(field.as_u32()?),
            packet::SPAN_NUMBER => progress.number = Some(field.as_u64()?),
            packet::SPAN_BUSY => progress.busy = Some(field.as_u64()?),
            packet::SPAN_AGE => progress.age = Some(field.as_u64()?),
            packet::SPAN_MESSAGE => message = Some(field.as_fixed64()?),
            _ => {}
        }
    }
    Ok((entered, progress, message))
}

/// An argument; none of a form that has no plain value.
fn arg(
    field: Field<'_>,
    name_of: impl Fn(u32, u64) -> Option<Arc<str>>,
) -> Result<Option<SpanArg>, DecodeError> {
    let (mut name, mut value) = (Arc::default(), None);
    for field in field.as_message()? {
        let field = field?;
        match field.number {
            debug_annotation::NAME => name = text(field)?.into(),
            ARG_NAME_IID => name = name_of(ARG_NAMES, field.as_u64()?).unwrap_or_default(),
            debug_annotation::BOOL_VALUE => value = Some((field.as_bool()?.to_string(), false)),
            debug_annotation::UINT_VALUE => value = Some((field.as_u64()?.to_string(), false)),
            debug_annotation::INT_VALUE => {
                value = Some(((field.as_u64()? as i64).to_string(), false));
            }
            debug_annotation::DOUBLE_VALUE => {
                let number = field.as_f64()?;
                value = Some((number.to_string(), !number.is_finite()));
            }
            debug_annotation::STRING_VALUE => value = Some((text(field)?, true)),
            _ => {}
        }
    }
    Ok(value.map(|(value, is_text)| SpanArg { name: mem::take(&mut name), value, is_text }))
}

/// The bytes of a text that nothing else has: one that is interned is counted nowhere, as it is no
/// longer than its packet.
fn own_bytes(text: &Arc<str>) -> usize {
    if Arc::strong_count(text) == 1 { text.len() } else { 0 }
}

/// The target of an event with these categories.
fn joined(mut categories: Vec<Arc<str>>) -> Arc<str> {
    if categories.len() < 2 {
        return categories.pop().unwrap_or_default();
    }
    let mut target = String::new();
    for category in categories {
        match target.is_empty() {
            true if category.len() > MOST_OF_SEVERAL => return category,
            false if target.len() + category.len() > MOST_OF_SEVERAL => break,
            _ => {}
        }
        if !target.is_empty() {
            target.push(',');
        }
        target.push_str(&category);
    }
    target.into()
}

fn text(field: Field<'_>) -> Result<String, DecodeError> {
    Ok(String::from_utf8_lossy(field.as_bytes()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::whole_trace::Trace;

    fn varint(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    fn number(field: u64, value: u64) -> Vec<u8> {
        [varint(field << 3), varint(value)].concat()
    }

    fn message(field: u64, parts: &[Vec<u8>]) -> Vec<u8> {
        let bytes = parts.concat();
        [varint(field << 3 | 2), varint(bytes.len() as u64), bytes].concat()
    }

    /// A begin of the sequence 1 on a track, with these fields.
    fn begin(time: u64, fields: &[Vec<u8>]) -> Vec<u8> {
        let event = [&[number(9, 1), number(11, 7)], fields].concat();
        message(1, &[number(8, time), number(10, 1), number(13, 2), message(11, &event)])
    }

    fn interned(field: u64, text: &[u8]) -> Vec<u8> {
        message(field, &[number(1, 1), message(2, &[text.to_vec()])])
    }

    #[test]
    fn spans_share_what_is_interned() {
        let long = "n".repeat(1 << 20);
        let names = [1, 2, 3].map(|field| interned(field, long.as_bytes()));
        let mut bytes =
            message(1, &[number(8, 1), number(10, 1), number(13, 1), message(12, &names)]);
        // Each with texts of its own would take three gigabytes.
        for time in 0..1000 {
            let argument = message(4, &[number(1, 1), number(4, 5)]);
            bytes.extend(begin(time, &[number(10, 1), number(3, 1), argument]));
        }
        bytes.extend(begin(2000, &[number(10, 1), number(3, 1).repeat(4000)]));
        let direct = ["a", "b"].map(|name| message(22, &[name.into()])).concat();
        bytes.extend(begin(2001, &[number(10, 1), direct]));
        let log = Trace::from_bytes(bytes).with_slices().read().unwrap();
        let slices = log.slices();
        assert_eq!(slices.len(), 1002);
        let first = &slices[0];
        assert_eq!((&*first.name, &*first.target), (&*long, &*long));
        assert_eq!((&*first.args[0].name, &*first.args[0].value), (&*long, "5"));
        for slice in slices {
            assert!(Arc::ptr_eq(&slice.name, &first.name));
        }
        assert_eq!(slices[1000].target, first.target);
        assert_eq!(&*slices[1001].target, "a,b");
    }
}
