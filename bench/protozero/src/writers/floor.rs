//! The speed of light: what a writer would cost if encoding and checking cost nothing.

use crate::memory::{Fill, SLOT};
use crate::record::{Message, Record};

/// Bytes of a record's values as they are in memory.
const LEN: usize = 4 + 4 + 8 + 8 + 32;

#[derive(Default)]
pub(crate) struct Floor;

impl Fill for Floor {
    #[inline]
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        copy::<0>(slot, &records[0])
    }

    #[inline]
    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        copy::<0>(slot, &records[0])
            + copy::<LEN>(slot, &records[1])
            + copy::<{ 2 * LEN }>(slot, &records[2])
            + copy::<{ 3 * LEN }>(slot, &records[3])
    }
}

/// All offsets are constants, so the compiler leaves no check.
#[inline]
fn copy<const AT: usize>(slot: &mut [u8; SLOT], record: &Record) -> usize {
    slot[AT..AT + 4].copy_from_slice(&(record.words[0] as u32).to_le_bytes());
    slot[AT + 4..AT + 8].copy_from_slice(&(record.words[1] as u32).to_le_bytes());
    slot[AT + 8..AT + 16].copy_from_slice(&record.words[2].to_le_bytes());
    slot[AT + 16..AT + 24].copy_from_slice(&record.words[3].to_le_bytes());
    slot[AT + 24..AT + LEN].copy_from_slice(&record.text);
    LEN
}
