//! The survey of all inputs before the first packet is written: sequences, clock snapshots, boots,
//! dictionaries.

use super::changes::Changes;
use super::error::MergeError;
use super::input_expansion::InputExpansion;
use super::merge_input::MergeInput;
use super::packet_contents::{PacketContents, without_sequence};
use super::packet_place::{Places, may_have_more_elsewhere};
use super::packet_stream::{self, Piece, Stop, TraceEnd};
use super::unbundled;
use crate::bytes::looks::Looks;
use crate::clocks::ClockSnapshot;
use crate::dictionary::elements::{self, Element};
use crate::dictionary::{Group, Message};
use crate::inputs::input_clocks::{ClockNumbers, InputClocks};
use crate::inputs::overlaps::Overlaps;
use protozero::{Field, Reader};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

/// Maximum number of clock snapshots for the whole trace: one per second for 12 days.
const MAX_SNAPSHOTS: usize = 1 << 20;

/// The findings about all inputs.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// New ids, by input, number of holes before, and old id: after a hole nothing of a sequence is
    /// as it was.
    ids: HashMap<(usize, u32, u32), u32>,
    /// Number of holes in the input so far.
    holes: u32,
    /// Clock snapshots for the whole trace.
    pub(super) snapshots: Vec<SnapshotPacket>,
    /// The threads and times that inputs have in common.
    pub(super) overlaps: Overlaps,
    clocks: InputClocks,
    /// The inputs that may have anything that another one has.
    concerned: HashSet<usize>,
    /// The inputs with stack traces, or with texts that may be cut.
    partial: HashSet<usize>,
    clock_numbers: HashMap<usize, ClockNumbers>,
    /// The ids that several processes have.
    shared_pids: Vec<u32>,
    /// The processes of inputs that an earlier merge has told apart, by pid.
    told_apart: HashSet<(usize, u32)>,
    messages: HashMap<u64, (Message, usize)>,
    groups: HashMap<u32, (Group, usize)>,
    /// The hashes of the dictionaries of stripped programs.
    pub(super) stripped: BTreeSet<u64>,
}

/// A packet with a clock snapshot.
#[derive(Debug)]
pub(super) struct SnapshotPacket {
    /// BOOTTIME, or another clock if it has none.
    pub(super) nanos: u64,
    /// The index of its input.
    pub(super) input: usize,
    /// The new id of its sequence.
    pub(super) sequence: u32,
    /// The packet without its sequence id.
    pub(super) packet: Vec<u8>,
}

impl Survey {
    /// Surveys one of `inputs`.
    pub(super) fn add_input(
        &mut self,
        index: usize,
        input: &dyn MergeInput,
        inputs: &[&dyn MergeInput],
        expansion: u64,
    ) -> Result<(), MergeError> {
        let name = || input.name().to_owned();
        let open = || input.open();
        let failed = |error: io::Error| Stop::from(error).into_error(input.name());
        let looks = open().and_then(Looks::of_start).map_err(failed)?;
        let no_trace = || Err(MergeError::NotATrace { input: name(), looks });
        if looks == Looks::Dictionary {
            // Its messages would pass for packets of unknown fields.
            return no_trace();
        }
        let trace = open().map_err(failed)?;
        let (mut packets, mut good) = (0u64, 0u64);
        let mut places = Places::of_times();
        self.holes = 0;
        let inflated = InputExpansion::new(expansion);
        let end = packet_stream::packets(trace, &inflated, &mut |piece| {
            let bytes = match piece {
                Piece::Packet(bytes) => bytes,
                Piece::Hole(_) => {
                    self.add_hole();
                    places.tear();
                    return Ok(());
                }
                Piece::Damage(_) | Piece::Other => return Ok(()),
            };
            packets += 1;
            good += u64::from(Reader::new(bytes).all(|field| field.is_ok()));
            self.add_packet((index, bytes), inputs, &mut places, &inflated)
        });
        match end {
            Ok(TraceEnd::NotATrace) => no_trace(),
            Ok(TraceEnd::Early) if good == 0 => no_trace(),
            Ok(_) if good == 0 && packets > 0 => no_trace(),
            Ok(_) => Ok(()),
            Err(stop) => Err(stop.into_error(input.name())),
        }
    }

    /// The new id of a sequence; 0 for none.
    pub(super) fn id(&mut self, input: usize, sequence: u32) -> u32 {
        let next = self.ids.len() as u32 + 1;
        let old = (input, self.holes, sequence);
        if sequence == 0 { 0 } else { *self.ids.entry(old).or_insert(next) }
    }

    /// Counts a hole in an input.
    pub(super) fn add_hole(&mut self) {
        self.holes += 1;
    }

    /// Begins an input again.
    pub(super) fn restart(&mut self) {
        self.holes = 0;
    }

    /// Returns whether there was a hole in the input before.
    pub(super) fn is_torn(&self) -> bool {
        self.holes > 0
    }

    /// Number of sequences.
    pub(super) fn sequences(&self) -> u32 {
        self.ids.len() as u32
    }

    fn add_packet(
        &mut self,
        (index, bytes): (usize, &[u8]),
        inputs: &[&dyn MergeInput],
        places: &mut Places,
        inflated: &InputExpansion,
    ) -> Result<(), Stop> {
        unbundled::visit(bytes, (0, inflated), &mut |found, bytes| {
            if inputs.len() > 1 {
                self.add_place(index, found, places);
            }
            let sequence = self.id(index, found.packet.sequence);
            if let Some(nanos) = found.snapshot {
                if self.snapshots.len() == MAX_SNAPSHOTS {
                    return Err(MergeError::Snapshots.into());
                }
                let packet = without_sequence(bytes);
                self.snapshots.push(SnapshotPacket { nanos, input: index, sequence, packet });
            }
            if let Some(boot) = found.boot {
                self.clocks.add_boot(index, boot);
            }
            for config in &found.configs {
                self.check_dictionary(index, *config, inputs)?;
            }
            Ok(())
        })
    }

