//! The parts of a recording without a file: that of a session whose buffer ends with the process.
//! A core file of the process has them, each at an address of its own.
//!
//! ```text
//! 28672 u64 + address of the header; 0 in a file, and once the session has ended
//! 28680 u64 + number of parts
//! 28688 u64 address of a table of writers, by id: 32768 × { u64 + address of the writer's losses, u64 + address of the number of
//!       messages in its chunks that were ever completed }; 0 if there is none
//! 28696 169 × { u64 + offset in the recording, u64 + address, u64 + size }
//! ```
//!
//! The header begins at a page. A part is there before it is counted. The metadata grows by parts
//! that follow each other.
//!
//! The losses of a writer are 48 × { u64 + key, u64 + count, u64, u64 } with keys as in the header,
//! then a u64 + for each reason without a slot: causes of losses, in their order, and what sampling
//! passed over. They come on top of those in the header, but for messages that were overwritten.
//! The numbers of messages stand for the writer's counters in the header.

use super::{
    LOSSES, LOSSES_AT, OTHER_MESSAGE_COUNT_AT, message_count_at, other_losses_at, parse_loss_key,
    pinned_message_count_at, read_u64,
};
use crate::{LossCause, Unwritten};

/// Offset of the address of the header.
pub const HEADER_ADDRESS_AT: usize = 28672;
/// Offset of the number of parts.
pub const PART_COUNT_AT: usize = HEADER_ADDRESS_AT + 8;
/// The most parts that there can be.
pub const MAX_PARTS: usize = 169;
/// Offset of the address of the table of writers.
pub const WRITERS_ADDRESS_AT: usize = PART_COUNT_AT + 8;
/// Number of writers in that table.
pub const WRITERS: usize = 32768;
/// Size of its entries, in bytes.
pub const WRITER_ENTRY_SIZE: usize = 16;
/// Number of slots in the losses of a writer.
pub const WRITER_LOSS_SLOTS: usize = 48;
/// Size of such a slot, in bytes.
pub const WRITER_LOSS_SLOT_SIZE: usize = 64;
/// Size of the losses of a writer, in bytes.
pub const WRITER_LOSSES_SIZE: usize =
    WRITER_LOSS_SLOTS * WRITER_LOSS_SLOT_SIZE + 8 * (LossCause::ALL.len() + 1);

const PARTS_AT: usize = WRITERS_ADDRESS_AT + 8;
const PART_SIZE: usize = 24;

const _: () = assert!(
    super::PINNED_COUNTS_AT + 8 * super::PINNED_COUNTS <= HEADER_ADDRESS_AT
        && PARTS_AT + MAX_PARTS * PART_SIZE <= super::RING_AT
);

/// A part of a recording in the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPart {
    /// Its offset in the recording.
    pub at: u64,
    /// Its address in the process.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

impl MemoryPart {
    /// The words that stand for it, from [`memory_part_at`] on.
    pub const fn to_words(self) -> [u64; 3] {
        [self.at, self.address, self.size]
    }
}

/// Offset of the part with this index, which is below [`MAX_PARTS`].
pub const fn memory_part_at(index: usize) -> usize {
    PARTS_AT + PART_SIZE * index
}

/// The address of a header in its process; none in a file.
pub fn header_address(header: &[u8]) -> Option<u64> {
    read_u64(header, HEADER_ADDRESS_AT).filter(|address| *address != 0)
}

/// The parts that a header counts.
pub fn memory_parts(header: &[u8]) -> impl Iterator<Item = MemoryPart> {
    let count = read_u64(header, PART_COUNT_AT).unwrap_or(0).min(MAX_PARTS as u64);
    (0..count as usize).map_while(|index| {
        let word = |number: usize| read_u64(header, memory_part_at(index) + 8 * number);
        Some(MemoryPart { at: word(0)?, address: word(1)?, size: word(2)? })
    })
}

/// The losses of a writer in these bytes: each key, and the number of messages. What was
/// overwritten is counted elsewhere.
pub fn writer_losses(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let slots = (0..WRITER_LOSS_SLOTS).filter_map(|slot| {
        let at = WRITER_LOSS_SLOT_SIZE * slot;
        let (key, count) = (read_u64(bytes, at)?, read_u64(bytes, at + 8)?);
        // A writer tells more apart by its keys.
        let known = parse_loss_key(key).map(|(group, cause)| super::loss_key(group, cause));
        Some((known.unwrap_or(key), count))
    });
    let rest = LossCause::ALL.into_iter().map(Unwritten::Lost);
    let rest = rest.chain([Unwritten::PassedOver(None)]).enumerate();
    let rest = rest.filter_map(|(index, reason)| {
        let at = WRITER_LOSS_SLOTS * WRITER_LOSS_SLOT_SIZE + 8 * index;
        Some((super::loss_key(0, reason.number()), read_u64(bytes, at)?))
    });
    let overwritten = LossCause::Overwritten as u32;
    slots.chain(rest).filter(move |(key, count)| {
        *count > 0 && parse_loss_key(*key).is_some_and(|(_, cause)| cause != overwritten)
    })
}

