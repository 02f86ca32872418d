//! Plain messages: packets that only have the fields that nearly all of them have. They are read
//! without the care that the others need, which is several times as fast.
//!
//! Invariant: a packet that is parsed here says nothing of its sequence but when its message was
//! logged, what strings it has, and, once more, of which process the tracing service says it is;
//! and nothing of the trace.

use std::ops::Range;

use protolog_core::schema::{packet, sequence_flags, trace};
use protozero::wire::{WireType, decode_varint, packed_varint, tag};

use crate::packets::message_fields::varint;
use crate::packets::trace_packet::{TRUSTED_PID, TRUSTED_UID};
use crate::sequences::sequence_state::SequenceState;

/// A packet with a message and, perhaps, interned strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainMessage {
    pub(crate) timestamp: Option<u64>,
    pub(crate) sequence: u32,
    pub(crate) needs_state: bool,
    /// The bytes of the message, and of interned data, as offset in the packet and length.
    pub(crate) message: (usize, usize),
    pub(crate) interned: Option<(usize, usize)>,
    /// The process that the tracing service names.
    pub(crate) trusted_pid: Option<u32>,
}

/// The tag of a packet.
const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
const TIMESTAMP: u8 = tag(packet::TIMESTAMP, WireType::Varint) as u8;
const SEQUENCE: u8 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u8;
const FLAGS: u8 = tag(packet::SEQUENCE_FLAGS, WireType::Varint) as u8;
const NEEDS_STATE: u8 = sequence_flags::NEEDS_INCREMENTAL_STATE as u8;
const INTERNED: u8 = tag(packet::INTERNED_DATA, WireType::Bytes) as u8;
const UID: u8 = tag(TRUSTED_UID, WireType::Varint) as u8;
/// The tags of two bytes: of a message, and of the process.
const MESSAGE: [u8; 2] = two_bytes(tag(packet::PROTOLOG_MESSAGE, WireType::Bytes));
const PID: [u8; 2] = two_bytes(tag(TRUSTED_PID, WireType::Varint));

const fn two_bytes(tag: u32) -> [u8; 2] {
    (packed_varint(tag as u64).0 as u16).to_le_bytes()
}

impl PlainMessage {
    /// Parses a packet; none if it is no plain message, or malformed.
    #[inline]
    pub(crate) fn parse(packet: &[u8]) -> Option<Self> {
        Self::parse_in_order(packet).or_else(|| Self::parse_in_any_order(packet))
    }

