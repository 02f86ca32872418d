//! From packets as they lie in a chunk to packets of a file.
//!
//! ```text
//! chunk      size packet
//! file    0a size packet 50 id        the id is that of the sequence
//! ```
//!
//! Most packets are short, so they are moved by copies of a constant length, whatever theirs is; what is too much is
//! overwritten by what follows.
//!
//! Invariant: what is written is whole packets only.

use super::counts::Counts;
use protolog_core::schema::{packet, trace};
use protozero::wire::{WireType, decode_varint, packed_varint, tag};

const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
const SEQUENCE_ID: u8 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u8;

/// Packets of up to so many bytes are copied as if they had as many.
const SHORT: usize = 32;

/// The most bytes that a file's packet has more than its contents: tag, size, and the field with the sequence.
pub(super) const AROUND: usize = 1 + 5 + SEAL;

/// Room for a sequence's field.
const SEAL: usize = 8;

/// So many bytes after the converted packets may be touched.
const SLACK: usize = SHORT + SEAL + 2;

/// What ends each packet of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seal {
    bytes: [u8; SEAL],
    length: usize,
}

/// How much was converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Converted {
    /// Bytes written.
    pub(super) length: usize,
    /// Messages among the packets.
    pub(super) messages: u64,
}

impl Seal {
    /// That of `sequence`.
    pub(super) fn new(sequence: u32) -> Self {
        let (id, id_len) = packed_varint(sequence as u64);
        let bits = SEQUENCE_ID as u128 | id << 8;
        Self { bytes: (bits as u64).to_le_bytes(), length: 1 + id_len }
    }

    /// Those bytes. No other sequence's packets end with them.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// What stands before a packet of `size` bytes, and how long it is.
    fn head(self, size: usize) -> ([u8; 16], usize) {
        let (size, size_len) = packed_varint((size + self.length) as u64);
        ((PACKET as u128 | size << 8).to_le_bytes(), 1 + size_len)
    }

    /// The room that [`Self::all`] needs for `bytes` bytes of packets with their sizes.
    pub(super) const fn room(bytes: usize) -> usize {
        // At worst each packet has one byte, two with its size, which become two, one and the seal.
        bytes / 2 * (3 + SEAL) + SLACK
    }

    /// Writes the packets in `from`, each with its size before it, to `to`, which has [`Self::room`] for them. Empty ones
    /// are left out, messages are counted.
    pub(super) fn all(self, from: &[u8], to: &mut [u8], counts: &mut Counts) -> Converted {
        let mut done = Converted::default();
        let mut rest = from;
        while let Some(after) = self
            .short(rest, to, &mut done, counts)
            .or_else(|| self.any(rest, to, &mut done, counts))
        {
            rest = after;
        }
        done
    }

    /// Writes the first packet of `from` if it is a short one with enough behind it.
    #[inline]
    fn short<'a>(
        self,
        from: &'a [u8],
        to: &mut [u8],
        done: &mut Converted,
        counts: &mut Counts,
    ) -> Option<&'a [u8]> {
        let source = from.first_chunk::<{ 1 + SHORT }>()?;
        let target = to.get_mut(done.length..)?.first_chunk_mut::<SLACK>()?;
        let size = source[0] as usize;
        if size == 0 || size > SHORT {
            return None;
        }
        target[0] = PACKET;
        target[1] = (size + self.length) as u8;
        target[2..2 + SHORT].copy_from_slice(&source[1..]);
        target[2 + size..][..SEAL].copy_from_slice(&self.bytes);
        let bytes = 2 + size + self.length;
        done.length += bytes;
        done.messages += counts.packet(&source[1..=size], bytes) as u64;
        from.get(1 + size..)
    }

    /// Writes the first packet of `from`, however long it is.
    fn any<'a>(
        self,
        from: &'a [u8],
        to: &mut [u8],
        done: &mut Converted,
        counts: &mut Counts,
    ) -> Option<&'a [u8]> {
        let (size, size_len) = decode_varint(from).ok()?;
        let (packet, rest) = from.get(size_len..)?.split_at_checked(size as usize)?;
        if !packet.is_empty() {
            let (head, head_len) = self.head(packet.len());
            let parts = [&head[..head_len], packet, &self.bytes[..self.length]];
            for part in parts {
                to.get_mut(done.length..done.length + part.len())?.copy_from_slice(part);
                done.length += part.len();
            }
            let bytes = head_len + packet.len() + self.length;
            done.messages += counts.packet(packet, bytes) as u64;
        }
        Some(rest)
    }

    /// What a packet of `size` bytes takes in a file.
    pub(super) fn size(self, size: usize) -> usize {
        self.head(size).1 + size + self.length
    }

    /// Gives the parts of one packet of a file.
    pub(super) fn one(self, packet: &[u8], mut give: impl FnMut(&[u8])) {
        let (head, head_len) = self.head(packet.len());
        give(&head[..head_len]);
        give(packet);
        give(&self.bytes[..self.length]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::drain::MESSAGE;
    use super::*;

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
        let done = Seal::new(sequence).all(&from, &mut to, &mut counts);
        to.truncate(done.length);
        assert_eq!(to, expected, "{packets:?} of {sequence}");
        let messages = packets.iter().filter(|packet| packet.first() == Some(&MESSAGE)).count();
        assert_eq!(done.messages, messages as u64);
        let sealed = |size: usize| expected_size(size, sequence) as u64;
        let is_message = |packet: &&Vec<u8>| packet.first() == Some(&MESSAGE);
        let bytes: u64 = packets.iter().filter(is_message).map(|one| sealed(one.len())).sum();
        assert_eq!(counts.all().map(|count| count.bytes).sum::<u64>(), bytes);
    }

    /// What a packet of `size` bytes takes in a file.
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
    fn what_is_no_packet_ends_it() {
        let mut to = [0; 128];
        let none = Converted::default();
        let seal = Seal::new(2);
        for bytes in [&[5, 1, 2][..], &[0x80], &[0xff; 40]] {
            assert_eq!(seal.all(bytes, &mut to, &mut Counts::default()), none, "{bytes:?}");
        }
        assert_eq!(seal.all(&[1, 9, 5, 1], &mut to, &mut Counts::default()).length, 5);
    }
}
