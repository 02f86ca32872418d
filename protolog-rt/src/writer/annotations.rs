//! The arguments of a slice, as `DebugAnnotation`s: how each is encoded in the event of its begin.
//!
//! Invariant: an argument takes [`AROUND_ARGUMENT`] bytes at most, and those of its text.
#![allow(clippy::inline_always)] // Parts of one function per signature.

use super::cursor::Cursor;
use protolog_core::MAX_PARAMS;
use protolog_core::schema::{debug_annotation, track_event};
use protozero::wire::{WireType, packed_varint, tag};

/// The most bytes of an argument without its text: its tag and size, its name's id or number, and
/// the value.
pub(super) const AROUND_ARGUMENT: usize = 3 + 4 + 11;

/// The most bytes whose number takes one byte.
const SHORT: usize = 127;

/// The bytes of a tag, the first one lowest.
pub(super) const fn tag_of(field: u32, kind: WireType) -> u64 {
    packed_varint(tag(field, kind) as u64).0 as u64
}

const ANNOTATION: u8 = tag_of(track_event::DEBUG_ANNOTATIONS, WireType::Bytes) as u8;
const ANNOTATION_NAME_IID: u8 = tag_of(debug_annotation::NAME_IID, WireType::Varint) as u8;
const ANNOTATION_NAME: u8 = tag_of(debug_annotation::NAME, WireType::Bytes) as u8;
pub(super) const INT_VALUE: u8 = tag_of(debug_annotation::INT_VALUE, WireType::Varint) as u8;
pub(super) const UINT_VALUE: u8 = tag_of(debug_annotation::UINT_VALUE, WireType::Varint) as u8;
pub(super) const BOOL_VALUE: u8 = tag_of(debug_annotation::BOOL_VALUE, WireType::Varint) as u8;
pub(super) const DOUBLE_VALUE: u8 = tag_of(debug_annotation::DOUBLE_VALUE, WireType::Fixed64) as u8;
pub(super) const STRING_VALUE: u8 = tag_of(debug_annotation::STRING_VALUE, WireType::Bytes) as u8;

/// The field of a name with this id, and its length.
#[inline(always)]
pub(super) fn interned(name: u8) -> (u32, usize) {
    (u32::from(ANNOTATION_NAME_IID) | u32::from(name) << 8, 2)
}

/// The field of a name that is the number of an argument, and its length.
pub(super) fn number(index: usize) -> (u32, usize) {
    let number = NUMBERS.get(index).map_or("", |number| *number).as_bytes();
    let [first, second] = [0, 1].map(|at| number.get(at).map_or(0, |digit| u32::from(*digit)));
    let head = u32::from(ANNOTATION_NAME) | (number.len() as u32) << 8;
    (head | first << 16 | second << 24, 2 + number.len())
}

/// Appends an argument. The text in it, if it is one, has `text_len` bytes; `put_value` appends the
/// value.
#[inline(always)]
pub(super) fn put(
    to: &mut Cursor,
    (name, name_len): (u32, usize),
    text_len: usize,
    put_value: impl FnOnce(&mut Cursor),
) {
    to.put1(ANNOTATION);
    let size = to.skip_size();
    // Only a text makes it long.
    let high = (text_len + AROUND_ARGUMENT > SHORT).then(|| to.skip_size());
    to.put4(name, name_len);
    put_value(to);
    if let Some(high) = high {
        to.fill_two([size, high]);
    } else {
        let all = to.since(&size);
        to.fill(size, all);
    }
}

/// The names of arguments that have none: their numbers, from 1, as everywhere else.
pub(crate) const NUMBERS: [&str; MAX_PARAMS] = [
    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17",
    "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32",
];
