//! The speed of light: what a writer would cost if encoding and checking cost nothing; and if only
//! encoding did.

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

/// Fields follow each other without gaps, as in protobuf: where one goes depends on the values
/// before it, so the compiler can't join stores, and each needs a check. The bytes are those in
/// memory; their number, which takes an encoder some instructions, was computed before.
#[derive(Default)]
pub(crate) struct Running;

impl Fill for Running {
    #[inline]
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        append(slot, 0, &records[0]).unwrap_or(0)
    }

    #[inline]
    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        let ends = records.iter().try_fold(0, |at, record| append(slot, at, record));
        ends.unwrap_or(0)
    }
}

/// Appends a tag and a value for each integer, a tag, a size and the text: tags of one byte, but
/// for the text's.
#[inline(always)]
#[allow(clippy::inline_always, reason = "as in the writers that encode")]
fn append(slot: &mut [u8; SLOT], mut at: usize, record: &Record) -> Option<usize> {
    for (field, (word, len)) in record.words.into_iter().zip(record.lens).enumerate() {
        let place: &mut [u8; 16] = slot.get_mut(at..)?.first_chunk_mut()?;
        let [tag, value @ ..] = place;
        *tag = field as u8;
        *value.first_chunk_mut()? = word.to_le_bytes();
        at += 1 + usize::from(len);
    }
    let place: &mut [u8; 3] = slot.get_mut(at..)?.first_chunk_mut()?;
    *place = [1, 2, record.text_len as u8];
    let text = slot.get_mut(at + 3..)?.first_chunk_mut::<32>()?;
    *text = record.text;
    Some(at + 3 + record.text_len)
}
