//! One packet of an input, as far as merging depends on it.

use crate::clock::clock_values;
use protolog_core::schema::{clock_id, packet, sequence_info};
use protozero::{DecodeError, Field, Reader};

/// Ids of clocks that belong to one sequence.
const SEQUENCE_CLOCKS: std::ops::Range<u32> = 64..128;

/// The parts of a packet that matter to merging.
#[derive(Debug, Default)]
pub(super) struct PacketContents<'a> {
    /// Its sequence id; 0 for none.
    pub(super) sequence: u32,
    /// BOOTTIME, or another clock, of a clock snapshot for the whole trace.
    pub(super) snapshot: Option<u64>,
    /// The boot id.
    pub(super) boot: Option<&'a [u8]>,
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
            let field = field?;
            match field.number {
                packet::TRUSTED_PACKET_SEQUENCE_ID => contents.sequence = field.as_u32()?,
                packet::CLOCK_SNAPSHOT => contents.snapshot = snapshot(field)?,
                packet::PROTOLOG_VIEWER_CONFIG => {
                    field.as_bytes()?;
                    contents.configs.push(field);
                }
                packet::COMPRESSED_PACKETS => contents.compressed = Some(field.as_bytes()?),
                packet::SEQUENCE_INFO => {
                    for field in field.as_message()? {
                        let field = field?;
                        if field.number == sequence_info::BOOT_ID {
                            contents.boot = Some(field.as_bytes()?);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(contents)
    }
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

/// The packet without its sequence id.
pub(super) fn without_sequence(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let (mut reader, mut from) = (Reader::new(bytes), 0);
    while let Some(Ok(field)) = reader.next() {
        let end = reader.offset() as usize;
        if field.number != packet::TRUSTED_PACKET_SEQUENCE_ID {
            kept.extend_from_slice(bytes.get(from..end).unwrap_or_default());
        }
        from = end;
    }
    kept
}
