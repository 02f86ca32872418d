//! An event of a slice, as its packet has it: names, categories and arguments, which may be
//! interned, as Perfetto's SDK writes them.
//!
//! Invariant: events share a text that is interned, however many refer to it.

use foldhash::HashMap;
use std::mem;
use std::sync::Arc;

use protolog_core::schema::{
    debug_annotation, interned_data, packet, packet_defaults, track_event, track_event_defaults,
};
use protozero::{DecodeError, Field};

use crate::clocks::Moment;
use crate::sequences::sequence_state::parse_interned;
use crate::sequences::thread;
use crate::spans::span_slice::{SpanArg, SpanProgress};

/// `InternedData.event_categories`, `event_names` and `debug_annotation_names`.
const INTERNED: [u32; 3] = [CATEGORIES, NAMES, ARG_NAMES];
const CATEGORIES: u32 = interned_data::EVENT_CATEGORIES;
const NAMES: u32 = interned_data::EVENT_NAMES;
const ARG_NAMES: u32 = interned_data::DEBUG_ANNOTATION_NAMES;

/// The most bytes of the categories of an event that has several: two bytes of it name one, however
/// long that is.
const MOST_OF_SEVERAL: usize = 256;

/// The place where slices are nested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SliceStack {
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
pub(super) struct SequenceNames {
    /// Interned strings, by field and id.
    names: HashMap<(u32, u64), Arc<str>>,
    default_track: u64,
}

/// The begin or the end of a slice.
#[derive(Debug)]
pub(super) struct SliceEvent {
    pub(super) moment: Moment,
    pub(super) is_end: bool,
    pub(super) track: SliceStack,
    pub(super) thread: u32,
    pub(super) entered: Option<u32>,
    pub(super) progress: SpanProgress,
    pub(super) message: Option<u64>,
    pub(super) name: Arc<str>,
    pub(super) target: Arc<str>,
    pub(super) args: Vec<SpanArg>,
}

impl SequenceNames {
    /// Takes the interned strings of a packet.
    pub(super) fn intern(&mut self, interned: Field<'_>) -> Result<(), DecodeError> {
        for field in interned.as_message()? {
            let field = field?;
            if INTERNED.contains(&field.number) {
                let (iid, bytes, _) = parse_interned(field)?;
                let text = String::from_utf8_lossy(bytes).into();
                self.names.insert((field.number, iid), text);
            }
        }
        Ok(())
    }

    /// Takes the track of events that name none.
    pub(super) fn set_defaults(&mut self, defaults: Field<'_>) -> Result<(), DecodeError> {
        for field in defaults.as_message()? {
            let field = field?;
            if field.number != packet_defaults::TRACK_EVENT_DEFAULTS {
                continue;
            }
            for field in field.as_message()? {
                let field = field?;
                if field.number == track_event_defaults::TRACK_UUID {
                    self.default_track = field.as_u64()?;
                }
            }
        }
        Ok(())
    }
}

impl SliceEvent {
    /// Reads an event of a sequence, with the packet that it is in; none if it is not one of a
    /// slice. Beside its sequence stand its thread, and the fingerprint of its process.
    pub(super) fn read(
        state: &SequenceNames,
        (sequence, (thread, process)): (u32, (u32, Option<u64>)),
        moment: Moment,
        (event, packet): (Field<'_>, Field<'_>),
    ) -> Result<Option<Self>, DecodeError> {
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
                track_event::NAME_IID => name = name_of(NAMES, field.as_u64()?).unwrap_or_default(),
                track_event::CATEGORIES => targets.push(text(field)?.into()),
                track_event::CATEGORY_IIDS => targets.extend(name_of(CATEGORIES, field.as_u64()?)),
                track_event::DEBUG_ANNOTATIONS => args.extend(arg(field, name_of)?),
                _ => {}
            }
        }
        if ![track_event::TYPE_SLICE_BEGIN, track_event::TYPE_SLICE_END].contains(&kind) {
            return Ok(None);
        }
        let track = match (track, thread) {
            (0, thread::UNKNOWN) => SliceStack::Sequence(sequence),
            (0, thread) => SliceStack::Thread(thread),
            (track, _) => SliceStack::Track(track, process),
        };
        let (is_end, target) = (kind == track_event::TYPE_SLICE_END, joined(targets));
        let (entered, progress, message) = beside(packet)?;
        Ok(Some(Self {
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
        }))
    }

    /// The memory of its texts, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = self.args.iter().map(|arg| own_bytes(&arg.name) + arg.value.capacity());
        let args = texts.sum::<usize>() + self.args.capacity() * size_of::<SpanArg>();
        args + own_bytes(&self.name) + own_bytes(&self.target)
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
            debug_annotation::NAME_IID => {
                name = name_of(ARG_NAMES, field.as_u64()?).unwrap_or_default();
            }
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