    /// Notes the thread and the time of a packet.
    fn add_place(&mut self, index: usize, found: &PacketContents<'_>, places: &mut Places) {
        if let Some(process) = found.process {
            self.overlaps.add_process(index, process);
        }
        let packet = &found.packet;
        self.told_apart.extend(packet.local_pid.map(|pid| (index, pid)));
        if let Some(Ok(snapshot)) = packet.snapshot.map(ClockSnapshot::parse) {
            self.clocks.add(index, &snapshot);
        }
        let has_partial = |interned| may_have_more_elsewhere(interned).unwrap_or(false);
        if packet.interned.is_some_and(|it| !self.partial.contains(&index) && has_partial(it)) {
            self.partial.insert(index);
        }
        let Ok(place) = places.next(packet, 0) else { return };
        if packet.message.is_some() || packet.track_event.is_some() {
            self.overlaps.add(index, place.origin, place.moment);
        }
        if packet.has_losses || packet.dropped {
            self.overlaps.add(index, place.origin, place.loss_moment);
        }
    }

    /// The changes to the packets of an input, where they mean something else in another one.
    pub(super) fn changes(&self, input: usize) -> Changes {
        let clocks = self.clock_numbers.get(&input).cloned().unwrap_or_default();
        let mut changes = Changes::of_clocks(clocks);
        for (pid, process) in self.overlaps.processes_of(input, &self.shared_pids) {
            changes.set_process(pid, process);
            if !self.told_apart.contains(&(input, pid)) {
                changes.tell_apart(pid, process);
            }
        }
        changes
    }

    /// Relates the inputs to each other, when all are surveyed.
    pub(super) fn finish(&mut self, inputs: &[&dyn MergeInput]) -> Result<(), MergeError> {
        if let Some(boots) = self.clocks.incomparable() {
            return Err(MergeError::Boots { inputs: boots.map(|it| inputs[it].name().to_owned()) });
        }
        self.clock_numbers = self.clocks.numbers();
        self.shared_pids = self.overlaps.shared_pids();
        self.concerned = self.overlaps.concerned();
        Ok(())
    }

    /// Returns whether an input may have anything that another one has.
    pub(super) fn is_concerned(&self, input: usize) -> bool {
        self.concerned.contains(&input)
    }

    /// Returns whether one of them may have more of a message than another one.
    pub(super) fn has_unequal(&self) -> bool {
        self.partial.iter().any(|input| self.is_concerned(*input))
    }

    /// Returns whether an input has this message whole in its dictionary.
    pub(super) fn has_message(&self, id: u64) -> bool {
        self.messages.contains_key(&id)
    }

    /// Returns whether an input has a group with this id.
    pub(super) fn has_group(&self, id: u32) -> bool {
        self.groups.contains_key(&id)
    }

    /// The groups of all inputs: id, name and tag.
    pub(super) fn groups(&self) -> impl Iterator<Item = (u32, &str, &str)> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|(id, _)| **id);
        groups.into_iter().map(|(id, (group, _))| (*id, &*group.name, &*group.tag))
    }

    /// Compares a dictionary with those of the other inputs. Contradictions within one input are
    /// ignored.
    fn check_dictionary(
        &mut self,
        index: usize,
        config: Field<'_>,
        inputs: &[&dyn MergeInput],
    ) -> Result<(), MergeError> {
        let mut clash = None;
        elements::visit(config.as_bytes().unwrap_or_default(), |element, _| {
            let found = match element {
                Element::Message(id, message) => self.clash_of_message(index, id, &message, inputs),
                Element::Group(id, group) => self.clash_of_group(index, id, &group, inputs),
                Element::Stripped(hash) => {
                    self.stripped.insert(hash);
                    None
                }
                _ => None,
            };
            clash = clash.take().or(found);
        });
        clash.map_or(Ok(()), Err)
    }

    fn clash_of_message(
        &mut self,
        index: usize,
        id: u64,
        message: &Message,
        inputs: &[&dyn MergeInput],
    ) -> Option<MergeError> {
        let (known, first) = self.messages.entry(id).or_insert_with(|| (message.clone(), index));
        if *first == index || known.has_same_meaning(message) {
            return None;
        }
        let meanings = [(&*known, *first), (message, index)]
            .map(|(message, index)| meaning(message.template(), &message.location, inputs[index]));
        Some(MergeError::Clash { id: format!("message {id:016x}"), meanings })
    }

    fn clash_of_group(
        &mut self,
        index: usize,
        id: u32,
        group: &Group,
        inputs: &[&dyn MergeInput],
    ) -> Option<MergeError> {
        let (known, first) = self.groups.entry(id).or_insert_with(|| (group.clone(), index));
        if *first == index || known == group {
            return None;
        }
        let meanings = [(&*known, *first), (group, index)].map(|(group, index)| {
            meaning(&group.name, &format!("tag {}", group.tag), inputs[index])
        });
        Some(MergeError::Clash { id: format!("group {id:08x}"), meanings })
    }
}

/// A text with its location and its input, for an error message.
fn meaning(text: &str, place: &str, input: &dyn MergeInput) -> String {
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    format!("`{text}`{place} in `{}`", input.name())
}