    /// Parses a packet whose fields stand as the runtimes write them; the sequence comes behind,
    /// put there when the packet is moved to the file, between the user and the process if it was
    /// a tracing service that moved it.
    #[expect(
        clippy::inline_always,
        reason = "its result would be written and read again for each packet, 3 % of the time"
    )]
    #[inline(always)]
    pub(crate) fn parse_in_order(packet: &[u8]) -> Option<Self> {
        let [TIMESTAMP, rest @ ..] = packet else { return None };
        let (timestamp, mut rest) = varint(rest)?;
        let mut interned = None;
        if let [INTERNED, after @ ..] = rest {
            let (at, length, after) = skip(packet, after)?;
            (interned, rest) = (Some((at, length)), after);
        }
        let needs_state = matches!(rest, [FLAGS, NEEDS_STATE, ..]);
        if needs_state {
            rest = rest.get(2..)?;
        }
        let rest = rest.strip_prefix(&MESSAGE)?;
        let (at, length, rest) = skip(packet, rest)?;
        let (rest, is_vouched) = match rest {
            [UID, rest @ ..] => (varint(rest)?.1, true),
            _ => (rest, false),
        };
        let [SEQUENCE, rest @ ..] = rest else { return None };
        let (sequence, rest) = varint(rest)?;
        let trusted_pid = match rest {
            [] => None,
            [first, second, rest @ ..] if is_vouched && [*first, *second] == PID => {
                let (pid, []) = varint(rest)? else { return None };
                Some(u32::try_from(pid).ok()?)
            }
            _ => return None,
        };
        let (timestamp, sequence) = (Some(timestamp), u32::try_from(sequence).ok()?);
        Some(Self {
            timestamp,
            sequence,
            needs_state,
            message: (at, length),
            interned,
            trusted_pid,
        })
    }

    fn parse_in_any_order(packet: &[u8]) -> Option<Self> {
        let (mut plain, mut message, mut rest) = (Self::default(), None, packet);
        while let [first, after @ ..] = rest {
            rest = match *first {
                TIMESTAMP => {
                    let (timestamp, rest) = varint(after)?;
                    plain.timestamp = Some(timestamp);
                    rest
                }
                SEQUENCE => {
                    let (sequence, rest) = varint(after)?;
                    plain.sequence = u32::try_from(sequence).ok()?;
                    rest
                }
                FLAGS => {
                    let (flags, rest) = varint(after)?;
                    plain.needs_state = match flags as u32 {
                        0 => false,
                        sequence_flags::NEEDS_INCREMENTAL_STATE => true,
                        _ => return None,
                    };
                    rest
                }
                INTERNED if plain.interned.is_none() => {
                    let (at, length, rest) = skip(packet, after)?;
                    plain.interned = Some((at, length));
                    rest
                }
                first if first == MESSAGE[0] && message.is_none() => {
                    let [second, after @ ..] = after else { return None };
                    if *second != MESSAGE[1] {
                        return None;
                    }
                    let (at, length, rest) = skip(packet, after)?;
                    message = Some((at, length));
                    rest
                }
                // Nobody asks for the user.
                UID => varint(after)?.1,
                first if first == PID[0] && plain.trusted_pid.is_none() => {
                    let [second, after @ ..] = after else { return None };
                    if *second != PID[1] {
                        return None;
                    }
                    let (pid, rest) = varint(after)?;
                    plain.trusted_pid = Some(u32::try_from(pid).ok()?);
                    rest
                }
                _ => return None,
            };
        }
        Some(Self { message: message?, ..plain })
    }
}

impl PlainMessage {
    /// Returns whether there is nothing to be said of the sequence first: that it begins, of which
    /// process it is, or that messages of it are lost.
    pub(crate) fn is_applicable(&self, sequence: &SequenceState) -> bool {
        let is_known = self.is_of_process_of(sequence);
        sequence.started && is_known && (sequence.valid || !self.needs_state)
    }

    /// Returns whether it names no process but the one that its sequence has.
    #[inline]
    pub(crate) fn is_of_process_of(&self, sequence: &SequenceState) -> bool {
        self.trusted_pid.is_none() || self.trusted_pid == sequence.trusted_pid
    }
}

/// The bytes behind the message of a packet, which the packets of a sequence mostly have in common:
/// they name the sequence, and the process that the tracing service vouches for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    len: usize,
    /// The first eight bytes of a longer one; and the last eight, without those before it.
    first: Option<[u8; 8]>,
    last: u64,
    shift: u32,
}

