//! perfetto-sdk's `PbMsg`: ProtoZero's interface in Rust, over Perfetto's C library.
//!
//! Its only memory that a program may have without a tracing session is a `HeapBuffer`, made by the
//! C library. So there are two contestants: one whose messages share buffers, and one that gets
//! each message to its slot.

use perfetto_sdk::heap_buffer::HeapBuffer;
use perfetto_sdk::pb_msg::{PbMsg, PbMsgWriter};

use crate::memory::{Fill, Job, SLOT, Slot};
use crate::record::{Message, Record, Records};

/// So many messages share a buffer.
const SHARING: usize = 64;

/// Messages one after the other in heap buffers, and nothing in the slots.
pub(crate) fn shared(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    let messages = records.of(job.values);
    let (mut written, mut turn) = (0, 0);
    let turns = job.passes * slots.len();
    while turn < turns {
        let writer = PbMsgWriter::new();
        let _buffer = HeapBuffer::new(writer.stream_writer());
        for _ in 0..SHARING.min(turns - turn) {
            let records = &messages[turn % messages.len()];
            written += put(&writer, &records[..job.shape.levels()]);
            turn += 1;
        }
    }
    written
}

/// A heap buffer for each message, copied to the slot.
#[derive(Default)]
pub(crate) struct Copied;

impl Fill for Copied {
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        copied(slot, &records[..1])
    }

    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        copied(slot, records)
    }
}

fn copied(slot: &mut [u8; SLOT], records: &[Record]) -> usize {
    let writer = PbMsgWriter::new();
    let buffer = HeapBuffer::new(writer.stream_writer());
    let size = put(&writer, records);
    buffer.copy_into(&mut slot[..size]);
    size
}

fn put(writer: &PbMsgWriter, records: &[Record]) -> usize {
    let Ok(mut message) = PbMsg::new(writer) else {
        return 0;
    };
    fields(&mut message, records);
    message.finalize()
}

/// Integers are widened the way protobuf says.
fn fields(message: &mut PbMsg, records: &[Record]) {
    let Some((record, nested)) = records.split_first() else {
        return;
    };
    let [int32, uint32, int64, uint64] = record.words;
    message.append_type0_field(1, i64::from(int32 as i32).cast_unsigned());
    message.append_type0_field(3, u64::from(uint32 as u32));
    message.append_type0_field(2, int64);
    message.append_type0_field(4, uint64);
    message.append_cstr_field(500, record.string);
    if !nested.is_empty() {
        message.append_nested(501, |message| fields(message, nested));
    }
}
