//! Plain messages: packets that only have what nearly all of them have. A survey of a trace reads them without the care that the
//! others need, which makes it several times as fast.
//!
//! Invariant: a packet that is parsed here says nothing of its sequence but when its message was logged.

use protolog_core::schema::{packet, sequence_flags};
use protozero::wire::{WireType, decode_varint, tag};

/// A packet with a message and, perhaps, interned strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainMessage {
    pub(crate) timestamp: Option<u64>,
    pub(crate) sequence: u32,
    pub(crate) needs_state: bool,
}

const TIMESTAMP: u64 = tag(packet::TIMESTAMP, WireType::Varint) as u64;
const SEQUENCE: u64 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u64;
const FLAGS: u64 = tag(packet::SEQUENCE_FLAGS, WireType::Varint) as u64;
const INTERNED: u64 = tag(packet::INTERNED_DATA, WireType::Bytes) as u64;
const MESSAGE: u64 = tag(packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64;

impl PlainMessage {
    /// Parses a packet; none if it is no plain message, or malformed.
    pub(crate) fn parse(mut bytes: &[u8]) -> Option<Self> {
        let (mut plain, mut has_message) = (Self::default(), false);
        while !bytes.is_empty() {
            match varint(&mut bytes)? {
                TIMESTAMP => plain.timestamp = Some(varint(&mut bytes)?),
                SEQUENCE => plain.sequence = u32::try_from(varint(&mut bytes)?).ok()?,
                FLAGS => match varint(&mut bytes)? as u32 {
                    0 => plain.needs_state = false,
                    sequence_flags::NEEDS_INCREMENTAL_STATE => plain.needs_state = true,
                    _ => return None,
                },
                INTERNED => skip(&mut bytes)?,
                MESSAGE => {
                    skip(&mut bytes)?;
                    has_message = true;
                }
                _ => return None,
            }
        }
        has_message.then_some(plain)
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    if let [byte @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(*byte));
    }
    let (value, length) = decode_varint(bytes).ok()?;
    *bytes = bytes.get(length..)?;
    Some(value)
}

fn skip(bytes: &mut &[u8]) -> Option<()> {
    let length = usize::try_from(varint(bytes)?).ok()?;
    *bytes = bytes.get(length..)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_nothing_else_is_plain() {
        let message = [0x40, 5, 0xc2, 0x06, 1, 9, 0x68, 2, 0x50, 3];
        let plain = PlainMessage { timestamp: Some(5), sequence: 3, needs_state: true };
        assert_eq!(PlainMessage::parse(&message), Some(plain));
        let interned = [&[0x62, 2, 7, 7], &message[..]].concat();
        assert_eq!(PlainMessage::parse(&interned), Some(plain));
        // No message; the state is cleared; a clock is named; cut off.
        assert_eq!(PlainMessage::parse(&message[6..]), None);
        assert_eq!(PlainMessage::parse(&[&message[..], &[0x68, 1]].concat()), None);
        assert_eq!(PlainMessage::parse(&[&message[..], &[0xd0, 0x03, 64]].concat()), None);
        assert_eq!(PlainMessage::parse(&message[..4]), None);
    }
}
