//! The packets of a span: the events with which its slice begins and ends.
//!
//! The names of slice and arguments come from the call's note. Where that was stripped, or the call
//! was rewritten, the packet has the template's id alone, from which readers that have the
//! dictionary know the names; arguments are numbered then, as those without names are.
#![allow(clippy::inline_always)] // Parts of one function per signature.

use super::SpanSite;
use crate::log::{FastArgs, with_slice};
use crate::note::NoteRef;
use crate::note::span::SpanTexts;
use crate::site::{GroupLevel, Site};
use crate::writer::annotations::NUMBERS;
use crate::writer::in_place;
use crate::writer::slice::{MAX_BESIDE, MAX_SLICE, Slice, SpanProgress};
use crate::writer::span_names::SliceNames;
use crate::writer::track::current_track;
use crate::writer::{Head, write_packet, write_slice_to_all};
use protolog_core::Arg;
use protolog_core::schema::{debug_annotation, track_event};
use protozero::{Fixed, Message, Writer};

/// The most bytes of the name and of the group's name.
const MAX_NAME: usize = 200;

/// The bytes of an event but for its arguments: type, track, flow, and two texts.
const AROUND: usize = 48 + 2 * MAX_NAME;

/// The bytes of an argument without name and text.
const AROUND_ARGUMENT: usize = 16;

/// Stands for the part of a text that is cut off.
const MARK: &str = "…";

/// The number of spans around a slice, the span, and whether it goes to all sessions.
type SlicePlace = (u32, SpanProgress, bool);

/// Writes the begin of a slice of the span with this number, within `depth` others.
#[inline(always)]
pub(super) fn write_begin<A: FastArgs>(
    span: SpanSite,
    args: &A,
    (number, depth, is_for_all): (u64, u32, bool),
) {
    let Site { id, group_level, note } = span.site;
    let names = || names_of(group_level, note, span.lengths);
    if is_for_all || !in_place::write_begin((id, number, depth), names, args) {
        let progress = SpanProgress { number, message: id, times: None };
        write_other_begin(*args, span, (depth, progress, is_for_all));
    }
}

/// The texts of a call; empty where its note has none.
fn texts_of(note: NoteRef, lengths: u32) -> SpanTexts {
    let (name, template) = (lengths & 0xffff, lengths >> 16);
    note.span_texts(name as usize, template as usize).unwrap_or_default()
}

/// The names of a span's slices and arguments; none but the group's where its note has none.
#[cold]
#[inline(never)]
fn names_of(group_level: GroupLevel, note: NoteRef, lengths: u32) -> SliceNames<'static> {
    let SpanTexts { name, names } = texts_of(note, lengths);
    let category = cut(group_level.group().name, MAX_NAME).as_bytes();
    SliceNames { category, name: cut_name(name), arguments: names }
}

/// As [`write_begin`], for a slice that is not for the fast path: for several sessions or a new
/// chunk, or long. By value, so that what is on the fast path need not be in memory.
#[cold]
#[inline(never)]
fn write_other_begin<A: FastArgs>(args: A, span: SpanSite, place: SlicePlace) {
    with_slice(&args, |args| write_whole_begin(&span, place, args));
}

