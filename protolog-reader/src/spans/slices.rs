//! Slices: spans, those of the program's own calls and of the `tracing` bridge, as threads entered
//! and left them.
//!
//! A slice is two events on a track, which may be far apart. They are collected with the packets
//! ([`slice_event`](super::slice_event)), and matched by time after the last one. Of a trace that
//! is being written, the events so far are matched, and the slices that are open then are kept for
//! the ends that follow.
//!
//! Events of ours have the depth of their slices. So where an end was lost, the next event of the
//! thread says it: a slice that can't be open then had ended by that time. An end whose begin was
//! lost ends no other slice. Readers that match ends by their order alone do otherwise; for them,
//! the edges that were lost are kept as [`SliceRepair`]s.
//!
//! Invariants: slices of a track are nested; an end belongs to the innermost slice that is open, or
//! to that of its depth. One without a begin is counted, and a slice without an end is open until
//! the trace ends, or the next event of which it can't be. Memory is in proportion to the events,
//! or to the open slices of a trace that is being written.

use foldhash::HashMap;
use std::mem;

use protozero::{DecodeError, Field};

use crate::clocks::Moment;
use crate::spans::slice_event::{SequenceNames, SliceEvent, SliceStack};
use crate::spans::span_slice::SpanSlice;

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
        self.sequences.entry(sequence).or_default().intern(interned)
    }

    /// Takes the track of events that name none.
    pub(crate) fn defaults(
        &mut self,
        sequence: u32,
        defaults: Field<'_>,
    ) -> Result<(), DecodeError> {
        self.sequences.entry(sequence).or_default().set_defaults(defaults)
    }

    /// Takes an event, with the packet that it is in, if it is one of a slice.
    pub(crate) fn event(
        &mut self,
        sequence: u32,
        of: (u32, Option<u64>),
        moment: Moment,
        fields: (Field<'_>, Field<'_>),
    ) -> Result<(), DecodeError> {
        let state = self.sequences.entry(sequence).or_default();
        if let Some(event) = SliceEvent::read(state, (sequence, of), moment, fields)? {
            self.text_bytes += event.text_bytes();
            self.events.push(event);
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
        let (time, is_end, entered) = (event.moment.ns, event.is_end, event.entered);
        let (open, before) = (&mut on.slices, on.last.replace(time));
        if let Some(entered) = entered {
            let entered = entered.saturating_add(u32::from(is_end));
            self.end_lost(open, (entered, event.track), time);
        }
        let index = self.list.len() as u32;
        let slice = if is_end {
            let of_open = |slice: &mut u32| self.list[*slice as usize].entered;
            // The begin of an outer slice is not that of this end.
            let is_its =
                |known: Option<u32>| known.is_none() || entered.is_none() || known == entered;
            let Some(slice) = open.pop_if(|slice| is_its(of_open(slice))) else {
                self.unmatched += 1;
                // Without an event before it, nothing says since when it can have been open.
                self.repair(event.track, before, false);
                return;
            };
            let ended = &mut self.list[slice as usize];
            (ended.end, ended.may_end) = (Some(time), false);
            ended.progress = event.progress.or(ended.progress);
            ended.args.extend(event.args);
            slice
        } else {
            let depth = open.len() as u32;
            open.push(index);
            self.list.push(SpanSlice {
                begin: time,
                end: None,
                ended_by: None,
                name: event.name,
                target: event.target,
                begin_args: event.args.len(),
                args: event.args,
                depth,
                may_end,
                thread: event.thread,
                entered,
                progress: event.progress,
                message: event.message,
            });
            index
        };
        self.edges.push(SliceEdge { time, slice, is_end });
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
