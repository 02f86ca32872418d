//! Copying what was surveyed.

use super::MergeInput;
use super::error::MergeError;
use super::stream::{self, End, Stop};
use super::survey::{self, Survey};
use crate::packets::PacketWriter;
use protolog_core::hash;
use protolog_core::schema::packet;
use protozero::{DecodeError, Heap, Reader, Writer};
use std::collections::HashSet;

/// See the module.
pub(super) struct Copy<'a, 'b> {
    survey: &'a mut Survey,
    to: &'a mut PacketWriter<'b>,
    /// Hashes of the elements of dictionaries that are written.
    written: HashSet<u64>,
    /// Packets that were written.
    pub(super) packets: u64,
    /// Packets that can't be read.
    pub(super) malformed: u64,
}

/// What is to become of a packet.
enum Kind<'a> {
    /// As it is, with another sequence.
    Plain,
    /// Written already.
    Snapshot,
    Dictionary,
    Bundle(&'a [u8]),
}

impl<'a, 'b> Copy<'a, 'b> {
    pub(super) fn new(survey: &'a mut Survey, to: &'a mut PacketWriter<'b>) -> Self {
        Self { survey, to, written: HashSet::new(), packets: 0, malformed: 0 }
    }

    /// Writes the clock snapshots that count for the whole trace, in the order of time.
    pub(super) fn snapshots(&mut self) -> Result<(), MergeError> {
        let mut snapshots = std::mem::take(&mut self.survey.snapshots);
        snapshots.sort_by_key(|snapshot| snapshot.nanos);
        for snapshot in &snapshots {
            self.write(snapshot.sequence, &snapshot.packet)?;
        }
        Ok(())
    }

    /// Writes all else of an input.
    pub(super) fn input(
        &mut self,
        index: usize,
        input: &dyn MergeInput,
    ) -> Result<End, MergeError> {
        let stop = |stop: Stop| stop.of(input.name());
        let trace = input.open().map_err(|error| stop(error.into()))?;
        stream::packets(trace, &mut |bytes| self.packet(index, bytes, true)).map_err(stop)
    }

    fn packet(&mut self, index: usize, bytes: &[u8], outer: bool) -> Result<(), Stop> {
        let Ok((sequence, kind)) = kind(bytes) else {
            self.malformed += 1;
            return Ok(());
        };
        match kind {
            Kind::Snapshot => Ok(()),
            Kind::Bundle(bytes) if outer => {
                let end = stream::bundle(bytes, &mut |bytes| self.packet(index, bytes, false))?;
                self.malformed += u64::from(end != End::Whole);
                Ok(())
            }
            Kind::Bundle(_) => {
                self.malformed += 1;
                Ok(())
            }
            Kind::Plain => {
                let sequence = self.survey.id(index, sequence);
                Ok(self.write(sequence, &without_sequence(bytes))?)
            }
            Kind::Dictionary => {
                let sequence = self.survey.id(index, sequence);
                match self.dictionary(bytes) {
                    Some(packet) => Ok(self.write(sequence, &packet)?),
                    None => Ok(()),
                }
            }
        }
    }

    fn write(&mut self, sequence: u32, packet: &[u8]) -> Result<(), MergeError> {
        self.packets += 1;
        self.to.packet(sequence, packet).map_err(MergeError::Write)
    }

    /// A packet with what of its dictionary is not written yet; none where nothing is left of it.
    fn dictionary(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut kept = Vec::with_capacity(bytes.len());
        let (mut reader, mut from) = (Reader::new(bytes), 0);
        while let Some(Ok(field)) = reader.next() {
            let whole = bytes.get(from..reader.offset() as usize).unwrap_or_default();
            from = reader.offset() as usize;
            match field.number {
                packet::TRUSTED_PACKET_SEQUENCE_ID => {}
                packet::PROTOLOG_VIEWER_CONFIG => {
                    let config = self.new_elements(field.as_bytes().unwrap_or_default());
                    let mut writer = Writer::new(Heap::with_capacity(config.len() + 16));
                    if !config.is_empty() {
                        writer.message().bytes(packet::PROTOLOG_VIEWER_CONFIG, &config);
                    }
                    kept.extend(writer.into_vec().unwrap_or_default());
                }
                _ => kept.extend_from_slice(whole),
            }
        }
        (!kept.is_empty()).then_some(kept)
    }

    /// The elements of a dictionary that are not written yet.
    fn new_elements(&mut self, config: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(config.len());
        let (mut reader, mut from) = (Reader::new(config), 0);
        while let Some(Ok(_)) = reader.next() {
            let element = config.get(from..reader.offset() as usize).unwrap_or_default();
            from = reader.offset() as usize;
            if self.written.insert(hash(element)) {
                kept.extend_from_slice(element);
            }
        }
        kept
    }
}

/// The sequence of a packet, and what is to become of it.
fn kind(bytes: &[u8]) -> Result<(u32, Kind<'_>), DecodeError> {
    let (mut sequence, mut kind) = (0, Kind::Plain);
    for field in Reader::new(bytes) {
        let field = field?;
        match field.number {
            packet::TRUSTED_PACKET_SEQUENCE_ID => sequence = field.as_u32()?,
            packet::CLOCK_SNAPSHOT if survey::snapshot(field)?.is_some() => kind = Kind::Snapshot,
            packet::PROTOLOG_VIEWER_CONFIG => {
                field.as_bytes()?;
                kind = Kind::Dictionary;
            }
            packet::COMPRESSED_PACKETS => kind = Kind::Bundle(field.as_bytes()?),
            _ => {}
        }
    }
    Ok((sequence, kind))
}

/// A packet without the field that names its sequence.
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
