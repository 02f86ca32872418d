//! Copies the packets of the inputs to the result.

use super::error::MergeError;
use super::input::MergeInput;
use super::packet::{PacketContents, without_sequence};
use super::stream::{self, Stop, TraceEnd};
use super::survey::Survey;
use crate::packets::PacketWriter;
use protolog_core::hash;
use protolog_core::schema::packet;
use protozero::{Heap, Reader, Writer};
use std::collections::HashSet;

/// Copies packets, with the knowledge of a survey.
pub(super) struct Copier<'a, 'b> {
    survey: &'a mut Survey,
    to: &'a mut PacketWriter<'b>,
    /// Hashes of the dictionary elements that were written.
    written: HashSet<u64>,
    /// Packets that were written.
    pub(super) packets: u64,
    /// Packets that can't be decoded.
    pub(super) malformed: u64,
}

impl<'a, 'b> Copier<'a, 'b> {
    pub(super) fn new(survey: &'a mut Survey, to: &'a mut PacketWriter<'b>) -> Self {
        Self { survey, to, written: HashSet::new(), packets: 0, malformed: 0 }
    }

    /// Writes the clock snapshots for the whole trace, in the order of time.
    pub(super) fn copy_snapshots(&mut self) -> Result<(), MergeError> {
        let mut snapshots = std::mem::take(&mut self.survey.snapshots);
        snapshots.sort_by_key(|snapshot| snapshot.nanos);
        for snapshot in &snapshots {
            self.write(snapshot.sequence, &snapshot.packet)?;
        }
        Ok(())
    }

    /// Writes all other packets of an input.
    pub(super) fn copy_input(
        &mut self,
        index: usize,
        input: &dyn MergeInput,
    ) -> Result<TraceEnd, MergeError> {
        let stop = |stop: Stop| stop.into_error(input.name());
        let trace = input.open().map_err(|error| stop(error.into()))?;
        stream::packets(trace, &mut |bytes| self.packet(index, bytes, true)).map_err(stop)
    }

    fn packet(&mut self, index: usize, bytes: &[u8], outer: bool) -> Result<(), Stop> {
        let Ok(found) = PacketContents::read(bytes) else {
            self.malformed += 1;
            return Ok(());
        };
        match found.compressed {
            Some(bundle) if outer => {
                let end = stream::bundle(bundle, &mut |bytes| self.packet(index, bytes, false))?;
                self.malformed += u64::from(end != TraceEnd::Whole);
                return Ok(());
            }
            Some(_) => {
                self.malformed += 1;
                return Ok(());
            }
            // `copy_snapshots` has written it.
            None if found.snapshot.is_some() => return Ok(()),
            None => {}
        }
        let sequence = self.survey.id(index, found.sequence);
        if found.configs.is_empty() {
            return Ok(self.write(sequence, &without_sequence(bytes))?);
        }
        match self.new_packet(bytes) {
            Some(packet) => Ok(self.write(sequence, &packet)?),
            None => Ok(()),
        }
    }

    fn write(&mut self, sequence: u32, packet: &[u8]) -> Result<(), MergeError> {
        self.packets += 1;
        self.to.write(sequence, packet).map_err(MergeError::Write)
    }

    /// A packet reduced to the dictionary elements that are not written yet; none if nothing is left.
    fn new_packet(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
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
