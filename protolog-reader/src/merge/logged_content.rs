//! The content of a message or an event, as a hash that is the same in every trace: of what is
//! interned the text counts, not its id, which each chunk has of its own.
//!
//! An event's name may be interned in one trace and stand in the event of another one: while a
//! single session runs, spans name what their chunk has, and beside another one they do not.
//! Writers order kinds of fields as they like, so each kind has a sum of its own.

use super::packet_contents::{fields, tagged};
use crate::inputs::thread_ids::mix;
use protolog_core::hash;
use protolog_core::schema::{debug_annotation, interned_data, track_event};
use protozero::{DecodeError, Field};

/// `InternedData.debug_annotation_string_values`, of Perfetto's SDK.
pub(super) const DEBUG_STRINGS: u32 = 29;
/// `DebugAnnotation.string_value_iid`
const STRING_VALUE_IID: u32 = 17;
/// `DebugAnnotation.dict_entries` and `array_values`, which have annotations in them.
const NESTED: [u32; 2] = [11, 12];
/// Annotations that are deeper are compared as they are encoded.
const MOST_NESTED: u32 = 8;

/// Kinds of content of an event.
const CATEGORY: usize = 10;
const NAME: usize = 11;
const ANNOTATION: usize = 12;
const OTHER: usize = 13;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LoggedContent([u64; OTHER + 1]);

impl LoggedContent {
    /// Adds a value of a kind below 10, which are a message's.
    pub(super) fn add(&mut self, kind: usize, value: u64) {
        let sum = &mut self.0[kind];
        *sum = mix(*sum ^ mix(value.wrapping_add(kind as u64 + 1)));
    }

    /// Adds an event, with fields of this hash beside it. `string` finds the hash of an interned
    /// string.
    pub(super) fn add_event(
        &mut self,
        event: Field<'_>,
        beside: u64,
        string: &mut impl FnMut(u32, u64) -> u64,
    ) -> Result<(), DecodeError> {
        let mut others = beside;
        for (field, whole) in fields(event.as_bytes()?) {
            match field.number {
                // A merge may have given it another number.
                track_event::TRACK_UUID => {}
                track_event::CATEGORIES => self.add(CATEGORY, hash(field.as_bytes()?)),
                track_event::CATEGORY_IIDS => {
                    self.add(CATEGORY, string(interned_data::EVENT_CATEGORIES, field.as_u64()?));
                }
                track_event::NAME => self.add(NAME, hash(field.as_bytes()?)),
                track_event::NAME_IID => {
                    self.add(NAME, string(interned_data::EVENT_NAMES, field.as_u64()?));
                }
                track_event::DEBUG_ANNOTATIONS => {
                    self.add(ANNOTATION, annotation(field, MOST_NESTED, string)?);
                }
                _ => others = others.wrapping_add(mix(hash(whole))),
            }
        }
        self.add(OTHER, others);
        Ok(())
    }

    pub(super) fn hash(&self) -> u64 {
        self.0.iter().fold(0, |sum, value| mix(sum ^ value).wrapping_add(*value))
    }
}

/// The hash of an annotation, in whose order of fields nothing is said.
fn annotation(
    field: Field<'_>,
    depth: u32,
    string: &mut impl FnMut(u32, u64) -> u64,
) -> Result<u64, DecodeError> {
    const NAMES: u32 = interned_data::DEBUG_ANNOTATION_NAMES;
    let (mut nested, mut all) = (0, 0_u64);
    for (field, whole) in fields(field.as_bytes()?) {
        let value = match field.number {
            debug_annotation::NAME => tagged(debug_annotation::NAME, hash(field.as_bytes()?)),
            debug_annotation::NAME_IID => {
                tagged(debug_annotation::NAME, string(NAMES, field.as_u64()?))
            }
            debug_annotation::STRING_VALUE => {
                tagged(debug_annotation::STRING_VALUE, hash(field.as_bytes()?))
            }
            STRING_VALUE_IID => {
                tagged(debug_annotation::STRING_VALUE, string(DEBUG_STRINGS, field.as_u64()?))
            }
            number if depth > 0 && NESTED.contains(&number) => {
                nested = mix(nested ^ tagged(number, annotation(field, depth - 1, string)?));
                continue;
            }
            _ => mix(hash(whole)),
        };
        all = all.wrapping_add(value);
    }
    Ok(mix(all ^ nested))
}
