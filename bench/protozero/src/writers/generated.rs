//! This project's writer, by the setters that `protozero-build` makes of a schema.

use protozero::{AsMessage, Fixed, Writer};

use crate::memory::{Fill, SLOT};
use crate::record::{Message, Record};
use schema::EveryField;

#[allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::pedantic,
    reason = "written by a program, of which a part is used"
)]
mod schema {
    include!(concat!(env!("OUT_DIR"), "/every_field.rs"));
}

#[derive(Default)]
pub(crate) struct Generated;

impl Fill for Generated {
    #[inline]
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        let mut writer = Writer::new(Fixed::new(slot));
        fields(&mut EveryField::root(&mut writer), &records[0]);
        writer.finish().map_or(0, |finished| finished.ended.used)
    }

    #[inline]
    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        let mut writer = Writer::new(Fixed::new(slot));
        let mut message = EveryField::root(&mut writer);
        fields(&mut message, &records[0]);
        let mut first = message.field_nested();
        fields(&mut first, &records[1]);
        let mut second = first.field_nested();
        fields(&mut second, &records[2]);
        let mut third = second.field_nested();
        fields(&mut third, &records[3]);
        drop(third);
        drop(second);
        drop(first);
        writer.finish().map_or(0, |finished| finished.ended.used)
    }
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "as ProtoZero's own benchmark fills its messages")]
fn fields<M: AsMessage>(message: &mut EveryField<M>, record: &Record) {
    let [int32, uint32, int64, uint64] = record.words;
    message
        .field_int32(int32 as i32)
        .field_uint32(uint32 as u32)
        .field_int64(int64 as i64)
        .field_uint64(uint64)
        .field_string(record.string);
}
