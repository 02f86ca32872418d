//! The spans of a thread as slices on tracks.
//!
//! Invariant: a slice stands as deep on its track as it did in the exported trace. So a lost end is
//! shown by the same event as there: a begin that is not as deep, or else an end without a begin.

use std::fmt;
use std::io;

use protolog_core::schema::{clock_id, debug_annotation, packet, track_event};
use protolog_recording::PacketWriter;
use protozero::{Heap, Message};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::items::{ItemKind, ItemRow};

/// The tracks of a thread: one, unless spans overlap, as those of tasks do.
#[derive(Default)]
pub(super) struct Tracks(Vec<Track>);

/// The slices that are open on a track, by the places of their begins, the innermost last.
#[derive(Default)]
struct Track {
    open: Vec<i64>,
    /// The end of the slice that would stand here was lost, before this time of the trace's clock;
    /// which no event has shown yet.
    over_at: Option<i64>,
}

/// The number of slices around one of this depth. Each second number is of no slice: that of an end
/// without a begin.
fn entered(depth: usize) -> u32 {
    2 * depth as u32 + 1
}

impl Tracks {
    /// Writes the packet of a begin or an end to the thread's sequence; none of an end that was
    /// lost.
    pub(super) fn write(
        &mut self,
        to: &mut PacketWriter<'_>,
        sequence: u32,
        item: ItemRow<'_>,
        set_time: impl FnOnce(&mut Message<'_, Heap>),
    ) -> io::Result<()> {
        let depth = item.int("depth").unwrap_or(0) as usize;
        let Some(track) = self.apply(item, depth) else { return Ok(()) };
        let is_end = item.kind == ItemKind::SpanEnd;
        to.write_with(sequence, |packet| {
            set_time(packet);
            packet.uint32(packet::SLICE_DEPTH, entered(depth));
            for (number, column, is_wanted) in [
                (packet::SPAN_NUMBER, "span_id", true),
                (packet::SPAN_BUSY, "busy", is_end),
                (packet::SPAN_AGE, "age", is_end),
            ] {
                if let Some(value) = item.int(column).filter(|_| is_wanted) {
                    packet.uint64(number, value as u64);
                }
            }
            let mut event = packet.nested(packet::TRACK_EVENT);
            event.uint64(track_event::TRACK_UUID, uuid(sequence, track));
            write_event(&mut event, item, is_end);
        })
    }

    /// The time before which a slice ended, where no event has shown it yet.
    pub(super) fn over_at(&self) -> Option<i64> {
        self.0.iter().find_map(|track| track.over_at)
    }

    /// Writes ends without a begin, which show the lost ones.
    pub(super) fn show_lost_ends(
        &mut self,
        to: &mut PacketWriter<'_>,
        sequence: u32,
    ) -> io::Result<()> {
        for (index, track) in self.0.iter_mut().enumerate() {
            let Some(at) = track.over_at.take() else { continue };
            to.write_with(sequence, |packet| {
                packet.uint64(packet::TIMESTAMP, at as u64);
                packet.uint32(packet::TIMESTAMP_CLOCK_ID, clock_id::BOOTTIME);
                packet.uint32(packet::SLICE_DEPTH, entered(track.open.len()) - 1);
                packet
                    .nested(packet::TRACK_EVENT)
                    .uint64(track_event::TRACK_UUID, uuid(sequence, index))
                    .uint32(track_event::TYPE, track_event::TYPE_SLICE_END);
            })?;
        }
        Ok(())
    }

    /// Begins or ends a slice. Returns its track; none of an end that was lost.
    fn apply(&mut self, item: ItemRow<'_>, depth: usize) -> Option<usize> {
        let place = item.int("place").unwrap_or(0);
        if item.kind == ItemKind::SpanEnd {
            let has_it = |track: &Track| track.open.contains(&place);
            let index = self.0.iter().position(has_it)?;
            let track = &mut self.0[index];
            let at = track.open.iter().position(|open| *open == place)?;
            track.open.truncate(at);
            track.over_at = item.int("duration").is_none().then(|| item.trace_time());
            return track.over_at.is_none().then_some(index);
        }
        let is_fit = |track: &Track| track.open.len() == depth;
        let over = self.0.iter().position(|track| is_fit(track) && track.over_at.is_some());
        let index = over.or_else(|| self.0.iter().position(is_fit)).unwrap_or_else(|| {
            self.0.push(Track::default());
            self.0.len() - 1
        });
        let track = &mut self.0[index];
        track.open.push(place);
        track.over_at = None;
        Some(index)
    }
}

/// The id of a track of a thread.
fn uuid(sequence: u32, track: usize) -> u64 {
    u64::from(sequence) << 32 | (track as u64 + 1)
}

fn write_event(event: &mut Message<'_, Heap>, item: ItemRow<'_>, is_end: bool) {
    let fields = |column| -> Fields<'_> {
        serde_json::from_str(item.text(column).unwrap_or("{}")).unwrap_or_default()
    };
    let begin = fields("begin_args");
    if is_end {
        event.uint32(track_event::TYPE, track_event::TYPE_SLICE_END);
        let is_new = |(name, value): &&(String, &RawValue)| {
            !begin.0.iter().any(|(known, old)| known == name && old.get() == value.get())
        };
        fields("args").0.iter().filter(is_new).for_each(|field| write_field(event, field));
        return;
    }
    event.uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN);
    event.bytes(track_event::NAME, item.text("name").unwrap_or_default().as_bytes());
    if let Some(target) = item.text("target").filter(|target| !target.is_empty()) {
        event.bytes(track_event::CATEGORIES, target.as_bytes());
    }
    begin.0.iter().for_each(|field| write_field(event, field));
}

fn write_field(event: &mut Message<'_, Heap>, (name, value): &(String, &RawValue)) {
    let mut field = event.nested(track_event::DEBUG_ANNOTATIONS);
    field.bytes(debug_annotation::NAME, name.as_bytes());
    let value = value.get();
    if let Ok(text) = serde_json::from_str::<String>(value) {
        field.bytes(debug_annotation::STRING_VALUE, text.as_bytes());
    } else if let Ok(value) = value.parse::<bool>() {
        field.bool(debug_annotation::BOOL_VALUE, value);
    } else if let Ok(value) = value.parse::<i64>() {
        field.int64(debug_annotation::INT_VALUE, value);
    } else if let Ok(value) = value.parse::<u64>() {
        field.uint64(debug_annotation::UINT_VALUE, value);
    } else if let Ok(value) = value.parse::<f64>() {
        field.double(debug_annotation::DOUBLE_VALUE, value);
    }
}

/// The fields of a span, in the order of the text.
#[derive(Default)]
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fields of a span")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
