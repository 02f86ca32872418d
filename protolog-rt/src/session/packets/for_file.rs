//! Converts packets from a chunk's form to a file's form.
//!
//! ```text
//! chunk      size packet
//! file    0a size packet 50 id        the id is that of the sequence
//! ```
//!
//! Most packets are short messages with few different ids. These are copied with a constant length;
//! the excess bytes are overwritten by the next packet.
//!
//! Invariant: only whole packets are written.

use crate::session::packets::copied::split;
use crate::session::packets::message_counts::{Counts, short_id};
use protolog_core::schema::{packet, trace};
use protozero::wire::{WireType, packed_varint, tag};

const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
const SEQUENCE_ID: u8 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u8;

/// The constant length with which short packets are copied.
const SHORT: usize = 32;

/// The most bytes around a packet in a file: tag, size, and the field with the sequence.
pub(in crate::session) const AROUND: usize = 1 + 5 + SEAL;

/// The most bytes of the field with the sequence.
const SEAL: usize = 8;

/// Bytes after the converted packets that a copy may touch.
const SLACK: usize = SHORT + SEAL + 2;

/// The field with the sequence, which ends each of its packets in a file.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Seal {
    bytes: [u8; SEAL],
    length: usize,
}

/// The packets that are still to be converted.
struct Walk<'from, 'to> {
    from: &'from [u8],
    to: &'to mut [u8],
    /// The number of packets.
    left: u16,
    /// Messages so far.
    messages: u64,
}

/// The outcome of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Converted {
    /// Bytes written.
    pub(in crate::session) length: usize,
    /// Messages among the packets.
    pub(in crate::session) messages: u64,
}

impl Seal {
    /// The field for `sequence`.
    pub(in crate::session) fn new(sequence: u32) -> Self {
        let (id, id_len) = packed_varint(sequence as u64);
        let bits = SEQUENCE_ID as u128 | id << 8;
        Self { bytes: (bits as u64).to_le_bytes(), length: 1 + id_len }
    }

    /// Returns the bytes of the field. No other sequence's packets end with them.
    pub(in crate::session) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the bytes before a packet of `size` bytes, and their number.
    fn head(self, size: usize) -> ([u8; 16], usize) {
        let (size, size_len) = packed_varint((size + self.length) as u64);
        ((PACKET as u128 | size << 8).to_le_bytes(), 1 + size_len)
    }

    /// Returns the room that [`Self::convert`] needs for `bytes` bytes of packets with their sizes.
    pub(in crate::session) const fn room(bytes: usize) -> usize {
        // At worst each packet has one byte, two with its size, which become two, one and the seal.
        bytes / 2 * (3 + SEAL) + SLACK
    }

    /// Writes the first `most` packets in `from`, each with its size before it, to `to`, which has
    /// [`Self::room`] for them. Leaves out empty ones, counts messages, and ends at bytes that are
    /// no packet.
    pub(in crate::session) fn convert(
        self,
        from: &[u8],
        most: u16,
        to: &mut [u8],
        counts: &mut Counts,
    ) -> Converted {
        let room = to.len();
        let mut walk = Walk { from, to, left: most, messages: 0 };
        loop {
            self.convert_known(&mut walk, counts);
            if walk.left == 0 || self.convert_one(&mut walk, counts).is_none() {
                return Converted { length: room - walk.to.len(), messages: walk.messages };
            }
        }
    }

    /// Writes packets as long as they are short messages whose id was counted before, with enough
    /// bytes after them.
    fn convert_known(self, walk: &mut Walk<'_, '_>, counts: &mut Counts) {
        let (mut from, mut to) = (walk.from, std::mem::take(&mut walk.to));
        let (mut left, length) = (walk.left, self.length.min(SEAL));
        while left > 0 {
            let Some((source, target)) = from.first_chunk().zip(to.first_chunk_mut()) else {
                break;
            };
            let source: &[u8; 1 + SHORT] = source;
            let target: &mut [u8; 2 + SHORT + SEAL] = target;
            let size = source[0] as usize;
            let bytes = 2 + size + length;
            let Some((packet, _)) = source[1..].split_first_chunk() else { break };
            let is_known = size <= SHORT
                && short_id(packet, size).is_some_and(|id| counts.count_known(id, bytes));
            if !is_known {
                break;
            }
            target[..2].copy_from_slice(&[PACKET, (size + length) as u8]);
            target[2..2 + SHORT].copy_from_slice(&source[1..]);
            target[2 + size..][..SEAL].copy_from_slice(&self.bytes);
            from = &from[1 + size..];
            to = &mut std::mem::take(&mut to)[bytes..];
            left -= 1;
        }
        walk.messages += (walk.left - left) as u64;
        (walk.from, walk.to, walk.left) = (from, to, left);
    }

    /// Writes the next packet, of any kind; none if it is no packet, or if there is no room.
    fn convert_one(self, walk: &mut Walk<'_, '_>, counts: &mut Counts) -> Option<()> {
        let (packet, rest) = split(walk.from)?;
        if !packet.is_empty() {
            let mut done = 0;
            let mut room = true;
            self.one(packet, |part| match walk.to.get_mut(done..done + part.len()) {
                Some(to) => {
                    to.copy_from_slice(part);
                    done += part.len();
                }
                None => room = false,
            });
            if !room {
                return None;
            }
            walk.messages += counts.packet(packet, done) as u64;
            walk.to = &mut std::mem::take(&mut walk.to)[done..];
        }
        walk.from = rest;
        walk.left -= 1;
        Some(())
    }

