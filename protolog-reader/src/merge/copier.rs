//! Copies the packets of the inputs to the result.

use super::changes::Changes;
use super::error::MergeError;
use super::fuller_copies::FullerCopies;
use super::given_dictionaries::GivenDictionaries;
use super::held_packets::{Held, Omitted};
use super::input_expansion::InputExpansion;
use super::merge_input::MergeInput;
use super::packet_contents::{
    PacketContents, encoded, fields, good_part, without, without_sequence,
};
use super::packet_place::{Place, Places};
use super::packet_stream::{self, Piece, Stop, TraceEnd};
use super::survey::{SnapshotPacket, Survey};
use crate::damage::limits::NESTING;
use crate::dictionary::elements::{self, Element};
use crate::inputs::overlaps::Occurrences;
use crate::inputs::thread_ids::mix;
use crate::losses::loss::LossRecord;
use crate::packets::trace_packet::Packet;
use crate::sequences::sessions::Sessions;
use protolog_core::hash;
use protolog_core::schema::packet;
use protolog_recording::PacketWriter;
use protozero::Reader;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// In place of a record, the content of a mark that packets were lost.
const MARK: u64 = 8;

/// Copies packets, with the knowledge of a survey.
pub(super) struct Copier<'a, 'b> {
    survey: &'a mut Survey,
    to: &'a mut PacketWriter<'b>,
    /// Hashes of the dictionary elements that were written.
    written: HashSet<u64>,
    /// Messages that other inputs may have, too.
    occurrences: Occurrences,
    /// Messages of which one of several inputs has more.
    fuller: FullerCopies,
    /// What dictionaries beside the inputs have.
    pub(super) given: GivenDictionaries,
    /// The state of the input; none if no other one can have anything of it.
    places: Option<Places>,
    /// The packets that sequences of the input hold back, by the sequence's new id.
    held: HashMap<u32, Held>,
    /// The changes in the packets of the input.
    changes: Changes,
    /// New ids of sequences whose state was set up after a hole.
    cleared: HashSet<u32>,
    /// Sessions in the result.
    pub(super) sessions: Sessions,
    /// Bytes of holes.
    pub(super) skipped_bytes: u64,
    pub(super) damaged_bytes: u64,
    /// Packets that were written.
    pub(super) packets: u64,
    /// Packets that can't be decoded, or not to their ends.
    pub(super) malformed: u64,
    /// Elements of dictionaries that can't be decoded.
    pub(super) malformed_elements: u64,
    /// Messages that the result has from another input.
    pub(super) duplicates: u64,
    /// Losses that the result has from another input.
    pub(super) duplicate_losses: u64,
}

impl<'a, 'b> Copier<'a, 'b> {
    pub(super) fn new(
        survey: &'a mut Survey,
        (fuller, given): (FullerCopies, GivenDictionaries),
        to: &'a mut PacketWriter<'b>,
    ) -> Self {
        Self {
            survey,
            to,
            written: HashSet::new(),
            occurrences: Occurrences::default(),
            fuller,
            given,
            places: None,
            held: HashMap::new(),
            changes: Changes::default(),
            cleared: HashSet::new(),
            sessions: Sessions::default(),
            skipped_bytes: 0,
            damaged_bytes: 0,
            packets: 0,
            malformed: 0,
            malformed_elements: 0,
            duplicates: 0,
            duplicate_losses: 0,
        }
    }

    /// Writes the clock snapshots for the whole trace, in the order of time.
    pub(super) fn copy_snapshots(&mut self) -> Result<(), MergeError> {
        let mut snapshots = std::mem::take(&mut self.survey.snapshots);
        snapshots.sort_by_key(|snapshot| snapshot.nanos);
        let mut changes: HashMap<usize, Changes> = HashMap::new();
        for SnapshotPacket { input, sequence, packet, .. } in &snapshots {
            let changes = changes.entry(*input).or_insert_with(|| self.survey.changes(*input));
            let parsed = Packet::parse(Reader::new(packet)).unwrap_or_default();
            let changed = changes.apply(*sequence, packet, &parsed);
            self.write(*sequence, changed.as_deref().unwrap_or(packet))?;
        }
        Ok(())
    }

    /// Writes what no input has of the dictionaries beside them.
    pub(super) fn write_given(&mut self) -> Result<(), MergeError> {
        let given = std::mem::take(&mut self.given.bytes);
        if given.is_empty() {
            return Ok(());
        }
        let elements = self.new_elements(&given);
        self.write(0, &encoded(|to| to.bytes(packet::PROTOLOG_VIEWER_CONFIG, &elements)))
    }

