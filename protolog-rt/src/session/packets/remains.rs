//! The remains of a trace file that somebody else has cut: its whole packets, with their messages
//! and the drops that they report.
//!
//! Invariant: messages are left only if a reader finds them; those of bundles that can't be
//! inflated, or that expand too far, are not.

use crate::loss::LossCount;
use crate::session::packets::bundles;
use crate::session::packets::gap::Gap;
use crate::session::packets::message_counts::Counts;
use protolog_core::schema::{packet, trace};
use protozero::Reader;
use protozero::wire::{WireType, decode_varint, tag};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// See the module.
#[derive(Debug, Default)]
pub(in crate::session) struct Remains {
    /// The offset of the end of the last whole packet.
    pub(in crate::session) end: u64,
    pub(in crate::session) messages: Counts,
    pub(in crate::session) reported: Vec<LossCount>,
}

/// The tag of `Trace.packet`.
const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;

/// The most bytes of a varint that says a size.
const MAX_SIZE: usize = 5;

impl Remains {
    /// Reads the first `length` bytes of a file. The session's own packets end with `own`.
    pub(in crate::session) fn read(file: &File, length: u64, own: &[u8]) -> io::Result<Self> {
        let mut file = file;
        file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::new(file.take(length));
        let mut remains = Self::default();
        let mut found = Gap::default();
        let mut packet = Vec::new();
        while read_packet(&mut reader, length - remains.end, &mut packet)? {
            remains.end += packet.len() as u64;
            match bundle(&packet) {
                Some(stream) => {
                    let packets = bundles::unpack(stream).unwrap_or_default();
                    remains.messages.add(&found.add_packets(&packets, own));
                }
                None => remains.messages.add(&found.add_packets(&packet, own)),
            }
        }
        remains.reported = found.reported;
        Ok(remains)
    }
}

/// Reads a packet with its tag and size, of at most `left` bytes. False at the end, within a
/// packet, or at bytes that are no packet.
fn read_packet(reader: &mut impl Read, left: u64, packet: &mut Vec<u8>) -> io::Result<bool> {
    packet.clear();
    let mut next = |packet: &mut Vec<u8>| -> io::Result<bool> {
        Ok(reader.by_ref().take(1).read_to_end(packet)? == 1)
    };
    if !next(packet)? || packet[0] != PACKET {
        return Ok(false);
    }
    while packet.len() <= MAX_SIZE && next(packet)? {
        if packet.last().is_some_and(|byte| byte & 0x80 != 0) {
            continue;
        }
        let Ok((size, _)) = decode_varint(&packet[1..]) else { return Ok(false) };
        if size > left {
            return Ok(false);
        }
        packet.try_reserve_exact(size as usize).map_err(|_| io::ErrorKind::OutOfMemory)?;
        return Ok(reader.by_ref().take(size).read_to_end(packet)? as u64 == size);
    }
    Ok(false)
}

/// Returns the zlib stream of a packet that is a bundle of others.
fn bundle(packet: &[u8]) -> Option<&[u8]> {
    let inner = Reader::new(packet).next()?.ok()?.as_bytes().ok()?;
    let field = Reader::new(inner).next()?.ok()?;
    (field.number == packet::COMPRESSED_PACKETS).then(|| field.as_bytes().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_whole_or_not_at_all() {
        let long = [&[PACKET, 0x80, 2][..], &[7; 256]].concat();
        let bytes = [&[PACKET, 2, 1, 1][..], &[PACKET, 0], &long, &[PACKET, 3, 1, 1]].concat();
        let mut reader = &bytes[..];
        let mut packet = Vec::new();
        let mut sizes = Vec::new();
        while read_packet(&mut reader, 1000, &mut packet).expect("bytes") {
            sizes.push(packet.len());
        }
        assert_eq!(sizes, [4, 2, 259]);
        for none in [&[][..], &[PACKET], &[PACKET, 0x80], &[0x12, 0], &[PACKET, 1], &[PACKET; 9]] {
            assert!(!read_packet(&mut &none[..], 1000, &mut packet).expect("bytes"), "{none:?}");
        }
        let huge = [PACKET, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
        assert!(!read_packet(&mut &huge[..], 1000, &mut packet).expect("bytes"));
    }
}
