//! Logs that Android wrote before it had Perfetto (`.winscope`), made traces: then all that reads
//! traces reads them, too.
//!
//! ```text
//! magic        1  fixed64  "PROTOLOG"
//! version      2  string
//! offset       3  fixed64  milliseconds from boot time to the wall clock
//! log          4  repeated
//!   hash       1  sfixed32, or 7 sfixed64: the id of the message, as dictionaries in JSON have it
//!   time       2  fixed64  nanoseconds since boot
//!   strings    3  repeated
//!   integers   4  sint64, packed
//!   floats     5  double, packed
//!   booleans   6  packed
//! ```
//!
//! Invariant: after an entry that can't be decoded stands a packet that is cut off, so that it is
//! said to be missing.

use protolog_core::schema::{
    clock, clock_id, clock_snapshot, interned_data, interned_string, message, packet,
    sequence_flags,
};
use protolog_recording::PacketWriter;
use protozero::wire::decode_varint;
use protozero::{Field, Heap, Message, Reader};
use std::io;

/// The first bytes of such a log.
const MAGIC: &[u8] = b"\x09PROTOLOG";
const OFFSET: u32 = 3;
const LOG: u32 = 4;

/// The sequence of all messages: the log says nothing of threads.
const SEQUENCE: u32 = 1;

/// A packet that is cut off.
const CUT: [u8; 2] = [0x0a, 1];

/// Returns whether a file is such a log, by its first bytes.
pub fn is_winscope_log(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Makes a trace of such a log.
pub fn trace_of_winscope_log(log: &[u8]) -> Vec<u8> {
    let mut trace = Vec::with_capacity(log.len().saturating_mul(2));
    let is_whole = write(log, &mut trace).unwrap_or(false);
    if !is_whole {
        trace.extend(CUT);
    }
    trace
}

/// Writes the trace of a log; false if a part of that can't be decoded.
fn write(log: &[u8], trace: &mut Vec<u8>) -> io::Result<bool> {
    let mut to = PacketWriter::new(trace);
    let fields = || Reader::new(log).map_while(Result::ok);
    let offset =
        fields().filter(|field| field.number == OFFSET).find_map(|it| it.as_fixed64().ok());
    to.write_with(SEQUENCE, |packet| {
        packet.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
        if let Some(offset) = offset {
            let mut snapshot = packet.nested(packet::CLOCK_SNAPSHOT);
            for (id, ns) in
                [(clock_id::BOOTTIME, 0), (clock_id::REALTIME, offset.wrapping_mul(1_000_000))]
            {
                snapshot
                    .nested(clock_snapshot::CLOCKS)
                    .uint32(clock::CLOCK_ID, id)
                    .uint64(clock::TIMESTAMP, ns);
            }
        }
    })?;
    let mut strings = 0;
    for field in Reader::new(log) {
        let Ok(field) = field else { return Ok(false) };
        if field.number != LOG {
            continue;
        }
        let Some(entry) = WinscopeMessage::read(field) else { return Ok(false) };
        to.write_with(SEQUENCE, |packet| entry.write(packet, &mut strings))?;
    }
    Ok(true)
}

/// One message.
#[derive(Debug, Default)]
struct WinscopeMessage<'a> {
    id: i64,
    time: u64,
    strings: Vec<&'a [u8]>,
    integers: Vec<i64>,
    floats: Vec<f64>,
    booleans: Vec<bool>,
}

impl<'a> WinscopeMessage<'a> {
    /// Reads a message; none if it can't be decoded.
    fn read(field: Field<'a>) -> Option<Self> {
        let mut entry = Self::default();
        for field in field.as_message().ok()? {
            let field = field.ok()?;
            let packed = field.as_bytes();
            match (field.number, packed) {
                (1, _) => entry.id = field.as_sfixed32().ok()?.into(),
                (7, _) => entry.id = field.as_sfixed64().ok()?,
                (2, _) => entry.time = field.as_fixed64().ok()?,
                (3, text) => entry.strings.push(text.ok()?),
                (4, Ok(bytes)) => entry.integers.extend(varints(bytes)?.into_iter().map(unzigzag)),
                (4, Err(_)) => entry.integers.push(field.as_sint64().ok()?),
                (5, Ok(bytes)) => {
                    let (floats, rest) = bytes.as_chunks();
                    entry.floats.extend(floats.iter().map(|bytes| f64::from_le_bytes(*bytes)));
                    Some(()).filter(|()| rest.is_empty())?;
                }
                (5, Err(_)) => entry.floats.push(field.as_f64().ok()?),
                (6, Ok(bytes)) => entry.booleans.extend(varints(bytes)?.iter().map(|it| *it != 0)),
                (6, Err(_)) => entry.booleans.push(field.as_bool().ok()?),
                _ => {}
            }
        }
        Some(entry)
    }

    /// Writes the packet of the message; `strings` is the number of those that were interned so
    /// far.
    fn write(&self, packet: &mut Message<'_, Heap>, strings: &mut u64) {
        packet.uint64(packet::TIMESTAMP, self.time);
        packet.uint32(packet::TIMESTAMP_CLOCK_ID, clock_id::BOOTTIME);
        packet.uint32(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
        let first = *strings + 1;
        if !self.strings.is_empty() {
            let mut interned = packet.nested(packet::INTERNED_DATA);
            for text in &self.strings {
                *strings += 1;
                interned
                    .nested(interned_data::PROTOLOG_STRING_ARGS)
                    .uint64(interned_string::IID, *strings)
                    .bytes(interned_string::STR, text);
            }
        }
        let mut message = packet.nested(packet::PROTOLOG_MESSAGE);
        message.fixed64(message::MESSAGE_ID, self.id as u64);
        for iid in first..=*strings {
            message.uint64(message::STR_PARAM_IIDS, iid);
        }
        for value in &self.integers {
            message.sint64(message::SINT64_PARAMS, *value);
        }
        for value in &self.floats {
            message.double(message::DOUBLE_PARAMS, *value);
        }
        for value in &self.booleans {
            message.int32(message::BOOLEAN_PARAMS, i32::from(*value));
        }
    }
}

fn varints(mut bytes: &[u8]) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let (value, length) = decode_varint(bytes).ok()?;
        values.push(value);
        bytes = &bytes[length..];
    }
    Some(values)
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
