//! Writes traces: packets as fields of a `Trace`, each with the id of its sequence.

use protolog_core::schema::{packet, trace};
use protozero::wire::{WireType, packed_varint, tag};
use protozero::{Heap, Message, Writer};
use std::io::{self, Write};

const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
const SEQUENCE_ID: u8 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u8;

/// Writes the packets of a trace.
pub struct PacketWriter<'a> {
    out: &'a mut dyn Write,
}

impl<'a> PacketWriter<'a> {
    /// A writer to `out`.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// Appends a packet, which has no sequence id, to `sequence`; 0 for none.
    pub fn write(&mut self, sequence: u32, bytes: &[u8]) -> io::Result<()> {
        let (id, id_len) = packed_varint(u64::from(sequence));
        let id_len = if sequence == 0 { 0 } else { 1 + id_len };
        let (size, size_len) = packed_varint((bytes.len() + id_len) as u64);
        let mut head = [PACKET; 11];
        head[1..=size_len].copy_from_slice(&size.to_le_bytes()[..size_len]);
        self.out.write_all(&head[..=size_len])?;
        self.out.write_all(bytes)?;
        let mut tail = [SEQUENCE_ID; 11];
        tail[1..].copy_from_slice(&id.to_le_bytes()[..10]);
        self.out.write_all(&tail[..id_len])
    }

    /// Appends a packet to `sequence`, whose fields `fill` sets.
    pub fn write_with(
        &mut self,
        sequence: u32,
        fill: impl FnOnce(&mut Message<'_, Heap>),
    ) -> io::Result<()> {
        let mut writer = Writer::new(Heap::new());
        fill(&mut writer.message());
        let packet = writer.into_vec().map_err(io::Error::other)?;
        self.write(sequence, &packet)
    }
}
