//! Names for slices that have none, since their templates were taken out of the program: those of
//! the dictionary, which Perfetto does not look up.
//!
//! Invariant: packets of other slices, and all other packets, stay as they are, to the byte.

use std::collections::HashMap;

use protolog_core::schema::{debug_annotation, packet, trace, track_event};
use protolog_core::span_name;
use protozero::{Field, Reader};

use crate::dictionary::{Dictionary, Message};
use crate::merge::{encoded, fields};

/// The trace with names of slices, and of their arguments that the dictionary names, of at most so
/// many bytes: one text may be the name of any number of slices. Returns the number of slices that
/// have none for that.
pub(super) fn with_names(trace: Vec<u8>, dictionary: &Dictionary, most: u64) -> (Vec<u8>, u64) {
    let (mut reader, mut named, mut from, mut at) = (Reader::new(&trace), Vec::new(), 0, 0);
    let (mut left, mut unnamed) = (most, 0);
    while let Some(Ok(field)) = reader.next() {
        let end = reader.offset() as usize;
        if let Some(packet) = named_packet(field, dictionary) {
            if let Some(rest) = left.checked_sub(packet.len().saturating_sub(end - at) as u64) {
                left = rest;
                named.extend_from_slice(&trace[from..at]);
                named.extend(encoded(|to| to.bytes(trace::PACKET, &packet)));
                from = end;
            } else {
                unnamed += 1;
            }
        }
        at = end;
    }
    if from == 0 {
        return (trace, unnamed);
    }
    // With the rest, which can't be read.
    named.extend_from_slice(&trace[from..]);
    (named, unnamed)
}

/// The packet with a name of its slice; none if it stays as it is.
fn named_packet(packet: Field<'_>, dictionary: &Dictionary) -> Option<Vec<u8>> {
    let bytes = packet.as_bytes().ok().filter(|_| packet.number == trace::PACKET)?;
    let is_event = |field: &Field<'_>| field.number == packet::TRACK_EVENT;
    let event = fields(bytes).find_map(|(field, _)| is_event(&field).then_some(field))?;
    let of = fields(bytes).find(|(field, _)| field.number == packet::SPAN_MESSAGE);
    let message = dictionary.message(of?.0.as_fixed64().ok()?)?;
    let event = named_event(event.as_bytes().ok()?, message)?;
    let mut named = Vec::with_capacity(bytes.len() + 64);
    for (field, whole) in fields(bytes) {
        if is_event(&field) {
            named.extend(encoded(|to| to.bytes(packet::TRACK_EVENT, &event)));
        } else {
            named.extend_from_slice(whole);
        }
    }
    Some(named)
}

/// The event with the names of its message; none if it has a name.
fn named_event(event: &[u8], message: &Message) -> Option<Vec<u8>> {
    let is_name = |number| number == track_event::NAME || number == track_event::NAME_IID;
    if fields(event).any(|(field, _)| is_name(field.number)) {
        return None;
    }
    let names = message.names();
    let names: HashMap<String, &str> = (1_usize..)
        .zip(names.iter())
        .filter_map(|(number, name)| Some((number.to_string(), name?)))
        .collect();
    let mut named = encoded(|to| to.string(track_event::NAME, span_name(message.template())));
    for (field, whole) in fields(event) {
        match field.as_bytes() {
            Ok(annotation) if field.number == track_event::DEBUG_ANNOTATIONS => {
                let annotation = named_annotation(annotation, &names);
                named.extend(encoded(|to| to.bytes(field.number, &annotation)));
            }
            _ => named.extend_from_slice(whole),
        }
    }
    Some(named)
}

/// The argument with its name in place of its number.
fn named_annotation(annotation: &[u8], names: &HashMap<String, &str>) -> Vec<u8> {
    let mut named = Vec::with_capacity(annotation.len() + 16);
    for (field, whole) in fields(annotation) {
        let known = field.as_str().ok().filter(|_| field.number == debug_annotation::NAME);
        match known.and_then(|number| names.get(number)) {
            Some(name) => named.extend(encoded(|to| to.string(field.number, name))),
            None => named.extend_from_slice(whole),
        }
    }
    named
}
