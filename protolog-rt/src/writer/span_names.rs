//! The names of spans that a chunk has: a begin names them by their interned ids (iids), as a
//! message does a string that was there before.
//!
//! A small table: an entry by the id of the span's message, or one of those after it. Where a chunk
//! has the names of a span for the first time, a packet before its begin defines them:
//!
//! ```text
//! 68 02           they are valid as long as the chunk's state
//! 62 n {…}        interned_data: event_categories, event_names, debug_annotation_names
//! ```
//!
//! Invariant: an entry that is of the present chunk stands for names that were written to it, and
//! whose ids are no others there.
#![allow(clippy::inline_always)] // To find an entry is a part of each begin.

use super::annotations::NUMBERS;
use super::fields::Fields;
use protolog_core::MAX_PARAMS;
use protolog_core::schema::{interned_data, interned_string, packet, sequence_flags, track_event};
use protozero::wire::{WireType, tag};

/// The number of entries. A chunk of 4 KiB has room for about 90 spans.
const ENTRIES: usize = 32;

/// An entry may be so many places after its own.
const MOST_AFTER: usize = 8;

/// Ids are below, so that they take one byte.
const MAX_IID: usize = 0x80;

/// The most bytes of a packet of names.
const MAX_PACKET: usize = 512;

/// The most bytes of an event that names its category and its name by ids.
pub(super) const MAX_HEAD: usize = 6;

/// The names of a slice, as UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceNames<'a> {
    /// The group's.
    pub(crate) category: &'a [u8],
    /// May be empty.
    pub(crate) name: &'a [u8],
    /// The list of the arguments' names.
    pub(crate) arguments: &'a [u8],
}

/// The names of a span, as its begins refer to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanNamesInChunk {
    /// The first fields of an event: type, category, name.
    pub(super) head: u64,
    /// The bytes of these: at most [`MAX_HEAD`].
    pub(super) head_len: u8,
    /// The id of the first argument's name; 0 where arguments are numbered.
    pub(super) arguments: u8,
}

#[derive(Clone, Copy, Debug)]
struct InternedSpan {
    /// The id of the span's message.
    id: u64,
    names: SpanNamesInChunk,
    /// The chunk; 0 of none.
    chunk: u32,
}

/// See the module.
#[derive(Debug)]
pub(super) struct SpanNames {
    entries: [InternedSpan; ENTRIES],
    /// The present chunk, from 1.
    chunk: u32,
    /// The ids that the chunk has of names, and of arguments' names.
    used: [usize; 2],
}

impl SpanNames {
    pub(super) const fn new() -> Self {
        let names = SpanNamesInChunk { head: 0, head_len: 0, arguments: 0 };
        Self { entries: [InternedSpan { id: 0, names, chunk: 0 }; ENTRIES], chunk: 1, used: [0; 2] }
    }

    /// Forgets all names.
    pub(super) fn begin_chunk(&mut self) {
        self.used = [0; 2];
        self.chunk = self.chunk.wrapping_add(1);
        if self.chunk == 0 {
            *self = Self::new();
        }
    }

    /// Finds the names of the span with this id, where their entry is in its own place.
    #[inline(always)]
    pub(super) fn find(&self, id: u64) -> Option<SpanNamesInChunk> {
        let entry = self.entries.get(id as usize % ENTRIES)?;
        (entry.id == id && entry.chunk == self.chunk).then_some(entry.names)
    }

    /// Finds the entry of the span with this id, or a free one, which is of another chunk.
    fn place(&mut self, id: u64) -> Option<&mut InternedSpan> {
        let (chunk, first) = (self.chunk, id as usize % ENTRIES);
        let mut places = (first..=first + MOST_AFTER).map(|at| at % ENTRIES);
        let is_it = |at: &usize| {
            self.entries.get(*at).is_some_and(|entry| entry.chunk != chunk || entry.id == id)
        };
        let at = places.find(is_it)?;
        self.entries.get_mut(at)
    }
}