    /// Returns the bytes that a packet of `size` bytes takes in a file.
    pub(in crate::session) fn size(self, size: usize) -> usize {
        self.head(size).1 + size + self.length
    }

    /// Passes the parts of one packet in a file's form to `write`.
    pub(in crate::session) fn one(self, packet: &[u8], mut write: impl FnMut(&[u8])) {
        let (head, head_len) = self.head(packet.len());
        write(&head[..head_len]);
        write(packet);
        write(&self.bytes[..self.length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::packets::copied::MESSAGE;

    /// The same, packet by packet.
    fn check(sequence: u32, packets: &[Vec<u8>]) {
        let mut from = Vec::new();
        let mut expected = Vec::new();
        for packet in packets {
            let (size, size_len) = packed_varint(packet.len() as u64);
            from.extend_from_slice(&size.to_le_bytes()[..size_len]);
            from.extend_from_slice(packet);
            if !packet.is_empty() {
                let mut writer = protozero::Writer::new(protozero::Heap::new());
                let (id, id_len) = packed_varint(sequence as u64);
                let id = &id.to_le_bytes()[..id_len];
                let sealed = [packet, &[SEQUENCE_ID][..], id].concat();
                writer.message().bytes(trace::PACKET, &sealed);
                expected.extend(writer.into_vec().unwrap());
            }
        }
        let mut to = vec![0xee; Seal::room(from.len())];
        let mut counts = Counts::default();
        let most = packets.len() as u16;
        let done = Seal::new(sequence).convert(&from, most, &mut to, &mut counts);
        to.truncate(done.length);
        assert_eq!(to, expected, "{packets:?} of {sequence}");
        let messages = packets.iter().filter(|packet| packet.first() == Some(&MESSAGE)).count();
        assert_eq!(done.messages, messages as u64);
        let sealed = |size: usize| expected_size(size, sequence) as u64;
        let is_message = |packet: &&Vec<u8>| packet.first() == Some(&MESSAGE);
        let bytes: u64 = packets.iter().filter(is_message).map(|one| sealed(one.len())).sum();
        assert_eq!(counts.all().map(|count| count.bytes).sum::<u64>(), bytes);
    }

    /// Returns the bytes that a packet of `size` bytes takes in a file.
    fn expected_size(size: usize, sequence: u32) -> usize {
        let sealed = size + 1 + packed_varint(sequence as u64).1;
        1 + packed_varint(sealed as u64).1 + sealed
    }

    #[test]
    fn packets_of_every_length_are_sealed() {
        for sequence in [1, 2, 127, 128, 16_383, 16_384, 32_768] {
            check(sequence, &[]);
            for length in (0..140).chain([4_000]) {
                let packet = vec![MESSAGE; length];
                check(sequence, std::slice::from_ref(&packet));
                let (other, long) = (vec![7; 140 - length % 140], vec![MESSAGE; 64]);
                check(sequence, &[packet.clone(), other, vec![], packet, long]);
            }
            check(sequence, &vec![vec![1]; 500]);
        }
    }

    #[test]
    fn messages_are_sealed_as_other_packets_are() {
        use protolog_core::schema::message;
        let of = |time: u64, text: usize, id: u8| {
            let mut writer = protozero::Writer::new(protozero::Heap::new());
            let mut to = writer.message();
            to.uint64(packet::TIMESTAMP, time);
            if text > 0 {
                to.nested(packet::INTERNED_DATA).string(1, &"x".repeat(text));
            }
            let mut own = protozero::Writer::new(protozero::Heap::new());
            own.message().fixed64(message::MESSAGE_ID, id as u64).sint64(3, 1 << text);
            to.bytes(packet::PROTOLOG_MESSAGE, &own.into_vec().unwrap());
            writer.into_vec().unwrap()
        };
        for sequence in [2, 200, 32_768] {
            let all: Vec<_> = (0..300)
                .map(|n| of([3, 300, 1 << 40, 1 << 60][n % 4], n % 7 * n % 60, (n % 5) as u8))
                .collect();
            check(sequence, &all);
        }
    }

    #[test]
    fn what_is_too_much_is_left() {
        let chunk = [[3, MESSAGE, 1, 2]; 40].concat();
        let mut to = vec![0; Seal::room(chunk.len())];
        for most in 0..40 {
            let mut counts = Counts::default();
            let done = Seal::new(2).convert(&chunk, most, &mut to, &mut counts);
            assert_eq!((done.messages, done.length), (most as u64, most as usize * 7));
        }
    }

    #[test]
    fn what_is_no_packet_ends_it() {
        let mut to = [0; 128];
        let none = Converted::default();
        let seal = Seal::new(2);
        for bytes in [&[5, 1, 2][..], &[0x80], &[0xff; 40]] {
            assert_eq!(seal.convert(bytes, 9, &mut to, &mut Counts::default()), none, "{bytes:?}");
        }
        assert_eq!(seal.convert(&[1, 9, 5, 1], 9, &mut to, &mut Counts::default()).length, 5);
    }
}
