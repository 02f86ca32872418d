//! One parsed `TracePacket`, with the fields that matter to the log.
//!
//! Invariants: nothing is copied. If a field that is not repeated occurs twice, the last one
//! counts, as everywhere in Perfetto.

use protolog_core::schema::{packet, sequence_flags, track_descriptor};
use protozero::{DecodeError, Field, Reader};

/// `TracePacket.zstd_compressed_packets`, which Perfetto writes from v58 on.
pub(crate) const ZSTD_COMPRESSED_PACKETS: u32 = 133;
/// `TracePacket.trusted_uid`
pub(crate) const TRUSTED_UID: u32 = 3;
/// `TracePacket.trusted_pid`
pub(crate) const TRUSTED_PID: u32 = 79;
/// `TracePacket.process_tree`
const PROCESS_TREE: u32 = 2;

/// The fields of a packet that matter to the log. Offsets inside are addresses (see `blocks.rs`).
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the packet")]
pub(crate) struct Packet<'a> {
    pub(crate) timestamp: Option<u64>,
    /// 0 if the packet names no clock.
    pub(crate) clock: u32,
    /// 0 if the packet names no sequence.
    pub(crate) sequence: u32,
    pub(crate) trusted_pid: Option<u32>,
    /// Packets of this sequence were lost before this one.
    pub(crate) dropped: bool,
    /// The timestamp is a guess.
    pub(crate) time_is_guess: bool,
    pub(crate) first_on_sequence: bool,
    pub(crate) cleared: bool,
    pub(crate) needs_state: bool,
    pub(crate) message: Option<Field<'a>>,
    pub(crate) track_event: Option<Field<'a>>,
    pub(crate) interned: Option<Field<'a>>,
    pub(crate) defaults: Option<Field<'a>>,
    pub(crate) snapshot: Option<Field<'a>>,
    pub(crate) viewer_config: Option<Field<'a>>,
    pub(crate) process: Option<Field<'a>>,
    pub(crate) thread: Option<Field<'a>>,
    /// The thread of a track.
    pub(crate) track_thread: Option<Field<'a>>,
    pub(crate) process_tree: Option<Field<'a>>,
    pub(crate) sequence_info: Option<Field<'a>>,
    pub(crate) trace_stats: Option<Field<'a>>,
    pub(crate) refusal: Option<Field<'a>>,
    pub(crate) request: Option<Field<'a>>,
    pub(crate) filtered: Option<Field<'a>>,
    pub(crate) compressed: Option<Field<'a>>,
    /// The pid that the process of a descriptor has, if that names another one; see
    /// `merge/processes_apart.rs`.
    pub(crate) local_pid: Option<u32>,
    pub(crate) describes_track: bool,
    /// The number of the track, if it is that of a process.
    pub(crate) process_track: Option<u64>,
    /// It repeats what other packets say.
    pub(crate) is_for_ui: bool,
    /// `LOSS` and `PASSED_OVER` are repeated, so their records are read in a second pass over the
    /// packet.
    pub(crate) has_losses: bool,
}

impl<'a> Packet<'a> {
    /// Parses the fields of a packet.
    pub(crate) fn parse(fields: Reader<'a>) -> Result<Self, DecodeError> {
        let mut packet = Self::default();
        for field in fields {
            packet.set(field?)?;
        }
        Ok(packet)
    }

    /// Parses the fields before the first one that can't be decoded, as trace_processor does, and
    /// those with a wrong type.
    pub(crate) fn parse_part(fields: Reader<'a>) -> (Self, Result<(), DecodeError>) {
        let (mut packet, mut done) = (Self::default(), Ok(()));
        for field in fields {
            done = done.and(field.and_then(|field| packet.set(field)));
        }
        (packet, done)
    }

    /// Returns whether the packet sets up all state of its sequence, whatever was before.
    pub(crate) fn begins_anew(&self) -> bool {
        let names_thread = self.thread.is_some() || self.sequence_info.is_some();
        self.cleared && self.snapshot.is_some() && names_thread
    }