/// A message whose packet has a known tail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike {
    pub(crate) timestamp: u64,
    pub(crate) needs_state: bool,
    /// Where the message begins, and its length; and where its packet begins and ends.
    pub(crate) message: (usize, usize),
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Tail {
    /// The tail of a packet whose fields stand as the runtimes write them, if it is short, and no
    /// hole can reach into it.
    pub(crate) fn of(packet: &[u8], plain: &PlainMessage) -> Option<Self> {
        let tail = packet.get(plain.message.0 + plain.message.1..)?;
        let (len, most) = (tail.len(), size_of::<u64>());
        let shift = u64::BITS - 8 * len.min(most) as u32;
        let last = u64::from_le_bytes(*packet.last_chunk()?).checked_shr(shift)?;
        let first = if len > most { tail.first_chunk().copied() } else { None };
        let is_known = len <= 2 * most && packet.last() != Some(&0);
        is_known.then_some(Self { len, first, last, shift })
    }

    /// The message of the packet at `offset`, if that is short, and has nothing but a time, a
    /// message, perhaps the need of state before it, and this tail. Of these it says what
    /// [`PlainMessage::parse_in_order`] says, and leaves all others to that.
    #[expect(clippy::inline_always, reason = "as for `parse_in_order`")]
    #[inline(always)]
    pub(crate) fn parse(&self, bytes: &[u8], offset: usize) -> Option<Alike> {
        let head: &[u8; 11] = bytes.get(offset..)?.first_chunk()?;
        let [PACKET, size @ ..0x80, TIMESTAMP, rest @ ..] = head else { return None };
        // All in one register.
        let word = u64::from_le_bytes(*rest);
        let low = |bits: u64| word >> bits & 0x7f;
        let (timestamp, length) = match () {
            () if word & 0x80 == 0 => (low(0), 1),
            () if word & 0x8000 == 0 => (low(0) | low(8) << 7, 2),
            () if word & 0x80_0000 == 0 => (low(0) | low(8) << 7 | low(16) << 14, 3),
            () => return None,
        };
        let word = word >> (8 * length);
        let needs_state = word as u16 == u16::from_le_bytes([FLAGS, NEEDS_STATE]);
        let skipped = 2 * usize::from(needs_state);
        let word = word >> (8 * skipped);
        let len = (word >> 16) as usize & 0xff;
        let (start, at) = (offset + 2, offset + 3 + length + skipped + 3);
        let end = start + usize::from(*size);
        let is_alike = word as u16 == u16::from_le_bytes(MESSAGE)
            && len < 0x80
            && at + len + self.len == end
            && u64::from_le_bytes(*bytes.get(end - 8..end)?.first_chunk()?) >> self.shift
                == self.last;
        if !is_alike
            || self.first.is_some() && bytes.get(at + len..)?.first_chunk() != self.first.as_ref()
        {
            return None;
        }
        Some(Alike { timestamp, needs_state, message: (at, len), start, end })
    }
}

/// The place of the packet at `offset`, if a whole one is there.
#[inline]
pub(crate) fn next_packet(bytes: &[u8], offset: usize) -> Option<Range<usize>> {
    let [PACKET, rest @ ..] = bytes.get(offset..)? else { return None };
    let (size, length) = match rest {
        [size @ ..0x80, ..] => (usize::from(*size), 1),
        _ => {
            let (size, length) = decode_varint(rest).ok()?;
            (usize::try_from(size).ok()?, length)
        }
    };
    let start = offset + 1 + length;
    let end = start.checked_add(size)?;
    (end <= bytes.len()).then_some(start..end)
}

