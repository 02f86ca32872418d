//! The way back to packets after damage, for a reader of a trace or of a window of it.
//!
//! trace_processor goes on where the damaged packet says that it ends, and walks over whatever fields are there. That is right
//! where only the contents are damaged. Where a length is, packets are also searched for.
//!
//! Invariant: never fewer packets than by that walk; what is found by search is a chain of packets (see [`hole`]), so it is no
//! string that was logged, unless that is longer than [`ENOUGH`] bytes.

use protozero::Reader;

use crate::hole::{self, Budget};

/// Bytes of packets in a row that are taken for packets after damage. Less than after a hole, since damage may come often.
const ENOUGH: usize = 4 << 10;

/// Finds where packets go on after `bytes`, which begin with a damaged packet or with another field. `end` is where this one
/// says that it ends. None if that is the place to go on, or if there is none.
pub(crate) fn find(bytes: &[u8], end: Option<usize>, budget: &mut Budget) -> Option<usize> {
    let is_right = match end {
        Some(end) => is_end_of_packet(bytes, end),
        None => hole::is_start_of_bundle(bytes),
    };
    if budget.is_spent() || is_right {
        return None;
    }
    let found = hole::find_chain(bytes, ENOUGH, budget);
    let walked = end.and_then(|end| walk(bytes, end, found.unwrap_or(bytes.len()), budget));
    walked.or(found)
}

/// Returns whether the next packet, or nothing, is at `end`.
fn is_end_of_packet(bytes: &[u8], end: usize) -> bool {
    let Some(rest) = bytes.get(end..).filter(|rest| !rest.is_empty()) else { return true };
    hole::first_packet(rest)
        .is_some_and(|packet| !packet.is_empty() && Reader::new(packet).all(|it| it.is_ok()))
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
}