impl SpanNames {
    /// Looks for the names of the span with this id, and of its `count` arguments; where the chunk
    /// has not got them, returns what defines them. None where there are too many.
    pub(super) fn look_up(
        &mut self,
        id: u64,
        names: SliceNames<'_>,
        count: usize,
    ) -> Option<Interned> {
        let ([used, used_arguments], chunk) = (self.used, self.chunk);
        let place = self.place(id)?;
        if place.chunk == chunk {
            return Some(Interned::Known(place.names));
        }
        // Without a name, the program has none of its texts, and arguments are numbered.
        let count = if names.name.is_empty() { 0 } else { count };
        let used = [used + 1, used_arguments + count];
        if used.iter().any(|iid| *iid >= MAX_IID) {
            return None;
        }
        let arguments = if count == 0 { 0 } else { used_arguments + 1 };
        let (head, head_len) = names.first_fields(used[0]);
        let packet = names.packet(used[0], arguments, count)?;
        let names = SpanNamesInChunk { head, head_len, arguments: arguments as u8 };
        Some(Interned::New {
            packet,
            names: NewNames { span: InternedSpan { id, names, chunk }, used },
        })
    }

    /// Keeps names that were written to the chunk.
    pub(super) fn keep(&mut self, NewNames { span, used }: NewNames) -> Option<SpanNamesInChunk> {
        self.used = used;
        *self.place(span.id)? = span;
        Some(span.names)
    }
}

/// The result of looking names up.
#[allow(clippy::large_enum_variant)] // It lives for a moment.
pub(super) enum Interned {
    Known(SpanNamesInChunk),
    /// The chunk is to have this packet first.
    New {
        packet: Fields<MAX_PACKET>,
        names: NewNames,
    },
}

/// Names that the chunk is to have.
pub(super) struct NewNames {
    span: InternedSpan,
    used: [usize; 2],
}

impl SliceNames<'_> {
    /// The first fields of an event with these names, and their length.
    fn first_fields(&self, iid: usize) -> (u64, u8) {
        let number = |field: u32, value: usize| {
            u64::from(tag(field, WireType::Varint) as u8) | (value as u64) << 8
        };
        let kind = number(track_event::TYPE, track_event::TYPE_SLICE_BEGIN as usize);
        let category = number(track_event::CATEGORY_IIDS, iid);
        let name = number(track_event::NAME_IID, iid);
        let head = kind | category << 16;
        if self.name.is_empty() { (head, 4) } else { (head | name << 32, 6) }
    }

    /// The packet that defines them, with the id of the first two and that of the first argument's.
    /// None where they are too long for it.
    fn packet(&self, iid: usize, arguments: usize, count: usize) -> Option<Fields<MAX_PACKET>> {
        // Around each text there are eight bytes at most.
        let texts = self.category.len() + self.name.len() + self.arguments.len();
        if texts + 8 * (3 + count) > MAX_PACKET || count > MAX_PARAMS {
            return None;
        }
        let mut packet = Fields::new();
        packet.add(|to| {
            to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
            let mut data = to.nested(packet::INTERNED_DATA);
            let mut add = |field: u32, iid: usize, text: &[u8]| {
                data.nested(field)
                    .uint64(interned_string::IID, iid as u64)
                    .bytes(interned_string::STR, text);
            };
            add(interned_data::EVENT_CATEGORIES, iid, self.category);
            if !self.name.is_empty() {
                add(interned_data::EVENT_NAMES, iid, self.name);
            }
            let mut names = self.arguments.split(|byte| *byte == b',');
            for (at, number) in (0..count).zip(NUMBERS) {
                let name = names.next().filter(|name| !name.is_empty());
                let name = name.unwrap_or(number.as_bytes());
                add(interned_data::DEBUG_ANNOTATION_NAMES, arguments + at, name);
            }
        });
        Some(packet)
    }
}