    /// Writes all other packets of an input.
    pub(super) fn copy_input(
        &mut self,
        index: usize,
        input: &dyn MergeInput,
        inflated: &InputExpansion,
    ) -> Result<TraceEnd, MergeError> {
        let stop = |stop: Stop| stop.into_error(input.name());
        let trace = input.open().map_err(|error| stop(error.into()))?;
        self.places = self.survey.is_concerned(index).then(Places::default);
        self.survey.restart();
        self.changes = self.survey.changes(index);
        self.cleared.clear();
        // No later packet needs those that are still held back.
        self.held.clear();
        let visitor = &mut |piece: Piece<'_>| match piece {
            Piece::Packet(bytes) => self.packet(index, bytes, (0, inflated)),
            Piece::Hole(bytes) => {
                self.skip_hole(bytes);
                Ok(())
            }
            Piece::Damage(bytes) => {
                self.damaged_bytes += bytes;
                Ok(())
            }
            Piece::Other => Ok(()),
        };
        packet_stream::packets(trace, inflated, visitor).map_err(stop)
    }

    fn skip_hole(&mut self, bytes: u64) {
        self.skipped_bytes += bytes;
        self.survey.add_hole();
        self.held.clear();
        if let Some(places) = &mut self.places {
            places.tear();
        }
    }

    /// Copies a packet, which is in so many bundles.
    fn packet(
        &mut self,
        index: usize,
        bytes: &[u8],
        (depth, inflated): (u32, &InputExpansion),
    ) -> Result<(), Stop> {
        let Ok(found) = PacketContents::read(bytes) else {
            self.malformed += 1;
            return match good_part(bytes) {
                Some(part) => self.packet(index, &part, (depth, inflated)),
                None => Ok(()),
            };
        };
        match found.compressed {
            Some(bundle) if depth < NESTING => {
                let copy = &mut |piece: Piece<'_>| match piece {
                    Piece::Packet(bytes) => self.packet(index, bytes, (depth + 1, inflated)),
                    // Within a bundle, zeros are damage as any other bytes.
                    Piece::Hole(bytes) | Piece::Damage(bytes) => {
                        self.damaged_bytes += bytes;
                        Ok(())
                    }
                    Piece::Other => Ok(()),
                };
                let end = packet_stream::bundle(bundle, inflated, copy)?;
                self.malformed += u64::from(end != TraceEnd::Whole && !inflated.is_cut());
                return Ok(());
            }
            Some(_) => {
                self.malformed += 1;
                return Ok(());
            }
            None => {}
        }
        let place =
            self.places.as_mut().map(|places| places.next(&found.packet, found.beside_event));
        if found.snapshot.is_some() {
            // `copy_snapshots` has written it.
            return Ok(());
        }
        let sequence = self.survey.id(index, found.packet.sequence);
        let untimed;
        let bytes = if self.is_untimed(sequence, &found.packet) {
            untimed = without(bytes, packet::TIMESTAMP);
            &untimed
        } else {
            bytes
        };
        let changed = self.changes.apply(sequence, bytes, &found.packet);
        let bytes = changed.as_deref().unwrap_or(bytes);
        if found.configs.is_empty() {
            if let (Some(Ok(place)), 1..) = (&place, sequence) {
                return Ok(self.copy_new(index, sequence, bytes, &found, place)?);
            }
            self.flush(sequence)?;
            self.sessions.note(sequence, &found.packet);
            return Ok(self.write(sequence, &without_sequence(bytes))?);
        }
        self.flush(sequence)?;
        match self.new_packet(bytes) {
            Some(packet) => Ok(self.write(sequence, &packet)?),
            None => Ok(()),
        }
    }

    /// Returns whether the timestamp of a packet counts in a clock that was named in a hole.
    fn is_untimed(&mut self, sequence: u32, packet: &Packet<'_>) -> bool {
        if !self.survey.is_torn() {
            return false;
        }
        if packet.cleared {
            self.cleared.insert(sequence);
        }
        packet.message.is_some() && packet.clock == 0 && !self.cleared.contains(&sequence)
    }

    /// Writes a packet without the parts that the result has from another input.
    fn copy_new(
        &mut self,
        index: usize,
        sequence: u32,
        bytes: &[u8],
        found: &PacketContents<'_>,
        place: &Place,
    ) -> Result<(), MergeError> {
        let packet = &found.packet;
        let mut omitted = Omitted::default();
        if let (Some(content), false) = (place.logged, place.moment.guessed) {
            let has_more = self.fuller.have(index, place, &mut self.survey.overlaps);
            omitted.logged = has_more || self.is_known(index, place, content);
            self.duplicates += u64::from(omitted.logged && packet.message.is_some());
        }
        if packet.has_losses {
            self.find_known_losses(index, bytes, place, &mut omitted);
            // The losses say the same as the mark; the state is set up again all the same.
            omitted.mark = packet.cleared && omitted.losses.iter().all(|known| *known);
        } else if packet.dropped && packet.cleared {
            let place = Place { moment: place.loss_moment, defined: Vec::new(), ..*place };
            omitted.mark = self.is_known(index, &place, mix(MARK));
            self.duplicate_losses += u64::from(omitted.mark);
        }
        if !omitted.logged {
            self.sessions.note(sequence, packet);
        }
        let held = self.held.entry(sequence).or_default();
        let (to, packets) = (&mut *self.to, &mut self.packets);
        let is_logged = packet.message.is_some() || packet.track_event.is_some();
        held.next(bytes, place, (packet.cleared, is_logged), &omitted, |packet| {
            *packets += 1;
            to.write(sequence, packet).map_err(MergeError::Write)
        })
    }

    /// Returns whether the result has this content of a thread, at this time, from another input.
    fn is_known(&mut self, index: usize, place: &Place, content: u64) -> bool {
        let Place { origin, process, moment, .. } = *place;
        let others = self.survey.overlaps.others(index, (origin, process), moment);
        others.is_some_and(|others| self.occurrences.has(index, origin, moment, others, content))
    }

    /// Finds the losses of a packet that the result has from another input.
    fn find_known_losses(
        &mut self,
        index: usize,
        bytes: &[u8],
        place: &Place,
        omitted: &mut Omitted,
    ) {
        let is_loss = |number: u32| matches!(number, packet::LOSS | packet::PASSED_OVER);
        let losses = fields(bytes).filter(|(field, _)| is_loss(field.number));
        for (loss, _) in losses {
            // The level of what was passed over stands where a loss has its cause.
            let kind = u64::from(loss.number - packet::LOSS) << 32;
            let known = LossRecord::parse(loss).is_ok_and(|loss| {
                let LossRecord { group, cause, count, .. } = loss;
                let parts = [group.unwrap_or(0).into(), kind | u64::from(cause), count];
                let guessed = place.loss_moment.guessed.into();
                let content =
                    parts.iter().fold(guessed, |sum, part| mix(sum ^ mix(part.wrapping_add(9))));
                let place = Place { moment: place.loss_moment, defined: Vec::new(), ..*place };
                self.is_known(index, &place, content)
            });
            self.duplicate_losses += u64::from(known);
            omitted.losses.push(known);
        }
    }

    /// Writes the packets that a sequence holds back.
    fn flush(&mut self, sequence: u32) -> Result<(), MergeError> {
        let Some(mut held) = self.held.remove(&sequence) else { return Ok(()) };
        held.flush(&mut |packet| self.write(sequence, packet))?;
        self.held.insert(sequence, held);
        Ok(())
    }

    fn write(&mut self, sequence: u32, packet: &[u8]) -> Result<(), MergeError> {
        self.packets += 1;
        self.to.write(sequence, packet).map_err(MergeError::Write)
    }

    /// A packet reduced to the dictionary elements that are not written yet; none if nothing is
    /// left.
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
                    if !config.is_empty() {
                        let number = packet::PROTOLOG_VIEWER_CONFIG;
                        kept.extend(encoded(|to| to.bytes(number, &config)));
                    }
                }
                _ => kept.extend_from_slice(whole),
            }
        }
        (!kept.is_empty()).then_some(kept)
    }

    /// The good elements of a dictionary that are not written yet, and the good parts of those that
    /// no input has whole.
    fn new_elements(&mut self, config: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(config.len());
        elements::visit(config, |element, bytes| {
            let is_bad = matches!(element, Element::Bad | Element::Part(..));
            self.malformed_elements += u64::from(is_bad);
            let element = match element {
                Element::Part(id, _) if !self.survey.has_message(id) => {
                    Cow::Owned(elements::good_part(bytes))
                }
                Element::Bad | Element::Part(..) => return,
                Element::Stripped(hash) if self.given.provided.contains(&hash) => return,
                _ => Cow::Borrowed(bytes),
            };
            if self.written.insert(hash(&element)) {
                kept.extend_from_slice(&element);
            }
        });
        kept
    }
}