    /// Returns whether it has, or uses, state of its sequence, but for clocks. A merge writes clock
    /// snapshots of all sequences first.
    pub(crate) fn has_state(&self) -> bool {
        let is_named =
            self.thread.is_some() || self.sequence_info.is_some() || self.trusted_pid.is_some();
        let is_set = self.cleared || self.dropped || self.interned.is_some();
        // The time of a packet may count from the one before.
        let is_timed = self.timestamp.is_some();
        let is_marked = self.request.is_some() || self.message.is_some();
        is_named || is_set || is_timed || self.defaults.is_some() || is_marked
    }

    /// Takes one field.
    pub(crate) fn set(&mut self, field: Field<'a>) -> Result<(), DecodeError> {
        match field.number {
            packet::TIMESTAMP => self.timestamp = Some(field.as_u64()?),
            packet::TIMESTAMP_CLOCK_ID => self.clock = field.as_u32()?,
            packet::TRUSTED_PACKET_SEQUENCE_ID => self.sequence = field.as_u32()?,
            TRUSTED_PID => self.trusted_pid = Some(field.as_u32()?),
            packet::SEQUENCE_FLAGS => {
                let flags = field.as_u32()?;
                self.cleared |= flags & sequence_flags::INCREMENTAL_STATE_CLEARED != 0;
                self.needs_state = flags & sequence_flags::NEEDS_INCREMENTAL_STATE != 0;
            }
            packet::INCREMENTAL_STATE_CLEARED => self.cleared |= field.as_bool()?,
            packet::PREVIOUS_PACKET_DROPPED => self.dropped = field.as_bool()?,
            packet::FIRST_PACKET_ON_SEQUENCE => self.first_on_sequence = field.as_bool()?,
            packet::PROTOLOG_MESSAGE => self.message = nested(field)?,
            packet::TRACK_EVENT => self.track_event = nested(field)?,
            packet::INTERNED_DATA => self.interned = nested(field)?,
            packet::TRACE_PACKET_DEFAULTS => self.defaults = nested(field)?,
            packet::CLOCK_SNAPSHOT => self.snapshot = nested(field)?,
            packet::PROTOLOG_VIEWER_CONFIG => self.viewer_config = nested(field)?,
            packet::PROCESS_DESCRIPTOR => self.process = nested(field)?,
            packet::LOCAL_PID => self.local_pid = Some(field.as_u32()?),
            packet::TRACK_DESCRIPTOR => {
                self.describes_track = true;
                let process = part_of(field, track_descriptor::PROCESS);
                let number = process.and_then(|_| part_of(field, track_descriptor::UUID));
                self.process_track = number.and_then(|number| number.as_u64().ok());
                self.process = process.or(self.process);
                self.track_thread = part_of(field, track_descriptor::THREAD);
            }
            PROCESS_TREE => self.process_tree = nested(field)?,
            packet::THREAD_DESCRIPTOR => self.thread = nested(field)?,
            packet::SEQUENCE_INFO => self.sequence_info = nested(field)?,
            packet::TRACE_STATS => self.trace_stats = nested(field)?,
            packet::REFUSAL => self.refusal = nested(field)?,
            packet::REQUEST => self.request = nested(field)?,
            packet::FILTERED => self.filtered = nested(field)?,
            packet::COMPRESSED_PACKETS | ZSTD_COMPRESSED_PACKETS => {
                self.compressed = nested(field)?;
            }
            packet::LOSS | packet::PASSED_OVER => self.has_losses = true,
            packet::FOR_UI => self.is_for_ui = field.as_bool()?,
            packet::TIME_IS_GUESS => self.time_is_guess = field.as_bool()?,
            _ => {}
        }
        Ok(())
    }
}

/// The field, if it can hold a message.
fn nested(field: Field<'_>) -> Result<Option<Field<'_>>, DecodeError> {
    field.as_bytes().map(|_| Some(field))
}

/// The part of a track's description with this number.
fn part_of(track: Field<'_>, number: u32) -> Option<Field<'_>> {
    let mut fields = track.as_message().ok()?.map_while(Result::ok);
    fields.find(|field| field.number == number)
}
