//! Plain messages: packets that only have what nearly all of them have. They are read without the care that the others need,
//! which is several times as fast.
//!
//! Invariant: a packet that is parsed here says nothing of its sequence but when its message was logged, and what strings it
//! has; and nothing of the trace.

use protolog_core::schema::{packet, sequence_flags};
use protozero::wire::{WireType, decode_varint, tag};

use crate::sequence::SequenceState;

/// A packet with a message and, perhaps, interned strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainMessage {
    pub(crate) timestamp: Option<u64>,
    pub(crate) sequence: u32,
    pub(crate) needs_state: bool,
    /// The bytes of the message, and of interned data, as offset in the packet and length.
    pub(crate) message: (usize, usize),
    pub(crate) interned: Option<(usize, usize)>,
}

const TIMESTAMP: u64 = tag(packet::TIMESTAMP, WireType::Varint) as u64;
const SEQUENCE: u64 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u64;
const FLAGS: u64 = tag(packet::SEQUENCE_FLAGS, WireType::Varint) as u64;
const INTERNED: u64 = tag(packet::INTERNED_DATA, WireType::Bytes) as u64;
const MESSAGE: u64 = tag(packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64;

impl PlainMessage {
    /// Parses a packet; none if it is no plain message, or malformed.
    pub(crate) fn parse(packet: &[u8]) -> Option<Self> {
        let (mut plain, mut message, mut rest) = (Self::default(), None, packet);
        while !rest.is_empty() {
            match varint(&mut rest)? {
                TIMESTAMP => plain.timestamp = Some(varint(&mut rest)?),
                SEQUENCE => plain.sequence = u32::try_from(varint(&mut rest)?).ok()?,
                FLAGS => match varint(&mut rest)? as u32 {
                    0 => plain.needs_state = false,
                    sequence_flags::NEEDS_INCREMENTAL_STATE => plain.needs_state = true,
                    _ => return None,
                },
                INTERNED if plain.interned.is_none() => {
                    plain.interned = Some(skip(packet, &mut rest)?);
                }
                MESSAGE if message.is_none() => message = Some(skip(packet, &mut rest)?),
                _ => return None,
            }
        }
        Some(Self { message: message?, ..plain })
    }
}

impl PlainMessage {
    /// Returns whether there is nothing to be said of the sequence first: that it begins, or that messages of it are lost.
    pub(crate) fn is_applicable(&self, sequence: &SequenceState) -> bool {
        sequence.started && (sequence.valid || !self.needs_state)
    }
}

#[inline]
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    if let [byte @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(*byte));
    }
    if let [low @ 0x80..=0xff, high @ 1..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(low & 0x7f) | u64::from(*high) << 7);
    }
    let (value, length) = decode_varint(bytes).ok()?;
    *bytes = bytes.get(length..)?;
    Some(value)
}

/// Skips bytes with their length before them, and returns where they are.
fn skip(packet: &[u8], rest: &mut &[u8]) -> Option<(usize, usize)> {
    let length = usize::try_from(varint(rest)?).ok()?;
    let at = packet.len() - rest.len();
    *rest = rest.get(length..)?;
    Some((at, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_nothing_else_is_plain() {
        let message = [0x40, 5, 0xc2, 0x06, 1, 9, 0x68, 2, 0x50, 3];
        let plain = PlainMessage {
            timestamp: Some(5),
            sequence: 3,
            needs_state: true,
            message: (5, 1),
            interned: None,
        };
        assert_eq!(PlainMessage::parse(&message), Some(plain));
        let interned = [&[0x62, 2, 7, 7], &message[..]].concat();
        let with = PlainMessage { message: (9, 1), interned: Some((2, 2)), ..plain };
        assert_eq!(PlainMessage::parse(&interned), Some(with));
        // No message, or two; the state is cleared; a clock is named; cut off.
        assert_eq!(PlainMessage::parse(&message[6..]), None);
        assert_eq!(PlainMessage::parse(&message.repeat(2)), None);
        assert_eq!(PlainMessage::parse(&[&message[..], &[0x68, 1]].concat()), None);
        assert_eq!(PlainMessage::parse(&[&message[..], &[0xd0, 0x03, 64]].concat()), None);
        assert_eq!(PlainMessage::parse(&message[..4]), None);
    }
}
