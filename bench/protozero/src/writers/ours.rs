//! This project's writer.

use protozero::{Delegate, Fixed, Message as Fields, Writer};

use crate::memory::{Fill, SLOT};
use crate::record::{Message, Record};

#[derive(Default)]
pub(crate) struct Ours;

impl Fill for Ours {
    #[inline]
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        let mut writer = Writer::new(Fixed::new(slot));
        fields(&mut writer.message(), &records[0]);
        writer.finish().map_or(0, |finished| finished.ended.used)
    }

    #[inline]
    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        let mut writer = Writer::new(Fixed::new(slot));
        let mut message = writer.message();
        fields(&mut message, &records[0]);
        let mut first = message.nested(501);
        fields(&mut first, &records[1]);
        let mut second = first.nested(501);
        fields(&mut second, &records[2]);
        let mut third = second.nested(501);
        fields(&mut third, &records[3]);
        drop(third);
        drop(second);
        drop(first);
        writer.finish().map_or(0, |finished| finished.ended.used)
    }
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "as ProtoZero's own benchmark fills its messages")]
fn fields<D: Delegate>(message: &mut Fields<'_, D>, record: &Record) {
    let [int32, uint32, int64, uint64] = record.words;
    message
        .int32(1, int32 as i32)
        .uint32(3, uint32 as u32)
        .int64(2, int64 as i64)
        .uint64(4, uint64)
        .string(500, record.string);
}
