//! One sequence of a recording: its packets in order, reassembled from their chunks, with the
//! number of messages that are missing before each chunk.
//!
//! Invariant: each packet is passed on once, complete, and only if it is valid protobuf.

use super::chunks::Chunk;
use crate::thread::Thread;
use protolog_core::chunk::DROPPED_PACKET_SIZE;
use protolog_core::recorder::Position;
use protolog_core::schema::{clock, clock_id, clock_snapshot, packet, sequence_info};
use protozero::wire::decode_varint;
use protozero::{DecodeError, Field, Reader};
use std::borrow::Cow;

/// An element of a sequence.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A gap.
    Missing(Missing<'a>),
    /// A packet without a message.
    Packet(&'a [u8]),
    /// A packet with a message, and the message's id.
    Message(&'a [u8], u64),
    /// A packet that was a message of before the sequence's position, without the message: what is
    /// left is state.
    State(&'a [u8]),
}

/// A gap: messages that are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing<'a> {
    /// Number of messages.
    pub(super) count: u64,
    /// The thread that logged them.
    pub(super) thread: Option<&'a Thread>,
    /// The time at which the next chunk begins, in nanoseconds of BOOTTIME.
    pub(super) time: u64,
}

/// Reads a sequence, chunk by chunk.
#[derive(Debug, Default)]
pub(super) struct SequenceReader {
    /// Messages that were passed on or counted as missing.
    pub(super) messages: u64,
    /// Messages in all chunks ever completed, as far as the chunks show.
    pub(super) completed_messages: u64,
    /// The thread of the sequence.
    pub(super) thread: Option<Thread>,
    /// The time of the last packet, in nanoseconds of BOOTTIME.
    pub(super) time: u64,
    /// Number of packets that are not valid protobuf.
    pub(super) bad_packets: u64,
    /// Number of corrupt chunks.
    pub(super) bad_chunks: u64,
    /// The beginning of a packet that continues in the next chunk.
    partial: Option<Vec<u8>>,
    /// Packets before this are in the trace already; none are if there is none.
    position: Option<Position>,
}

impl SequenceReader {
    /// A reader of the packets from `position` on.
    pub(super) fn from(position: Option<Position>) -> Self {
        Self { position, ..Self::default() }
    }

    /// True if all packets of a chunk are before the position.
    pub(super) fn is_before(&self, chunk: u32) -> bool {
        self.position.is_some_and(|position| (chunk.wrapping_sub(position.chunk) as i32) < 0)
    }

    /// Makes the next look at the ring begin behind a chunk that was read; or before a packet of
    /// which the rest is in chunks that follow.
    pub(super) fn move_behind(&mut self, chunk: &Chunk<'_>) {
        let packets = chunk.count;
        let is_pending = chunk.continues && packets == 0 || self.partial.is_some();
        let place = match packets {
            // It began before this chunk.
            0 | 1 if is_pending && chunk.continues => return,
            packets if is_pending => packets - 1,
            packets => packets,
        };
        self.position = Some(Position { chunk: chunk.id, packets: place, is_stale: false });
    }

    /// Reads a chunk and passes its elements to `visitor`. `gap`: it does not directly follow the
    /// chunk before. `max_messages`: the most messages that a valid chunk can have before it.
    pub(super) fn read(
        &mut self,
        chunk: &Chunk<'_>,
        gap: bool,
        max_messages: u64,
        visitor: &mut dyn FnMut(Part<'_>),
    ) {
        if gap || !chunk.continues {
            self.partial = None;
        }
        let mut rest = chunk.bytes;
        let within = self.position.filter(|position| position.chunk == chunk.id);
        let known = within.map_or(0, |position| position.packets);
        for number in 0..chunk.count {
            let Some((bytes, after)) = next(rest) else {
                let field = decode_varint(rest.get(..4).unwrap_or(rest));
                let is_dropped =
                    field.is_ok_and(|(size, _)| size == u64::from(DROPPED_PACKET_SIZE));
                self.bad_chunks += u64::from(!is_dropped);
                self.partial = None;
                break;
            };
            rest = after;
            let (first, last) = (number == 0, number + 1 == chunk.count);
            let is_continuation = first && chunk.continues;
            // The rest of a packet without its beginning is skipped.
            let whole = match self.partial.take() {
                Some(mut partial) if is_continuation => {
                    partial.extend_from_slice(bytes);
                    Cow::Owned(partial)
                }
                _ if is_continuation => continue,
                _ => Cow::Borrowed(bytes),
            };
            if last && chunk.continued {
                self.partial = Some(whole.into_owned());
            } else if number < known {
                self.known_packet(&whole, visitor);
            } else if !whole.is_empty() {
                self.packet(&whole, max_messages, visitor);
            }
        }
        if chunk.complete {
            self.completed_messages = self.messages;
        }
    }

    /// Follows a packet of before the position, and passes its state on if the trace lacks that.
    fn known_packet(&mut self, bytes: &[u8], visitor: &mut dyn FnMut(Part<'_>)) {
        let Ok(contents) = RecordedPacket::read(bytes) else { return };
        self.time = contents.clock.unwrap_or(self.time);
        self.time = self.time.saturating_add(contents.message.map_or(0, |_| contents.delta));
        self.thread = contents.thread.or(self.thread.take());
        if self.position.is_some_and(|position| position.is_stale) {
            visitor(Part::State(&without_message(bytes)));
        }
    }

    fn packet(&mut self, bytes: &[u8], max_messages: u64, visitor: &mut dyn FnMut(Part<'_>)) {
        let Ok(contents) = RecordedPacket::read(bytes) else {
            self.bad_packets += 1;
            return;
        };
        if let Some(nanos) = contents.clock {
            self.time = nanos;
        }
        if let Some(id) = contents.message {
            self.time = self.time.saturating_add(contents.delta);
            self.messages += 1;
            return visitor(Part::Message(bytes, id));
        }
        if let Some(thread) = contents.thread {
            self.thread = Some(thread);
        }
        if let Some(before) = contents.before.filter(|before| *before <= max_messages) {
            let count = before.saturating_sub(self.messages);
            if count > 0 {
                let (thread, time) = (self.thread.as_ref(), self.time);
                visitor(Part::Missing(Missing { count, thread, time }));
                self.messages = before;
            }
            self.completed_messages = self.completed_messages.max(before);
        }
        visitor(Part::Packet(bytes));
    }
}

/// The fields of a packet that are state: not its message, and no drops.
fn without_message(bytes: &[u8]) -> Vec<u8> {
    let mut state = Vec::new();
    let mut fields = Reader::new(bytes);
    let mut start = 0;
    while let Some(Ok(field)) = fields.next() {
        let end = fields.offset() as usize;
        if !matches!(field.number, packet::PROTOLOG_MESSAGE | packet::LOSS | packet::PASSED_OVER) {
            state.extend_from_slice(bytes.get(start..end).unwrap_or_default());
        }
        start = end;
    }
    state
}

/// The packet at the start of `bytes`, and what follows it.
fn next(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, length) = decode_varint(bytes.get(..4).unwrap_or(bytes)).ok()?;
    bytes.get(length..)?.split_at_checked(usize::try_from(size).ok()?)
}

/// One packet, as far as recovery depends on it.
#[derive(Debug, Default)]
struct RecordedPacket {
    /// The id of its message.
    message: Option<u64>,
    /// Its timestamp.
    delta: u64,
    /// The value of the sequence's clock in a snapshot.
    clock: Option<u64>,
    thread: Option<Thread>,
    /// Number of messages of the sequence before it.
    before: Option<u64>,
}

impl RecordedPacket {
    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut contents = Self::default();
        for field in Reader::new(bytes) {
            let field = field?;
            match field.number {
                packet::TIMESTAMP => contents.delta = field.as_u64()?,
                packet::PROTOLOG_MESSAGE => contents.message = Some(message_id(field)?),
                packet::CLOCK_SNAPSHOT => contents.clock = sequence_clock(field)?,
                packet::SEQUENCE_INFO => {
                    contents.thread = Some(Thread::parse(field)?);
                    let mut fields = field.as_message()?.flatten();
                    let before = fields.find(|field| field.number == sequence_info::MESSAGES);
                    contents.before = before.map(|field| field.as_u64()).transpose()?;
                }
                _ => {}
            }
        }
        Ok(contents)
    }
}

/// The id of a message; an error if any of its fields is malformed.
fn message_id(message: Field<'_>) -> Result<u64, DecodeError> {
    let mut id = 0;
    for field in message.as_message()? {
        let field = field?;
        if field.number == protolog_core::schema::message::MESSAGE_ID {
            id = field.as_fixed64()?;
        }
    }
    Ok(id)
}

/// The value of the sequence's clock in a snapshot.
fn sequence_clock(snapshot: Field<'_>) -> Result<Option<u64>, DecodeError> {
    for entry in snapshot.as_message()? {
        let entry = entry?;
        if entry.number != clock_snapshot::CLOCKS {
            continue;
        }
        let (mut id, mut value) = (0, 0);
        for field in entry.as_message()? {
            let field = field?;
            match field.number {
                clock::CLOCK_ID => id = field.as_u32()?,
                clock::TIMESTAMP => value = field.as_u64()?,
                _ => {}
            }
        }
        if id == clock_id::SEQUENCE {
            return Ok(Some(value));
        }
    }
    Ok(None)
}
