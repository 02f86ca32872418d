//! One packet of an input, as far as merging depends on it.

use crate::clocks::clock_values;
use crate::inputs::thread_ids::mix;
use crate::packets::trace_packet::{Packet, ZSTD_COMPRESSED_PACKETS};
use crate::sequences::process_info::{ProcessInfo, process_info};
use protolog_core::schema::{clock_id, packet};
use protozero::{DecodeError, Field, Heap, Message, Reader, Writer};

/// Ids of clocks that belong to one sequence.
const SEQUENCE_CLOCKS: std::ops::Range<u32> = 64..128;

/// The parts of a packet that matter to merging.
#[derive(Debug, Default)]
pub(super) struct PacketContents<'a> {
    /// The fields that matter to the log.
    pub(super) packet: Packet<'a>,
    /// BOOTTIME, or another clock, of a clock snapshot for the whole trace.
    pub(super) snapshot: Option<u64>,
    /// The boot id.
    pub(super) boot: Option<&'a [u8]>,
    /// The pid and the fingerprint of a process.
    pub(super) process: Option<(u32, u64)>,
    /// The hash of the fields beside its event, which are a part of that.
    pub(super) beside_event: u64,
    /// Its dictionaries.
    pub(super) configs: Vec<Field<'a>>,
    /// Its compressed bundle of packets.
    pub(super) compressed: Option<&'a [u8]>,
}

impl<'a> PacketContents<'a> {
    /// Parses a packet; an error if any of its fields is malformed.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut contents = Self::default();
        for field in Reader::new(bytes) {
            contents.add(field?)?;
        }
        Ok(contents)
    }

    fn add(&mut self, field: Field<'a>) -> Result<(), DecodeError> {
        self.packet.set(field)?;
        match field.number {
            packet::CLOCK_SNAPSHOT => self.snapshot = snapshot(field)?,
            packet::PROTOLOG_VIEWER_CONFIG => {
                field.as_bytes()?;
                self.configs.push(field);
            }
            packet::COMPRESSED_PACKETS | ZSTD_COMPRESSED_PACKETS => {
                self.compressed = Some(field.as_bytes()?);
            }
            packet::SEQUENCE_INFO => self.add_info(field)?,
            number if is_beside_event(number) => {
                self.beside_event = self.beside_event.wrapping_add(hash_beside(field));
            }
            _ => {}
        }
        Ok(())
    }

    fn add_info(&mut self, info: Field<'a>) -> Result<(), DecodeError> {
        let ProcessInfo { process, boot } = process_info(info)?;
        (self.process, self.boot) = (process.or(self.process), boot.or(self.boot));
        Ok(())
    }
}

/// Returns whether a field of a packet is a part of the event in it.
pub(super) fn is_beside_event(field: u32) -> bool {
    matches!(
        field,
        packet::SLICE_DEPTH
            | packet::SPAN_NUMBER
            | packet::SPAN_BUSY
            | packet::SPAN_AGE
            | packet::SPAN_MESSAGE
    )
}

/// The hash of such a field; the sum of several is the hash of all.
fn hash_beside(field: Field<'_>) -> u64 {
    let value = field.as_u64().or_else(|_| field.as_fixed64());
    tagged(field.number, value.unwrap_or_default())
}

/// The hash of a value with the number of its field.
pub(super) fn tagged(number: u32, value: u64) -> u64 {
    mix(value.wrapping_add(mix(number.into())))
}

/// The time of a clock snapshot; none if it is for one sequence.
fn snapshot(snapshot: Field<'_>) -> Result<Option<u64>, DecodeError> {
    let mut best = None;
    for clock in clock_values(snapshot)? {
        let (id, nanos) = clock?;
        if SEQUENCE_CLOCKS.contains(&id) {
            return Ok(None);
        }
        if best.is_none() || id == clock_id::BOOTTIME {
            best = Some(nanos);
        }
    }
    Ok(best)
}

/// The part of a malformed packet that is read: the good fields before the first one that can't be
/// decoded. Without its fields about the state of its sequence, the packets after it would mean
/// something else. None if there is no such field.
pub(super) fn good_part(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut part = Vec::with_capacity(bytes.len());
    for (field, whole) in fields(bytes) {
        if PacketContents::default().add(field).is_ok() {
            part.extend_from_slice(whole);
        }
    }
    (!part.is_empty()).then_some(part)
}

/// The packet without its sequence id.
pub(super) fn without_sequence(bytes: &[u8]) -> Vec<u8> {
    without(bytes, packet::TRUSTED_PACKET_SEQUENCE_ID)
}

/// The packet without the fields of this number.
pub(super) fn without(bytes: &[u8], number: u32) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    for (field, bytes) in fields(bytes) {
        if field.number != number {
            kept.extend_from_slice(bytes);
        }
    }
    kept
}

/// The fields of a packet that was read before, each with its bytes.
pub(crate) fn fields(bytes: &[u8]) -> impl Iterator<Item = (Field<'_>, &[u8])> {
    let (mut reader, mut from) = (Reader::new(bytes), 0);
    std::iter::from_fn(move || {
        let field = reader.next()?.ok()?;
        let end = reader.offset() as usize;
        let whole = bytes.get(from..end).unwrap_or_default();
        from = end;
        Some((field, whole))
    })
}

/// The bytes of a field.
pub(crate) fn encoded(
    write: impl for<'a, 'b> FnOnce(&'b mut Message<'a, Heap>) -> &'b mut Message<'a, Heap>,
) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    write(&mut writer.message());
    writer.into_vec().unwrap_or_default()
}
