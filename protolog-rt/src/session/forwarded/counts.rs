//! The messages of a forwarded session, counted where their chunks are copied: those that were
//! forwarded, and those that could not be.
//!
//! Invariant: a message is counted once, when the last byte of its packet is.

use crate::loss::{LossCause, LossCount};
use crate::session::arbiter::requests::SoFar;
use crate::session::packets::copied::{MESSAGE, split};
use crate::session::packets::dictionary::Dictionary;
use crate::session::packets::gap::{Gap, records};
use crate::session::packets::message_counts::{self, Counts};
use crate::session::packets::sequence_state::SequenceState;
use crate::session::stream::drain::{PacketSink, Sequence};
use protolog_core::chunk::Packets;
use protolog_shmem::Committed;
use std::collections::{HashMap, HashSet};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ForwardedCounts {
    sequences: HashMap<u16, Sequence>,
    forwarded: PacketTally,
    lost: LostTally,
}

/// Counts packets.
#[derive(Debug, Default)]
struct PacketTally {
    counts: Counts,
    bytes: u64,
}

/// The ids of messages.
#[derive(Debug, Default)]
struct MessageIds(HashSet<u64>);

/// Counts messages that are lost, and the drops that lost packets report.
#[derive(Debug, Default)]
struct LostTally(Gap);

impl ForwardedCounts {
    /// Counts what is new of a writer's next chunk, of which `committed` was forwarded.
    pub(crate) fn count(&mut self, writer: u16, committed: &Committed<'_>, is_complete: bool) {
        let sequence = self.sequences.entry(writer).or_default();
        follow(sequence, committed, is_complete, &mut self.forwarded);
    }

    /// Returns the ids of the messages that [`Self::count`] would count.
    pub(crate) fn preview(
        &self,
        writer: u16,
        committed: &Committed<'_>,
        is_complete: bool,
    ) -> HashSet<u64> {
        let mut ids = MessageIds::default();
        match self.sequences.get(&writer) {
            Some(sequence) => sequence.preview(committed, is_complete, &mut ids),
            None => Sequence::default().preview(committed, is_complete, &mut ids),
        }
        ids.0
    }

    /// Returns the ids of the messages among packets.
    pub(crate) fn ids(packets: &[Vec<u8>]) -> HashSet<u64> {
        let mut ids = MessageIds::default();
        for packet in packets {
            ids.packet(packet);
        }
        ids.0
    }

    /// Counts what is new of a writer's next chunk as lost: it will not be forwarded.
    pub(crate) fn lose(&mut self, writer: u16, committed: &Committed<'_>, is_complete: bool) {
        let sequence = self.sequences.entry(writer).or_default();
        follow(sequence, committed, is_complete, &mut self.lost);
    }

    /// Counts packets that were forwarded.
    pub(crate) fn count_packets(&mut self, packets: &[Vec<u8>]) {
        for packet in packets {
            self.forwarded.packet(packet);
        }
    }

    /// Counts packets as lost.
    pub(crate) fn lose_packets(&mut self, packets: &[Vec<u8>]) {
        for packet in packets {
            self.lost.packet(packet);
        }
    }

    /// Returns the ids of messages that were forwarded for the first time since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<u64> {
        self.forwarded.counts.take_new()
    }

    /// Returns the number of messages that were forwarded.
    pub(crate) fn messages(&self) -> u64 {
        self.forwarded.counts.messages()
    }

    /// Returns the number of messages that were lost on the way.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.0.messages.messages()
    }

    /// Returns the drops that packets were to report which were lost on the way.
    pub(crate) fn lost_reports(&self) -> &[LossCount] {
        &self.lost.0.reported
    }

    /// Returns the messages that were lost on the way as drops, by group: the shared memory had no
    /// free chunk. And the drops that lost packets were to report.
    pub(super) fn losses(&self) -> (Vec<LossCount>, &[LossCount]) {
        if self.lost.0.is_empty() {
            return (Vec::new(), &[]);
        }
        let mut losses = Dictionary::known().unwritten(&self.lost.0);
        for lost in &mut losses {
            lost.cause = LossCause::BufferFull.into();
        }
        (losses, &self.lost.0.reported)
    }

    /// Returns the state of the session, but for drops.
    pub(super) fn so_far(&self) -> SoFar {
        let PacketTally { counts, bytes } = &self.forwarded;
        SoFar {
            messages: counts.messages(),
            bytes: *bytes,
            counts: counts.clone(),
            ..SoFar::default()
        }
    }
}

fn follow(
    sequence: &mut Sequence,
    committed: &Committed<'_>,
    is_complete: bool,
    to: &mut impl PacketSink,
) {
    sequence.copy(committed, is_complete, to);
    if is_complete {
        sequence.next(false);
    }
}

/// Returns packets that set up the state of a sequence after the first `bytes` bytes of a chunk,
/// for the rest of it.
pub(crate) fn state_after(chunk: &Committed<'_>, bytes: usize) -> Vec<Vec<u8>> {
    let mut before = chunk.bytes.get(..bytes).unwrap_or_default();
    if chunk.flags & Packets::CONTINUES != 0 {
        before = split(before).map_or(&[], |(_, after)| after);
    }
    let mut state = SequenceState::default();
    state.follow(before);
    state.packets().into_iter().filter(|packet| !packet.is_empty()).collect()
}

/// Returns the bytes of the first `count` of these packets, each with its size.
pub(crate) fn span(sized: &[u8], count: u16) -> usize {
    crate::session::packets::copied::span(sized, count.into())
}

impl PacketSink for PacketTally {
    fn packet(&mut self, packet: &[u8]) {
        self.bytes += packet.len() as u64;
        self.counts.packet(packet, packet.len());
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        each(sized, count, |packet| self.packet(packet));
    }
}

impl PacketSink for MessageIds {
    fn packet(&mut self, packet: &[u8]) {
        if packet.first() == Some(&MESSAGE) {
            self.0.extend(message_counts::id(packet));
        }
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        each(sized, count, |packet| self.packet(packet));
    }
}

impl PacketSink for LostTally {
    fn packet(&mut self, packet: &[u8]) {
        if !self.0.messages.packet(packet, packet.len()) {
            records(packet).for_each(|lost| lost.add_to(&mut self.0.reported));
        }
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        each(sized, count, |packet| self.packet(packet));
    }
}

fn each(mut sized: &[u8], count: u16, mut take: impl FnMut(&[u8])) {
    for _ in 0..count {
        let Some((packet, rest)) = split(sized) else { return };
        take(packet);
        sized = rest;
    }
}
