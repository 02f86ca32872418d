//! The way back to packets after damage, for a reader of a trace or of a window of it.
//!
//! trace_processor goes on where the damaged packet says that it ends, and walks over whatever
//! fields are there. That is right where only the contents are damaged. Where a length is, packets
//! are also searched for.
//!
//! Invariant: never fewer packets than by that walk; a find of the search is a chain of packets
//! (see [`hole`]), so it is no string that was logged, unless that is longer than [`ENOUGH`] bytes.

use protolog_core::schema::{packet, trace};
use protozero::Reader;

use crate::damage::hole::{self, Budget};

/// Bytes of packets in a row that are taken for packets after damage. Less than after a hole, since
/// damage may come often.
const ENOUGH: usize = 4 << 10;

/// Other fields in a row that are not damage: of fields that a later version of Perfetto may have,
/// a trace has few.
const MOST_OTHER_FIELDS: usize = 8;

/// Finds where packets go on after `bytes`, which begin with a damaged packet or with another
/// field. `end` is where this one says that it ends. None if that is the place to go on, or if
/// there is none.
pub(crate) fn find(bytes: &[u8], end: Option<usize>, budget: &mut Budget) -> Option<usize> {
    let is_right = match end {
        // It ends where it says, and something is lost all the same.
        Some(end) if is_of_packet(&bytes[..end.min(bytes.len())]) => return Some(end),
        Some(end) => is_end_of_field(bytes, end),
        None => hole::is_start_of_bundle(bytes),
    };
    if budget.is_spent() || is_right {
        return None;
    }
    let found = hole::find_chain(bytes, ENOUGH, budget);
    let walked = end.and_then(|end| walk(bytes, end, found.unwrap_or(bytes.len()), budget));
    walked.or(found)
}

/// Returns whether the next packet, or nothing, is at `end`, or behind a few other fields that are
/// there.
fn is_end_of_field(bytes: &[u8], end: usize) -> bool {
    let mut rest = bytes.get(end..).unwrap_or_default();
    for _ in 0..MOST_OTHER_FIELDS {
        if rest.is_empty() {
            return true;
        }
        if rest.first() == Some(&hole::PACKET) {
            return hole::first_packet(rest).is_some_and(|packet| {
                !packet.is_empty() && Reader::new(packet).all(|it| it.is_ok())
            });
        }
        let mut reader = Reader::new(rest);
        let (Some(Ok(_)), length) = (reader.next(), reader.offset() as usize) else { return false };
        if is_of_packet(&rest[..length]) {
            return false;
        }
        rest = &rest[length..];
    }
    false
}

/// Returns whether a field that is no packet is one with a damaged tag, or the end of one with a
/// damaged length: packets end with the id of their sequence.
fn is_of_packet(field: &[u8]) -> bool {
    let field = Reader::new(field).next().and_then(Result::ok);
    field.is_some_and(|field| match field.number {
        trace::PACKET => false,
        packet::TRUSTED_PACKET_SEQUENCE_ID => true,
        _ => field.as_bytes().is_ok_and(hole::is_packet),
    })
}

/// Finds a packet before `limit` as trace_processor does, which skips other fields.
fn walk(bytes: &[u8], end: usize, limit: usize, budget: &mut Budget) -> Option<usize> {
    let mut reader = Reader::with_offset(bytes.get(end..)?, end as u64);
    while let Some(Ok(_)) = reader.next() {
        let at = reader.offset() as usize;
        if at >= limit || budget.is_spent() {
            return None;
        }
        budget.spend(at - end);
        if hole::first_packet(bytes.get(at..)?).is_some_and(hole::is_packet) {
            return Some(at);
        }
    }
    None
}

/// Says how much was skipped.
pub(crate) fn describe(bytes: u64) -> String {
    let plural = if bytes == 1 { "" } else { "s" };
    format!(
        "{bytes} byte{plural} skipped that are damaged; times of the next messages may be too early"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a timestamp and a sequence.
    const SMALL: [u8; 6] = [0x0a, 4, 0x40, 5, 0x50, 2];

    #[test]
    fn packets_go_on_after_a_damaged_length() {
        let find = |head: &[u8], end| {
            find(&[head, &SMALL.repeat(9)].concat(), end, &mut Budget::default())
        };
        assert_eq!(find(&[0x0a, 99, 0x40, 5, 0x50, 2], None), Some(6));
        assert_eq!(find(&[0x0a, 9, 0x40, 5, 0x50, 2], Some(11)), Some(6));
        assert_eq!(find(&[0x0a, 2, 0x40, 5, 0x50, 2], Some(4)), Some(6));
        assert_eq!(find(&[0x0a, 4, 0x40, 5, 0x57, 2], Some(6)), None, "the framing is right");
    }

    #[test]
    fn other_fields_are_no_damage() {
        let find = |head: &[u8], end| {
            find(&[head, &SMALL.repeat(9)].concat(), Some(end), &mut Budget::default())
        };
        assert_eq!(find(&[0x12, 2, 7, 7], 4), None);
        assert_eq!(find(&[0x12, 2, 7, 7, 0x18, 5, 0x12, 0], 4), None, "several of them");
        assert_eq!(find(&[0x12, 4, 0x40, 5, 0x50, 2], 6), Some(6), "a packet with a damaged tag");
        assert_eq!(find(&[0x12, 2, 7, 7, 0x1f, 5], 4), Some(6), "and then damage");
        assert_eq!(find(&[0x50, 2], 2), Some(2), "the end of a packet");
    }
}
