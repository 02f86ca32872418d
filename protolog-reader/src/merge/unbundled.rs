//! The packets of an input as they are compared: those in bundles, too, and of malformed ones the
//! part that is read.

use super::input_expansion::InputExpansion;
use super::packet_contents::{PacketContents, good_part};
use super::packet_stream::{self, Piece, Stop};
use crate::damage::limits::NESTING;

/// A visitor of packets, each with its bytes.
type ContentsVisitor<'a> = dyn FnMut(&PacketContents<'_>, &[u8]) -> Result<(), Stop> + 'a;

/// Calls `visitor` with a packet, which is in so many bundles, or with those in it.
pub(super) fn visit(
    bytes: &[u8],
    (depth, inflated): (u32, &InputExpansion),
    visitor: &mut ContentsVisitor<'_>,
) -> Result<(), Stop> {
    let Ok(found) = PacketContents::read(bytes) else {
        // The copier counts it.
        return match good_part(bytes) {
            Some(part) => visit(&part, (depth, inflated), visitor),
            None => Ok(()),
        };
    };
    let Some(bundle) = found.compressed else { return visitor(&found, bytes) };
    if depth >= NESTING {
        return Ok(());
    }
    packet_stream::bundle(bundle, inflated, &mut |piece| match piece {
        Piece::Packet(bytes) => visit(bytes, (depth + 1, inflated), visitor),
        Piece::Hole(_) | Piece::Damage(_) | Piece::Other => Ok(()),
    })?;
    Ok(())
}
