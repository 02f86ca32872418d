//! Holds packets back that only set up state, until something follows that needs them.
//!
//! Of a message that the result has already, the rest of its packet stays: the strings that it
//! defines, and the time by which it advances the clock of its sequence. Where nothing follows that
//! needs this, as in a chunk of nothing but such messages, nothing is written at all.
//!
//! Invariant: a packet that is written finds the state of its sequence as in its input.

use super::packet_contents::{fields, is_beside_event, without_sequence};
use super::packet_place::Place;
use crate::packets::trace_packet::{TRUSTED_PID, TRUSTED_UID};
use protolog_core::schema::packet;
use protozero::{Heap, Writer};

/// Most bytes that a sequence holds back; a chunk has far fewer.
const MOST: usize = 64 << 10;

/// The packets that one sequence holds back.
#[derive(Debug, Default)]
pub(super) struct Held {
    packets: Vec<Vec<u8>>,
    bytes: usize,
    /// The clocks that these packets define or advance.
    clocks: Vec<u32>,
    /// True if one of these packets names the thread.
    names_thread: bool,
    /// Ticks by which an incremental clock is to be advanced by the next packet, in addition to its
    /// own.
    ticks: Option<(u32, u64)>,
}

/// The parts of a packet that are not to be written.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    /// The message and the event.
    pub(super) logged: bool,
    /// Loss records, by their number.
    pub(super) losses: Vec<bool>,
    /// The mark that packets were lost.
    pub(super) mark: bool,
}

impl Held {
    /// Takes the next packet of the sequence, which may clear the state and may have a message or
    /// an event, and passes on the packets to be written now.
    pub(super) fn next<E>(
        &mut self,
        bytes: &[u8],
        place: &Place,
        (is_cleared, is_logged): (bool, bool),
        omitted: &Omitted,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if is_logged && !omitted.logged && omitted.losses.is_empty() && self.ticks.is_none() {
            // Most packets: nothing is to be changed.
            self.flush(&mut write)?;
            return write(&without_sequence(bytes));
        }
        let rest = Rest::of(bytes, omitted);
        let is_set_up = is_cleared && (rest.names_thread || !self.names_thread);
        if is_set_up && self.clocks.iter().all(|clock| place.defined.contains(clock)) {
            // Nothing of it is needed any more.
            self.forget();
        }
        if self.ticks.is_some_and(|(clock, _)| place.defined.contains(&clock)) {
            self.ticks = None;
        }
        if rest.is_bare && omitted.logged {
            let Some(clock) = place.advanced else { return Ok(()) };
            if let Some(ticks) = self.advance(clock, rest.timestamp) {
                self.ticks = Some((clock, ticks));
                return Ok(());
            }
        }
        let ticks = place.advanced.and_then(|clock| self.advance(clock, 0)).unwrap_or(0);
        let packet = rest.with_ticks(ticks);
        if ticks > 0 {
            self.ticks = None;
        }
        if !rest.is_state {
            self.flush(&mut write)?;
            return write(&packet);
        }
        self.bytes += packet.len();
        self.packets.push(packet);
        self.names_thread |= rest.names_thread;
        self.clocks.extend(place.defined.iter().chain(&place.advanced));
        if self.bytes > MOST {
            self.flush(&mut write)?;
        }
        Ok(())
    }

    /// Passes on all packets.
    pub(super) fn flush<E>(
        &mut self,
        write: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.packets.iter().try_for_each(|packet| write(packet))?;
        self.forget();
        Ok(())
    }

    fn forget(&mut self) {
        self.packets.clear();
        self.clocks.clear();
        (self.bytes, self.names_thread) = (0, false);
    }

    /// The ticks to advance `clock` by, with `more`; none where another clock is to be advanced.
    fn advance(&self, clock: u32, more: u64) -> Option<u64> {
        match self.ticks {
            Some((known, ticks)) => (known == clock).then(|| ticks.wrapping_add(more)),
            None => Some(more),
        }
    }
}

/// A packet without its omitted parts.
#[expect(clippy::struct_excessive_bools, reason = "each is a property of the packet")]
struct Rest {
    /// Without timestamp and sequence id.
    bytes: Vec<u8>,
    timestamp: u64,
    has_timestamp: bool,
    names_thread: bool,
    /// It only sets up state.
    is_state: bool,
    /// It has nothing but a timestamp.
    is_bare: bool,
}

impl Rest {
    fn of(bytes: &[u8], omitted: &Omitted) -> Self {
        let mut rest = Self {
            bytes: Vec::with_capacity(bytes.len() + 8),
            timestamp: 0,
            has_timestamp: false,
            names_thread: false,
            is_state: true,
            is_bare: true,
        };
        let mut losses = omitted.losses.iter();
        for (field, whole) in fields(bytes) {
            let is_omitted = match field.number {
                packet::TRUSTED_PACKET_SEQUENCE_ID => true,
                packet::PROTOLOG_MESSAGE | packet::TRACK_EVENT => omitted.logged,
                number if is_beside_event(number) => omitted.logged,
                packet::LOSS | packet::PASSED_OVER => losses.next().copied().unwrap_or(false),
                packet::PREVIOUS_PACKET_DROPPED => omitted.mark,
                packet::TIMESTAMP => {
                    (rest.timestamp, rest.has_timestamp) = (field.as_u64().unwrap_or(0), true);
                    true
                }
                _ => false,
            };
            if is_omitted {
                continue;
            }
            rest.bytes.extend_from_slice(whole);
            match field.number {
                packet::SEQUENCE_FLAGS => {
                    rest.is_bare &= field.as_u32().is_ok_and(|flags| flags & 1 == 0);
                }
                packet::TIMESTAMP_CLOCK_ID => {}
                packet::INTERNED_DATA
                | packet::TRACE_PACKET_DEFAULTS
                | packet::CLOCK_SNAPSHOT
                | packet::INCREMENTAL_STATE_CLEARED
                | packet::FIRST_PACKET_ON_SEQUENCE => rest.is_bare = false,
                packet::SEQUENCE_INFO | TRUSTED_PID | TRUSTED_UID => {
                    (rest.is_bare, rest.names_thread) = (false, true);
                }
                _ => (rest.is_bare, rest.is_state) = (false, false),
            }
        }
        rest
    }

    fn with_ticks(&self, more: u64) -> Vec<u8> {
        let mut packet = Vec::with_capacity(self.bytes.len() + 11);
        if self.has_timestamp {
            let mut writer = Writer::new(Heap::new());
            writer.message().uint64(packet::TIMESTAMP, self.timestamp.wrapping_add(more));
            packet = writer.into_vec().unwrap_or_default();
        }
        packet.extend_from_slice(&self.bytes);
        packet
    }
}
