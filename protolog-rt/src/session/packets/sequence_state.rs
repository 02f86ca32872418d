//! The incremental state of a sequence, written once more: for a file that has the end of a chunk
//! but not its beginning.
//!
//! A chunk's first packet sets up clock, flags and thread; each message advances the clock, and may
//! bring strings that later ones refer to. A file that begins in the middle of a chunk gets a
//! packet with the same state as of there, and all strings so far.
//!
//! Invariant: bytes that can't be decoded leave the state as it was.

use crate::session::packets::copied::split;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, packet, packet_defaults, sequence_flags,
};
use protozero::{Field, Heap, Reader, Writer};

/// The most bytes that [`SequenceState::packets`] take in a file, without strings.
const MAX_STATE: usize = 320;

/// See the module.
#[derive(Debug, Default)]
pub(in crate::session) struct SequenceState {
    /// The sequence's clock, in nanoseconds.
    time: u64,
    /// Process and thread, as the chunk's first packet has them.
    info: Vec<u8>,
    /// The packet that describes the thread's track, if the chunk has one.
    track: Vec<u8>,
    /// The contents of `interned_data` so far: strings and their ids.
    interned: Vec<u8>,
}

impl SequenceState {
    /// Follows packets, each with its size before it.
    pub(in crate::session) fn follow(&mut self, sized: &[u8]) {
        let mut rest = sized;
        while let Some((packet, after)) = split(rest) {
            for field in Reader::new(packet).map_while(Result::ok) {
                match field.number {
                    packet::TIMESTAMP => self.time += field.as_u64().unwrap_or(0),
                    packet::CLOCK_SNAPSHOT => {
                        self.time = time(field).unwrap_or(self.time);
                        self.track.clear();
                        self.interned.clear();
                    }
                    packet::SEQUENCE_INFO => {
                        self.info = field.as_bytes().unwrap_or_default().to_vec();
                    }
                    packet::TRACK_DESCRIPTOR => self.track = packet.to_vec(),
                    packet::INTERNED_DATA => {
                        self.interned.extend(field.as_bytes().unwrap_or_default());
                    }
                    // Nothing of interest follows.
                    packet::PROTOLOG_MESSAGE => break,
                    _ => {}
                }
            }
            rest = after;
        }
    }

    /// Returns the most bytes that [`Self::packets`] take in a file.
    pub(in crate::session) fn size(&self) -> usize {
        MAX_STATE + self.interned.len()
    }

    /// Returns packets that set up the state.
    pub(in crate::session) fn packets(&self) -> [Vec<u8>; 2] {
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
        if !self.interned.is_empty() {
            state.bytes(packet::INTERNED_DATA, &self.interned);
        }
        [writer.into_vec().unwrap_or_default(), self.track.clone()]
    }
}

/// Returns the time of the sequence's clock in a snapshot.
pub(in crate::session) fn time(snapshot: Field<'_>) -> Option<u64> {
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
