//! Holes: runs of zeros where packets were, and the way back to packets after one.
//!
//! A file gets a hole if another program truncates it while a session writes (`copytruncate` of
//! logrotate, `> app.pftrace`): the session writes on at its old place, and the file system fills
//! the bytes before it with zeros. The bytes after them may begin within a packet.
//!
//! Invariant: bytes after a hole count as packets only if a chain of them leads to the end of the
//! trace, to another hole, or over [`ENOUGH`] bytes. So no packet is made of the inside of another
//! one, such as of a string that was logged: its chain breaks where the string ends.

use protolog_core::schema::{packet, trace};
use protozero::Reader;
use protozero::wire::{WireType, decode_varint, tag};

use crate::bytes::inflate;
use crate::packets::message_fields;
use crate::packets::trace_packet::{Packet, ZSTD_COMPRESSED_PACKETS};

/// Most bytes that are looked at to find the way back.
pub(crate) const WINDOW: usize = 1 << 20;

/// Bytes of packets in a row that can't be within another packet: strings are mostly 4 KiB long at
/// most.
pub(crate) const ENOUGH: usize = 64 << 10;

/// Most bytes after a hole at which the first packet may begin.
const SEARCHED: usize = 512 << 10;

/// Bytes that are searched and parsed in one trace before further holes are taken for its end.
const BUDGET: usize = 256 << 20;

/// Zeros that are a hole, if they don't reach to the end. Fewer are damage; see
/// [`crate::damage::resync`].
pub(crate) const LEAST: usize = 64;

/// The highest field number of a packet.
const HIGHEST_FIELD: u32 = 2048;

/// The first byte of a packet.
pub(crate) const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;

/// A hole in a trace, as offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Its first byte.
    pub(crate) start: usize,
    /// The next packet, or the end.
    pub(crate) end: usize,
}

/// The work that may still be done in vain, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(BUDGET)
    }
}

impl Budget {
    pub(crate) fn is_spent(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }
}

/// Finds the hole that `bytes`, a place where there is no packet, begins with, or that begins
/// within the first `within` bytes, of a packet that can't be decoded. `is_all`: the trace ends
/// where the bytes do.
pub(crate) fn find(bytes: &[u8], within: usize, is_all: bool, budget: &mut Budget) -> Option<Hole> {
    let Budget(1..) = budget else { return None };
    let start = match bytes.first()? {
        0 => 0,
        _ => first_zeros(bytes.get(..within.min(WINDOW)).unwrap_or(bytes))?,
    };
    let after = bytes.get(start..)?;
    let Some(zeros) = after.iter().position(|byte| *byte != 0) else {
        return is_all.then_some(Hole { start, end: bytes.len() });
    };
    if zeros < LEAST {
        return None;
    }
    let (from, rest) = (start + zeros, &after[zeros..]);
    let is_all = is_all && rest.len() <= WINDOW;
    let rest = rest.get(..WINDOW).unwrap_or(rest);
    budget.spend(zeros + rest.len().min(SEARCHED));
    let starts = (0..rest.len().min(SEARCHED)).filter(|at| rest[*at] == PACKET);
    for at in starts {
        if is_chain(&rest[at..], is_all, ENOUGH, budget) {
            return Some(Hole { start, end: from + at });
        }
    }
    None
}

/// Returns whether the packet that ends at `end` may have its last bytes in a hole. A whole packet
/// ends with the id of its sequence, which is not 0.
pub(crate) fn reaches_into(bytes: &[u8], end: usize) -> bool {
    bytes.get(end) == Some(&0) && bytes.get(end.wrapping_sub(1)) == Some(&0)
}

/// Returns whether these bytes are a hole after which there may be too little yet to find packets.
pub(crate) fn is_open(bytes: &[u8]) -> bool {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    zeros >= LEAST && bytes.len() - zeros < WINDOW
}

/// Says how much was skipped.
pub(crate) fn describe(bytes: u64) -> String {
    let counted = if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    format!(
        "{counted} skipped, zeros and the rest of a packet after them: another program truncated the file while it was written"
    )
}

/// Returns the first run of zeros that is long enough for a hole.
pub(crate) fn first_zeros(bytes: &[u8]) -> Option<usize> {
    // Most packets are shorter.
    if bytes.len() < LEAST {
        return None;
    }
    let mut run = 0;
    for (at, byte) in bytes.iter().enumerate() {
        run = if *byte == 0 { run + 1 } else { 0 };
        if run == LEAST {
            return Some(at + 1 - LEAST);
        }
    }
    None
}

/// Finds a chain of packets after the first byte, which leads to the end or over `enough` bytes.
pub(crate) fn find_chain(bytes: &[u8], enough: usize, budget: &mut Budget) -> Option<usize> {
    let mut starts = (1..bytes.len()).filter(|at| bytes[*at] == PACKET);
    let found = starts.find(|at| is_chain(&bytes[*at..], true, enough, budget));
    budget.spend(found.unwrap_or(bytes.len()));
    found
}

