//! Packets on their way from chunks to a file: sequences, and packets with their sizes.
//!
//! In a chunk each packet stands behind its size; `sized` bytes have this form.

use protolog_core::chunk::DROPPED_PACKET_SIZE;
use protolog_core::schema::packet;
use protozero::wire::{WireType, decode_varint, tag};

/// The first byte of a message's packet, and of no other one.
pub(in crate::session) const MESSAGE: u8 = tag(packet::TIMESTAMP, WireType::Varint) as u8;

/// The session's own sequence in a file; that of a writer is its id and one.
pub(in crate::session) const OWN_SEQUENCE: u32 = 1;

/// Returns the sequence of a writer in a file.
pub(in crate::session) fn sequence_id(writer_id: u16) -> u32 {
    OWN_SEQUENCE + writer_id as u32
}

/// Splits `sized` bytes into the first packet and the rest; none if they begin with no packet.
pub(in crate::session) fn split(sized: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, size_len) = decode_varint(sized).ok()?;
    sized.get(size_len..)?.split_at_checked(size as usize)
}

/// Returns the bytes of the first `count` packets of `sized`; all, if some are followed by no
/// packet.
pub(in crate::session) fn span(sized: &[u8], count: usize) -> usize {
    let mut rest = sized;
    for _ in 0..count {
        rest = split(rest).map_or(&[], |(_, after)| after);
    }
    sized.len() - rest.len()
}

// A dropped packet's size fits no chunk, so the walk over committed packets ends there.
const _: () = assert!(DROPPED_PACKET_SIZE as usize > protolog_core::chunk::MAX_PAGE);
