//! The elements of a dictionary packet, one at a time.
//!
//! A dictionary is one packet with many messages and groups, so a single bad element must not cost
//! the others. After one, the elements go on where a chain of good ones leads to the end of the
//! packet or over [`ENOUGH`] of them, else where the bad one says that it ends, as in
//! trace_processor.
//!
//! Invariant: the bytes of a bad element are no part of a good one.

use std::ops::ControlFlow;

use protolog_core::schema::viewer_config as config;
use protozero::wire::decode_varint;
use protozero::{Field, Heap, Reader, Writer};

use super::{Group, Message};

/// Good elements in a row that can't be within the text of another one.
const ENOUGH: usize = 8;

/// Elements that are parsed to find good ones again, for each packet.
const ATTEMPTS: usize = 1 << 16;

/// An element of a dictionary.
#[derive(Debug)]
pub(crate) enum Element {
    /// A message with its id.
    Message(u64, Message),
    /// A group with its id.
    Group(u32, Group),
    /// The hash of the dictionary of a stripped program.
    Stripped(u64),
    /// A field that this reader doesn't know.
    Other,
    /// A message that can't be decoded after its id and text.
    Part(u64, Message),
    /// It can't be decoded.
    Bad,
}

/// Calls `visitor` with each element of a `ProtoLogViewerConfig` and its bytes.
pub(crate) fn visit<'a>(bytes: &'a [u8], mut visitor: impl FnMut(Element, &'a [u8])) {
    let (mut at, mut attempts) = (0, ATTEMPTS);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (element, size) = first(rest);
        let size = match element {
            Element::Bad | Element::Part(..) => resume(rest, &mut attempts).unwrap_or(size),
            _ => size,
        };
        visitor(element, rest.get(..size).unwrap_or(rest));
        at += size;
    }
}

/// A message of those fields of a [part](Element::Part) that can be decoded, as an element; nothing
/// if there are none.
pub(crate) fn good_part(part: &[u8]) -> Vec<u8> {
    // The element may say that it is longer than it is.
    let Some(Ok((_, size))) = part.get(1..).map(decode_varint) else { return Vec::new() };
    let fields = part.get(1 + size..).unwrap_or_default();
    let good = fields.get(..Message::good_size(Reader::new(fields))).unwrap_or_default();
    let mut writer = Writer::new(Heap::with_capacity(good.len() + 16));
    if !good.is_empty() {
        writer.message().bytes(config::MESSAGES, good);
    }
    writer.into_vec().unwrap_or_default()
}

/// Parses the first element and returns its size; all bytes if it doesn't say where it ends.
fn first(bytes: &[u8]) -> (Element, usize) {
    let mut reader = Reader::new(bytes);
    let Some(Ok(field)) = reader.next() else { return (Element::Bad, bytes.len()) };
    (parse(field).unwrap_or(Element::Bad), reader.offset() as usize)
}

fn parse(field: Field<'_>) -> Option<Element> {
    match field.number {
        config::MESSAGES => {
            let (id, message, done) = Message::parse_part(field.as_message().ok()?);
            let is_part = id != 0 && !message.bare.is_empty();
            match done {
                Ok(()) => Some(Element::Message(id, message)),
                Err(_) => is_part.then_some(Element::Part(id, message)),
            }
        }
        config::GROUPS => {
            let (id, group) = Group::parse(field.as_message().ok()?).ok()?;
            Some(Element::Group(id, group))
        }
        config::STRIPPED => field.as_fixed64().ok().map(Element::Stripped),
        _ => Some(Element::Other),
    }
}

/// Finds the next good element after a bad one at the start.
fn resume(bytes: &[u8], attempts: &mut usize) -> Option<usize> {
    (1..bytes.len()).find(|start| is_chain(&bytes[*start..], attempts))
}

/// Returns whether messages and groups with ids follow each other from here on.
fn is_chain(mut bytes: &[u8], attempts: &mut usize) -> bool {
    let result = (0..ENOUGH).try_for_each(|count| {
        if bytes.is_empty() {
            return ControlFlow::Break(count > 0);
        }
        let (element, size) = match attempts.checked_sub(1) {
            Some(left) => {
                *attempts = left;
                first(bytes)
            }
            None => return ControlFlow::Break(false),
        };
        bytes = &bytes[size..];
        match element {
            Element::Message(1.., _) | Element::Group(1.., _) | Element::Stripped(_) => {
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(false),
        }
    });
    match result {
        ControlFlow::Continue(()) => true,
        ControlFlow::Break(is_whole) => is_whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `messages { message_id: 7 message: "…" }`
    fn message(id: u8, text: &str) -> Vec<u8> {
        let size = text.len() as u8;
        let head = [0x0a, 11 + size, 9, id, 0, 0, 0, 0, 0, 0, 0, 0x12, size];
        [&head, text.as_bytes()].concat()
    }

    fn ids(bytes: &[u8]) -> (Vec<u64>, usize) {
        let (mut ids, mut bad, mut seen) = (Vec::new(), 0, Vec::new());
        visit(bytes, |element, bytes| {
            seen.extend_from_slice(bytes);
            match element {
                Element::Message(id, _) => ids.push(id),
                Element::Bad | Element::Part(..) => bad += 1,
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(seen, bytes, "no byte is left out");
        (ids, bad)
    }

    #[test]
    fn one_bad_element_costs_no_other_one() {
        let all: Vec<_> = (1..=20).map(|id| message(id, "sent %d bytes")).collect();
        for bad in 0..20 {
            let offset: usize = all[..bad].iter().map(Vec::len).sum();
            let expected: Vec<u64> = (1..=20).filter(|id| *id != bad as u64 + 1).collect();
            // A length that is too large, far too large, too small; a wrong wire type; lengths
            // within.
            for (place, value) in [(1, 30), (1, 127), (1, 250), (1, 3), (2, 8), (12, 40), (12, 255)]
            {
                let mut bytes = all.concat();
                bytes[offset + place] = value;
                let (found, count) = ids(&bytes);
                let missing: Vec<_> = expected.iter().filter(|id| !found.contains(id)).collect();
                assert!(missing.is_empty(), "{bad} {place} {value}: {missing:?}");
                assert!(count > 0, "{bad} {place} {value}");
            }
        }
    }

    #[test]
    fn a_text_with_elements_within_is_one_element() {
        let inner = String::from_utf8(message(9, "inner").repeat(3)).unwrap();
        let mut bytes = message(1, &inner);
        bytes.extend(message(2, "next"));
        bytes[2] = 8;
        assert_eq!(ids(&bytes).0.last(), Some(&2));
        assert!(!ids(&message(1, &inner)).0.contains(&9));
    }
}