/// Writes a begin with its names and its track, and with texts that are cut to equal shares of the
/// room where they have none.
fn write_whole_begin(span: &SpanSite, place: SlicePlace, args: &[Arg<'_>]) {
    let head = Head { id: span.site.id, group_level: span.site.group_level };
    let texts = texts_of(span.site.note, span.lengths);
    let mut memory = [0; MAX_SLICE];
    let names = texts.names.len() + AROUND_ARGUMENT * args.len();
    let share = share_of(MAX_SLICE.saturating_sub(AROUND + names), args);
    for max in [usize::MAX, share, 0] {
        if let Some(event) = encode_begin(head, place.1, texts, args, &mut memory, max) {
            return write_event(head, place, event);
        }
    }
    // Names that long are not written.
    if let Some(event) = encode_begin(head, place.1, texts, &[], &mut memory, 0) {
        write_event(head, place, event);
    }
}

/// Returns the most bytes of each text so that all fit into `room`: shorter ones leave the rest of
/// their share to longer ones.
fn share_of(room: usize, args: &[Arg<'_>]) -> usize {
    let text = |arg: &Arg<'_>| if let Arg::Str(text) = arg { Some(text.len()) } else { None };
    let mut share = 0;
    // Each turn takes more of them whole.
    for _ in args {
        let longer = args.iter().filter_map(text).filter(|len| *len > share);
        let count = longer.count();
        let whole: usize = args.iter().filter_map(text).filter(|len| *len <= share).sum();
        let Some(next) = room.saturating_sub(whole).checked_div(count) else { break };
        if next <= share {
            break;
        }
        share = next;
    }
    share
}

/// Writes the end of a slice of the span with this number, within `depth` others.
#[inline(always)]
pub(super) fn write_end(
    group_level: GroupLevel,
    (number, depth, is_for_all): (u64, u32, bool),
    times: Option<(u64, u64)>,
) {
    if is_for_all || !in_place::write_end((number, depth), times) {
        let progress = SpanProgress { number, message: 0, times };
        write_other_end(Head { id: 0, group_level }, (depth, progress, is_for_all));
    }
}

/// As [`write_end`], for a slice that is not for the fast path.
#[cold]
#[inline(never)]
fn write_other_end(head: Head, place: SlicePlace) {
    let mut memory = [0; AROUND];
    let mut writer = Writer::new(Fixed::new(&mut memory));
    let mut event = writer.message();
    event
        .uint32(track_event::TYPE, track_event::TYPE_SLICE_END)
        .uint64(track_event::TRACK_UUID, current_track());
    if let Ok(event) = writer.into_slice() {
        write_event(head, place, event);
    }
}

/// Writes an event that is not in the chunk yet.
fn write_event(head: Head, (depth, progress, is_for_all): SlicePlace, event: &[u8]) {
    let mut beside = [0; MAX_BESIDE];
    let Some(length) = progress.encode(depth, &mut beside) else { return };
    let slice = Slice { event, beside: beside.get(..length).unwrap_or_default() };
    if is_for_all {
        write_slice_to_all(head, &slice);
    } else {
        write_packet(head, &slice);
    }
}

/// Encodes the event of a begin, with at most `max` bytes of each text. None if `memory` has no
/// room for it.
fn encode_begin<'m>(
    head: Head,
    progress: SpanProgress,
    texts: SpanTexts,
    args: &[Arg<'_>],
    memory: &'m mut [u8],
    max: usize,
) -> Option<&'m [u8]> {
    let (group, _) = head.group_level.parts();
    let mut writer = Writer::new(Fixed::new(memory));
    let mut event = writer.message();
    event
        .uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN)
        .uint64(track_event::TRACK_UUID, current_track())
        .string(track_event::CATEGORIES, cut(group.name, MAX_NAME));
    if !texts.name.is_empty() {
        event.bytes(track_event::NAME, cut_name(texts.name));
    }
    if progress.number != 0 {
        event.fixed64(track_event::FLOW_IDS, progress.flow());
    }
    let mut names = texts.names.split(|byte| *byte == b',');
    for (arg, number) in args.iter().zip(NUMBERS) {
        let name = names.next().filter(|name| !name.is_empty()).unwrap_or(number.as_bytes());
        append(*arg, name, &mut event.nested(track_event::DEBUG_ANNOTATIONS), max);
    }
    writer.into_slice().ok().map(|event| &*event)
}

/// Appends an argument.
fn append(arg: Arg<'_>, name: &[u8], to: &mut Message<'_, Fixed<'_>>, max: usize) {
    to.bytes(debug_annotation::NAME, name);
    match arg {
        Arg::Int(value) => drop(to.int64(debug_annotation::INT_VALUE, value)),
        Arg::Uint(value) => drop(to.uint64(debug_annotation::UINT_VALUE, value)),
        Arg::Float(value) => drop(to.double(debug_annotation::DOUBLE_VALUE, value)),
        Arg::Bool(value) => drop(to.bool(debug_annotation::BOOL_VALUE, value)),
        Arg::Str(text) if text.len() <= max => {
            to.string(debug_annotation::STRING_VALUE, text);
        }
        Arg::Str(text) => append_cut(text, to, max),
    }
}

/// Appends a text that is longer than `max` bytes, with a mark at its end.
#[cold]
fn append_cut(text: &str, to: &mut Message<'_, Fixed<'_>>, max: usize) {
    let mut shortened = [0; MAX_SLICE];
    let kept = cut(text, max.saturating_sub(MARK.len()).min(MAX_SLICE - MARK.len())).as_bytes();
    let (start, rest) = shortened.split_at_mut(kept.len());
    start.copy_from_slice(kept);
    if let Some(end) = rest.get_mut(..MARK.len()) {
        end.copy_from_slice(MARK.as_bytes());
    }
    let length = kept.len() + MARK.len();
    to.bytes(debug_annotation::STRING_VALUE, shortened.get(..length).unwrap_or_default());
}

/// Cuts a text to at most `max` bytes, between characters.
fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// As [`cut`], for a name, which is UTF-8.
fn cut_name(name: &[u8]) -> &[u8] {
    if name.len() <= MAX_NAME {
        return name;
    }
    core::str::from_utf8(name).map_or(&[], |name| cut(name, MAX_NAME).as_bytes())
}