/// Returns the contents of the packet that `bytes` begin with.
pub(crate) fn first_packet(bytes: &[u8]) -> Option<&[u8]> {
    let (&PACKET, rest) = bytes.split_first()? else { return None };
    let (size, length) = decode_varint(rest).ok()?;
    rest.get(length..)?.get(..usize::try_from(size).ok()?)
}

/// Returns whether `bytes` begin with a bundle of packets, which may be cut off. Bytes in it that
/// look like packets are not to be read as they stand.
pub(crate) fn is_start_of_bundle(bytes: &[u8]) -> bool {
    let Some((&PACKET, rest)) = bytes.split_first() else { return false };
    let Ok((_, length)) = decode_varint(rest) else { return false };
    let number = decode_varint(&rest[length..]).map_or(0, |(tag, _)| tag >> 3);
    [packet::COMPRESSED_PACKETS, ZSTD_COMPRESSED_PACKETS].map(u64::from).contains(&number)
}

/// Returns whether these bytes are packets; see the module.
fn is_chain(bytes: &[u8], is_all: bool, enough: usize, budget: &mut Budget) -> bool {
    let (mut at, mut count) = (0, 0);
    loop {
        let rest = &bytes[at..];
        match rest.first() {
            _ if at >= enough => return true,
            None => return count > 1 || is_all && count > 0,
            Some(0) if count > 1 => return true,
            Some(&PACKET) => {}
            Some(_) => return false,
        }
        // A packet that is cut off is the last one.
        let Ok((size, length)) = decode_varint(&rest[1..]) else { return count > 1 };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some(packet) = rest.get(1 + length..).and_then(|rest| rest.get(..size)) else {
            return count > 1 && size <= WINDOW;
        };
        budget.spend(size);
        if budget.0 == 0 || !is_packet(packet) {
            return false;
        }
        at += 1 + length + size;
        count += 1;
    }
}

/// Returns whether these bytes are a packet as sessions and services write them, not only valid
/// protobuf.
pub(crate) fn is_packet(bytes: &[u8]) -> bool {
    let (mut fields, mut is_known) = (0, true);
    for field in Reader::new(bytes) {
        let Ok(field) = field else { return false };
        (fields, is_known) = (fields + 1, is_known && field.number < HIGHEST_FIELD);
    }
    let Ok(packet) = Packet::parse(Reader::new(bytes)) else { return false };
    let is_message = packet.message.is_none_or(|message| {
        message.as_message().is_ok_and(|fields| message_fields::visit(fields, |_| {}).is_ok())
    });
    let is_bundle =
        packet.compressed.and_then(|bundle| bundle.as_bytes().ok()).is_some_and(|bytes| {
            inflate::is_compressed(bytes) || bytes.first().is_some_and(|it| it & 0xf == 8)
        });
    let is_whole = fields > 1 && packet.sequence != 0 || is_bundle;
    is_known && is_message && is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(bytes: &[u8], is_all: bool) -> Option<Hole> {
        super::find(bytes, bytes.len(), is_all, &mut Budget::default())
    }

    /// A packet with a timestamp and a sequence.
    const SMALL: [u8; 6] = [0x0a, 4, 0x40, 5, 0x50, 2];

    #[test]
    fn the_end_of_a_hole_is_where_packets_follow() {
        let chain = SMALL.repeat(3);
        let with = |head: &[u8]| [head, &chain].concat();
        assert_eq!(find(&with(&[0; 90]), true), Some(Hole { start: 0, end: 90 }));
        let rest = [&[0; 90][..], &[7, 0x50, 2]].concat();
        assert_eq!(find(&with(&rest), true), Some(Hole { start: 0, end: 93 }));
        let within = [&[0x0a, 0x7f, 8][..], &[0; 70]].concat();
        assert_eq!(find(&with(&within), true), Some(Hole { start: 3, end: 73 }));
        assert_eq!(find(&[0; 20], true), Some(Hole { start: 0, end: 20 }));
        assert_eq!(find(&[0; 20], false), None);
        assert_eq!(find(&with(&[1, 2, 3]), true), None, "no zeros");
        assert_eq!(find(&with(&[0x0a, 9, 0, 0, 0]), true), None, "too few of them");
        assert_eq!(find(&with(&[0; 9]), true), None, "too few of them");
    }

    #[test]
    fn the_inside_of_a_packet_is_none() {
        // A string of packets, within a packet that has lost its beginning.
        let inside = [&[0; 70][..], &[9], &SMALL.repeat(50), b"and more\x50\x02"].concat();
        assert_eq!(find(&inside, true), None);
        let followed = [&inside[..], &SMALL.repeat(2)].concat();
        assert_eq!(find(&followed, true), Some(Hole { start: 0, end: inside.len() }));
        // Other fields of a trace, too large field numbers, a packet of no sequence.
        for other in [&[0x12, 4, 0x40, 5, 0x50, 2][..], &[0x0a, 2, 0x40, 5], &[0x0a, 2, 0x50, 2]] {
            assert_eq!(find(&[&[0; 70][..], &other.repeat(3)].concat(), true), None, "{other:?}");
        }
    }
}
