//! What the packets of a chunk rest on, once more: for a file that has the end of a chunk but not its beginning.
//!
//! A chunk's first packet sets up clock, flags and thread, each message moves the clock on, and brings texts that later
//! ones may name. Whoever begins a file in the middle of a chunk writes a packet that says the same, as of there, with all
//! texts so far.
//!
//! Invariant: bytes that make no sense leave what was known before.

use super::wire::split;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, packet, packet_defaults, sequence_flags,
};
use protozero::{Field, Heap, Reader, Writer};

/// The most bytes that [`SequenceState::packets`] take in a file, but for texts.
const MAX_STATE: usize = 320;

/// What the packets of a chunk rest on, after those that were followed.
#[derive(Debug, Default)]
pub(super) struct SequenceState {
    /// The sequence's clock, in nanoseconds.
    time: u64,
    /// Process and thread, as the chunk's first packet has them.
    info: Vec<u8>,
    /// The packet that describes the thread's track, where the chunk has one.
    track: Vec<u8>,
    /// The contents of `interned_data` so far: texts and their ids.
    texts: Vec<u8>,
}

impl SequenceState {
    /// Takes note of packets, each with its size before it.
    pub(super) fn follow(&mut self, sized: &[u8]) {
        let mut rest = sized;
        while let Some((packet, after)) = split(rest) {
            for field in Reader::new(packet).map_while(Result::ok) {
                match field.number {
                    packet::TIMESTAMP => self.time += field.as_u64().unwrap_or(0),
                    packet::CLOCK_SNAPSHOT => {
                        self.time = time(field).unwrap_or(self.time);
                        self.track.clear();
                        self.texts.clear();
                    }
                    packet::SEQUENCE_INFO => {
                        self.info = field.as_bytes().unwrap_or_default().to_vec();
                    }
                    packet::TRACK_DESCRIPTOR => self.track = packet.to_vec(),
                    packet::INTERNED_DATA => {
                        self.texts.extend(field.as_bytes().unwrap_or_default());
                    }
                    // What a message says; nothing of interest follows.
                    packet::PROTOLOG_MESSAGE => break,
                    _ => {}
                }
            }
            rest = after;
        }
    }

    /// The most bytes that they take in a file.
    pub(super) fn size(&self) -> usize {
        MAX_STATE + self.texts.len()
    }

    /// The packets that say so.
    pub(super) fn packets(&self) -> [Vec<u8>; 2] {
        let mut writer = Writer::new(Heap::new());
        let mut state = writer.message();
        let mut snapshot = state.nested(packet::CLOCK_SNAPSHOT);
        for (id, incremental) in [(clock_id::SEQUENCE, true), (clock_id::BOOTTIME, false)] {
            let mut entry = snapshot.nested(clock_snapshot::CLOCKS);
            entry.uint32(clock::CLOCK_ID, id).uint64(clock::TIMESTAMP, self.time);
            if incremental {
                entry.bool(clock::IS_INCREMENTAL, true);
            }
        }
        drop(snapshot);
        state.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
        state
            .nested(packet::TRACE_PACKET_DEFAULTS)
            .uint32(packet_defaults::TIMESTAMP_CLOCK_ID, clock_id::SEQUENCE);
        state.bytes(packet::SEQUENCE_INFO, &self.info);
        if !self.texts.is_empty() {
            state.bytes(packet::INTERNED_DATA, &self.texts);
        }
        [writer.into_vec().unwrap_or_default(), self.track.clone()]
    }
}

/// The sequence's clock in a snapshot.
pub(super) fn time(snapshot: Field<'_>) -> Option<u64> {
    let clocks = snapshot.as_message().ok()?.map_while(Result::ok);
    for entry in clocks.filter(|field| field.number == clock_snapshot::CLOCKS) {
        let (mut id, mut time) = (0, 0);
        for field in entry.as_message().ok()?.map_while(Result::ok) {
            match field.number {
                clock::CLOCK_ID => id = field.as_u32().ok()?,
                clock::TIMESTAMP => time = field.as_u64().ok()?,
                _ => {}
            }
        }
        if id == clock_id::SEQUENCE {
            return Some(time);
        }
    }
    None
}
