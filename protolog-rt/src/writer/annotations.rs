//! The arguments of a slice, as `DebugAnnotation`s: how each is encoded in the event of its begin.
//!
//! Invariant: an argument takes [`AROUND_ARGUMENT`] bytes at most, and those of its name and its
//! text.
#![allow(clippy::inline_always)] // Parts of one function per signature.

use super::cursor::Cursor;
use protolog_core::MAX_PARAMS;
use protolog_core::schema::{debug_annotation, track_event};
use protozero::wire::{WireType, packed_varint, tag};

/// The most bytes of an argument without its name and text: its tag and size, tag and size of the
/// name, which may be a number, and the value.
pub(super) const AROUND_ARGUMENT: usize = 3 + 4 + 11;

/// The most bytes of a name, so that its size takes one byte.
pub(super) const SHORT: usize = 127;

/// The bytes of a tag, the first one lowest.
pub(super) const fn tag_of(field: u32, kind: WireType) -> u64 {
    packed_varint(tag(field, kind) as u64).0 as u64
}

const ANNOTATION: u8 = tag_of(track_event::DEBUG_ANNOTATIONS, WireType::Bytes) as u8;
const ANNOTATION_NAME: u8 = tag_of(debug_annotation::NAME, WireType::Bytes) as u8;
pub(super) const INT_VALUE: u8 = tag_of(debug_annotation::INT_VALUE, WireType::Varint) as u8;
pub(super) const UINT_VALUE: u8 = tag_of(debug_annotation::UINT_VALUE, WireType::Varint) as u8;
pub(super) const BOOL_VALUE: u8 = tag_of(debug_annotation::BOOL_VALUE, WireType::Varint) as u8;
pub(super) const DOUBLE_VALUE: u8 = tag_of(debug_annotation::DOUBLE_VALUE, WireType::Fixed64) as u8;
pub(super) const STRING_VALUE: u8 = tag_of(debug_annotation::STRING_VALUE, WireType::Bytes) as u8;

/// Appends an argument with the first name of a list, which has short ones, or its number. The text
/// in it, if it is one, has `text_len` bytes; `put_value` appends the value.
#[inline(always)]
pub(super) fn put_named(
    to: &mut Cursor,
    (names, index): (&mut &[u8], usize),
    text_len: usize,
    put_value: impl FnOnce(&mut Cursor),
) {
    let name = next_name(names);
    to.put1(ANNOTATION);
    let size = to.skip_size();
    // Only a text makes it long.
    let high = (name.len() + text_len + AROUND_ARGUMENT > SHORT).then(|| to.skip_size());
    if name.is_empty() {
        let number = NUMBERS.get(index).map_or("", |number| *number);
        to.put4(u32::from(ANNOTATION_NAME) | (number.len() as u32) << 8, 2);
        to.short_bytes(number.as_bytes());
    } else {
        to.put4(u32::from(ANNOTATION_NAME) | (name.len() as u32) << 8, 2);
        to.short_bytes(name);
    }
    put_value(to);
    let Some(high) = high else {
        let all = to.since(&size);
        return to.fill(size, all);
    };
    let all = to.since(&high);
    to.fill(size, all & 0x7f | 0x80);
    to.fill(high, all >> 7);
}

/// Takes the first name off a list.
#[inline(always)]
fn next_name<'a>(list: &mut &'a [u8]) -> &'a [u8] {
    if list.is_empty() {
        return list;
    }
    let end = list.iter().position(|byte| *byte == b',').unwrap_or(list.len());
    let (name, rest) = list.split_at_checked(end).unwrap_or_default();
    *list = rest.get(1..).unwrap_or_default();
    name
}

/// The names of arguments that have none: their numbers, from 1, as everywhere else.
pub(crate) const NUMBERS: [&str; MAX_PARAMS] = [
    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17",
    "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32",
];