/// Adds losses to those of a header.
pub fn add_losses(header: &mut [u8], key: u64, count: u64) {
    let Some((group, cause)) = parse_loss_key(key) else { return };
    let Some(reason) = Unwritten::from_number(cause) else { return };
    let mut slots = (0..LOSSES).map(|slot| LOSSES_AT + 16 * slot);
    let slot =
        slots.find(|at| matches!(read_u64(header, *at), Some(known) if known == key || known == 0));
    let at = match slot.filter(|_| group != 0) {
        Some(at) => {
            put(header, at, key);
            Some(at + 8)
        }
        None => other_losses_at(reason.of_unknown_group().number()),
    };
    if let Some(at) = at {
        put(header, at, read_u64(header, at).unwrap_or(0).saturating_add(count));
    }
}

/// Adds the messages in all completed chunks of a writer to those of a header.
pub fn add_messages(header: &mut [u8], writer: u16, count: u64) {
    match message_count_at(writer).or(pinned_message_count_at(writer)) {
        Some(at) => put(header, at, count),
        None => {
            let others = read_u64(header, OTHER_MESSAGE_COUNT_AT).unwrap_or(0);
            put(header, OTHER_MESSAGE_COUNT_AT, others.saturating_add(count));
        }
    }
}

fn put(header: &mut [u8], at: usize, word: u64) {
    let place = header.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
    if let Some(place) = place {
        *place = word.to_ne_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn parts_are_read_as_far_as_they_are_counted() {
        let mut header = vec![0; super::super::RING_AT];
        assert_eq!((header_address(&header), memory_parts(&header).count()), (None, 0));
        let mut put = |at: usize, word: u64| header[at..][..8].copy_from_slice(&word.to_ne_bytes());
        let part = |number| MemoryPart { at: number, address: number << 32, size: number + 1 };
        for number in 0..MAX_PARTS {
            for (index, word) in part(number as u64).to_words().into_iter().enumerate() {
                put(memory_part_at(number) + 8 * index, word);
            }
        }
        put(HEADER_ADDRESS_AT, 7 << 12);
        put(PART_COUNT_AT, 2);
        assert_eq!(header_address(&header), Some(7 << 12));
        assert_eq!(memory_parts(&header).collect::<Vec<_>>(), [part(0), part(1)]);
        header[PART_COUNT_AT..][..8].fill(0xff);
        assert_eq!(memory_parts(&header).count(), MAX_PARTS, "no more than there is room for");
        assert_eq!(memory_parts(&header[..PARTS_AT + 40]).count(), 1, "it is cut");
    }

    #[test]
    fn losses_of_writers_come_on_top_of_those_in_the_header() {
        let key = |group, cause: LossCause| super::super::loss_key(group, cause as u32);
        let mut bytes = vec![0; WRITER_LOSSES_SIZE];
        let full = key(7, LossCause::BufferFull);
        let slots = [(full, 3), (key(7, LossCause::Overwritten), 5), (full ^ 1, 0), (1, 9)];
        for (slot, (key, count)) in slots.into_iter().enumerate() {
            put(&mut bytes, WRITER_LOSS_SLOT_SIZE * slot, key);
            put(&mut bytes, WRITER_LOSS_SLOT_SIZE * slot + 8, count);
        }
        put(&mut bytes, WRITER_LOSSES_SIZE - 8, 11);
        let passed_over = super::super::loss_key(0, Unwritten::PassedOver(None).number());
        let found = writer_losses(&bytes).collect::<Vec<_>>();
        assert_eq!(found, [(full, 3), (passed_over, 11)]);
        assert_eq!(writer_losses(&bytes[..40]).count(), 1, "it is cut");
        let mut header = vec![0; super::super::HEADER_SIZE];
        for (key, count) in found.into_iter().chain([(full, 4), (u64::MAX, 1), (0, 1)]) {
            add_losses(&mut header, key, count);
        }
        assert_eq!(read_u64(&header, LOSSES_AT), Some(full));
        assert_eq!(read_u64(&header, LOSSES_AT + 8), Some(7));
        let other = other_losses_at(Unwritten::PassedOver(None).number()).unwrap();
        assert_eq!(read_u64(&header, other), Some(11));
        for group in 1..=LOSSES as u32 {
            add_losses(&mut header, key(group, LossCause::Reentrant), 1);
        }
        let other = other_losses_at(LossCause::Reentrant as u32).unwrap();
        assert_eq!(read_u64(&header, other), Some(1), "the last one has no slot");
    }

    #[test]
    fn messages_of_writers_are_those_of_the_header() {
        let mut header = vec![0; super::super::RING_AT];
        let pinned = crate::chunk::FIRST_PINNED_WRITER_ID;
        for (writer, count) in [(1, 5), (pinned, 7), (345, 8), (346, 9)] {
            add_messages(&mut header, writer, count);
        }
        let read = |at| read_u64(&header, at).unwrap();
        assert_eq!(read(message_count_at(1).unwrap()), 5);
        assert_eq!(read(pinned_message_count_at(pinned).unwrap()), 7);
        assert_eq!(read(OTHER_MESSAGE_COUNT_AT), 17);
    }
}
