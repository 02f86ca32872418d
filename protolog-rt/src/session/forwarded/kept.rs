//! The messages that a session kept which nobody forwarded, for another session: as packets, of
//! each writer in order, without messages that the other one does not enable.
//!
//! A message that is left out leaves its time and its strings, in a packet before the next one:
//! later messages count on from the former, and refer to the latter.
//!
//! Invariant: the packets of a chunk that is whole set up their own state, as the chunk does.

use super::ForwardedSession;
use crate::loss::LossCount;
use crate::session::packets::copied::{MESSAGE, split};
use crate::session::packets::dictionary::Dictionary;
use crate::session::packets::message_counts::id;
use crate::session::stream::drain::{PacketSink, Sequence};
use crate::writer::Writer as TraceWriter;
use protolog_core::schema::{packet, sequence_flags};
use protozero::wire::{WireType, tag};
use protozero::{Heap, Reader, Writer};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The messages that another session enables.
#[derive(Debug)]
struct Selection {
    /// All messages of this program.
    known: Dictionary,
    /// The messages that the other session enables.
    enabled: Dictionary,
}

/// The effect of messages that were left out on the next packet of a sequence.
#[derive(Debug, Default)]
struct LeftOut {
    /// The time since the last packet, in nanoseconds.
    time: u64,
    /// Strings that no packet has yet.
    strings: Vec<u8>,
}

/// Takes the packets of a chunk.
struct KeptPackets<'a> {
    selection: &'a Selection,
    packets: Vec<Vec<u8>>,
    pending: &'a mut LeftOut,
}

/// The first byte of a packet that sets up the state of a sequence, and of no message.
const STATE: u8 = tag(packet::CLOCK_SNAPSHOT, WireType::Bytes) as u8;

impl ForwardedSession {
    /// Passes what the session has kept to `take`: the id of a writer, and the packets of its next
    /// chunk, for a session that enables what `other` does. The session is over for its writers.
    pub(crate) fn take_kept(&self, other: &Self, mut take: impl FnMut(u16, Vec<Vec<u8>>)) {
        let mut enabled = other.dictionary();
        enabled.write_modules(&mut |_| {});
        enabled.write_interned(&mut |_| {});
        let selection = Selection { known: Dictionary::known(), enabled };
        let mut sequences = HashMap::<u16, (u32, Sequence, LeftOut)>::new();
        let mut reader = self.core.buffer.reader();
        loop {
            let mut found = reader.find(true);
            found.sort_by_key(|chunk| (chunk.writer_id, chunk.chunk_id));
            let mut freed = 0;
            for info in found {
                let (next, sequence, pending) = sequences.entry(info.writer_id).or_default();
                if info.chunk_id != *next {
                    continue;
                }
                let Some(chunk) = reader.read(&info) else { continue };
                let mut kept = KeptPackets { selection: &selection, packets: Vec::new(), pending };
                sequence.copy(&chunk.committed(), info.is_complete, &mut kept);
                if info.is_complete {
                    sequence.next(false);
                    *next = next.wrapping_add(1);
                    freed += 1;
                }
                drop(chunk);
                take(info.writer_id, kept.packets);
            }
            // A thread that was within a message has completed its chunk meanwhile.
            if freed == 0 {
                return;
            }
        }
    }

    /// Takes the writers that have no chunk in the buffer off `ended`, writers whose threads have
    /// ended. Their drops become those of threads without a sequence.
    pub(crate) fn forget_absent(&self, ended: &mut Vec<Arc<TraceWriter>>) {
        let found = self.core.buffer.reader().find(true);
        let present: HashSet<u16> = found.iter().map(|chunk| chunk.writer_id).collect();
        ended.retain(|writer| {
            let is_present = present.contains(&writer.id);
            if !is_present {
                writer.losses.take(|lost| {
                    self.core.unattributed.restore(lost);
                    true
                });
                self.retire(writer);
            }
            is_present
        });
    }

    /// Counts the drops that the chunks of `other` report as reported by this session.
    pub(crate) fn note_reported_by(&self, other: &Self) {
        self.note(&super::take(|accept| other.core.reported.take(accept)));
    }

    /// Takes the drops of threads that had no sequence in `other`: the caller's packets report them
    /// for this session.
    pub(crate) fn take_unattributed_of(&self, other: &Self) -> Vec<LossCount> {
        let losses = super::take(|accept| other.core.unattributed.take(accept));
        self.note(&losses);
        losses
    }
}

impl Selection {
    /// Returns whether a message is left out. One that nobody knows is not.
    fn excludes(&self, packet: &[u8]) -> bool {
        id(packet).is_some_and(|id| self.known.has(id) && !self.enabled.has(id))
    }
}

impl KeptPackets<'_> {
    /// Leaves a message out.
    fn skip(&mut self, message: &[u8]) {
        for field in Reader::new(message).map_while(Result::ok) {
            match field.number {
                packet::TIMESTAMP => self.pending.time += field.as_u64().unwrap_or(0),
                packet::INTERNED_DATA => {
                    self.pending.strings.extend(field.as_bytes().unwrap_or_default());
                }
                packet::PROTOLOG_MESSAGE => break,
                _ => {}
            }
        }
    }

    /// Writes what messages that were left out leave.
    fn catch_up(&mut self) {
        let LeftOut { time, strings } = std::mem::take(self.pending);
        if time == 0 && strings.is_empty() {
            return;
        }
        let mut writer = Writer::new(Heap::new());
        let mut to = writer.message();
        // First, since a packet that begins with its time is counted as a message.
        to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
        to.uint64(packet::TIMESTAMP, time);
        if !strings.is_empty() {
            to.bytes(packet::INTERNED_DATA, &strings);
        }
        self.packets.extend(writer.into_vec());
    }
}

impl PacketSink for KeptPackets<'_> {
    fn packet(&mut self, packet: &[u8]) {
        if packet.first() == Some(&MESSAGE) && self.selection.excludes(packet) {
            return self.skip(packet);
        }
        match packet.first() {
            None => return,
            Some(&STATE) => *self.pending = LeftOut::default(),
            Some(_) => self.catch_up(),
        }
        self.packets.push(packet.to_vec());
    }

    fn packets(&mut self, mut sized: &[u8], count: u16) {
        for _ in 0..count {
            let Some((packet, rest)) = split(sized) else { return };
            self.packet(packet);
            sized = rest;
        }
    }
}