/// The place of bytes with their length before them, as offset in the packet and length, and the
/// rest.
#[inline]
fn skip<'a>(packet: &[u8], rest: &'a [u8]) -> Option<(usize, usize, &'a [u8])> {
    let (length, rest) = varint(rest)?;
    let (at, length) = (packet.len() - rest.len(), usize::try_from(length).ok()?);
    Some((at, length, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_with_one_tail_are_told_from_all_others() {
        let own = [0x40, 5, 0x68, 2, 0xc2, 0x06, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8];
        let long = [0x18, 0xe8, 0x07, 0x50, 3, 0xf8, 0x04, 0xac, 0x02];
        for tail in [&[0x50, 3][..], &long] {
            let packet = [&own[..], tail].concat();
            let plain = PlainMessage::parse_in_order(&packet).unwrap();
            let known = Tail::of(&packet, &plain).unwrap();
            let framed = [&[0x0a, packet.len() as u8][..], &packet, &packet].concat();
            let alike = known.parse(&framed, 0).unwrap();
            assert_eq!((alike.timestamp, alike.needs_state), (5, true));
            for cut in 0..packet.len() + 2 {
                assert!(known.parse(&framed[..cut], 0).is_none());
            }
            for at in 0..packet.len() + 2 {
                for byte in 0..=u8::MAX {
                    let mut changed = framed.clone();
                    changed[at] = byte;
                    let Some(Alike { timestamp, needs_state, message, start, end }) =
                        known.parse(&changed, 0)
                    else {
                        continue;
                    };
                    let message = (message.0 - start, message.1);
                    let expected =
                        PlainMessage { timestamp: Some(timestamp), needs_state, message, ..plain };
                    let found = PlainMessage::parse_in_order(&changed[start..end]);
                    assert_eq!(found, Some(expected), "{byte} at {at}");
                    assert_eq!(next_packet(&changed, 0), Some(start..end));
                }
            }
        }
        let zero = [&own[..], &[0x50, 0]].concat();
        let plain = PlainMessage::parse_in_order(&zero).unwrap();
        assert!(Tail::of(&zero, &plain).is_none());
    }

    #[test]
    fn only_what_says_nothing_else_is_plain() {
        let message = [0x40, 5, 0xc2, 0x06, 1, 9, 0x68, 2, 0x50, 3];
        let plain = PlainMessage {
            timestamp: Some(5),
            sequence: 3,
            needs_state: true,
            message: (5, 1),
            interned: None,
            trusted_pid: None,
        };
        assert_eq!(PlainMessage::parse(&message), Some(plain));
        let interned = [&[0x62, 2, 7, 7], &message[..]].concat();
        let with = PlainMessage { message: (9, 1), interned: Some((2, 2)), ..plain };
        assert_eq!(PlainMessage::parse(&interned), Some(with));
        // As the tracing service adds them: the user, the sequence and the process.
        let own = [0x40, 5, 0x68, 2, 0xc2, 0x06, 1, 9];
        let service = [&own[..], &[0x18, 0xe8, 0x07, 0x50, 3, 0xf8, 0x04, 0xac, 0x02]].concat();
        let in_order = PlainMessage { message: (7, 1), ..plain };
        let of_process = PlainMessage { trusted_pid: Some(300), ..in_order };
        assert_eq!(PlainMessage::parse_in_order(&service), Some(of_process));
        let (of_user, process) = service.split_at(service.len() - 4);
        assert_eq!(PlainMessage::parse_in_order(of_user), Some(in_order));
        assert_eq!(PlainMessage::parse(&service[..service.len() - 1]), None);
        assert_eq!(PlainMessage::parse(&[&service, process].concat()), None);
        let other_order = [&message[..], &[0x18, 0xe8, 0x07, 0xf8, 0x04, 0xac, 0x02]].concat();
        assert_eq!(PlainMessage::parse_in_order(&other_order), None);
        let of_process = PlainMessage { trusted_pid: Some(300), ..plain };
        assert_eq!(PlainMessage::parse(&other_order), Some(of_process));
        let mut sequence = SequenceState { started: true, valid: true, ..Default::default() };
        assert!(plain.is_applicable(&sequence) && !of_process.is_applicable(&sequence));
        sequence.trusted_pid = Some(300);
        assert!(plain.is_applicable(&sequence) && of_process.is_applicable(&sequence));
        sequence.trusted_pid = Some(301);
        assert!(!of_process.is_applicable(&sequence));
        // No message, or two; the state is cleared; a clock is named; cut off.
        assert_eq!(PlainMessage::parse(&message[6..]), None);
        assert_eq!(PlainMessage::parse(&message.repeat(2)), None);
        assert_eq!(PlainMessage::parse(&[&message[..], &[0x68, 1]].concat()), None);
        assert_eq!(PlainMessage::parse(&[&message[..], &[0xd0, 0x03, 64]].concat()), None);
        assert_eq!(PlainMessage::parse(&message[..4]), None);
    }
}
