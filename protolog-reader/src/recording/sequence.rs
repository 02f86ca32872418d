//! One sequence of a recording: its packets, joined where they lie in several chunks, in order, with the number of
//! messages that are missing before each chunk.
//!
//! Invariant: a packet is given once, whole, and only if it is protobuf.

use super::chunks::Chunk;
use crate::thread::{self, Thread};
use protolog_core::chunk::DROPPED_PACKET_SIZE;
use protolog_core::schema::{
    clock as clock_field, clock_id, clock_snapshot, packet, sequence_info,
};
use protozero::wire::decode_varint;
use protozero::{DecodeError, Field, Reader};
use std::borrow::Cow;

/// What stands in a sequence, one after the other.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Messages are missing here.
    Missing(Missing<'a>),
    /// A packet that is no message.
    Packet(&'a [u8]),
    /// A message's packet, and the message's id.
    Message(&'a [u8], u64),
}

/// Messages that are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing<'a> {
    /// How many.
    pub(super) count: u64,
    /// Whose they were.
    pub(super) thread: Option<&'a Thread>,
    /// When what follows them begins, in nanoseconds of BOOTTIME.
    pub(super) time: u64,
}

/// How far a sequence is read.
#[derive(Debug, Default)]
pub(super) struct SequenceReader {
    /// Messages that were given or counted.
    pub(super) numbered: u64,
    /// Messages in complete chunks that were ever written, as far as its chunks say.
    pub(super) told: u64,
    /// Whose it is.
    pub(super) thread: Option<Thread>,
    /// Of the last packet, in nanoseconds of BOOTTIME.
    pub(super) time: u64,
    /// Packets that are no protobuf.
    pub(super) bad_packets: u64,
    /// Chunks that make no sense.
    pub(super) bad_chunks: u64,
    /// The beginning of a packet that goes on in the next chunk.
    begun: Option<Vec<u8>>,
}

impl SequenceReader {
    /// Reads a chunk, which follows what was read unless there is a `gap`. No chunk says that more messages were before it
    /// than `most`.
    pub(super) fn read(
        &mut self,
        chunk: &Chunk<'_>,
        gap: bool,
        most: u64,
        give: &mut dyn FnMut(Part<'_>),
    ) {
        if gap || !chunk.continues {
            self.begun = None;
        }
        let mut rest = chunk.bytes;
        for number in 0..chunk.count {
            let Some((bytes, after)) = next(rest) else {
                let field = decode_varint(rest.get(..4).unwrap_or(rest));
                let abandoned = field.is_ok_and(|(size, _)| size == u64::from(DROPPED_PACKET_SIZE));
                self.bad_chunks += u64::from(!abandoned);
                self.begun = None;
                break;
            };
            rest = after;
            let (first, last) = (number == 0, number + 1 == chunk.count);
            let rest_of_one = first && chunk.continues;
            // The rest of a packet whose beginning is not there is nothing.
            let whole = match self.begun.take() {
                Some(mut begun) if rest_of_one => {
                    begun.extend_from_slice(bytes);
                    Cow::Owned(begun)
                }
                _ if rest_of_one => continue,
                _ => Cow::Borrowed(bytes),
            };
            if last && chunk.continued {
                self.begun = Some(whole.into_owned());
            } else if !whole.is_empty() {
                self.packet(&whole, most, give);
            }
        }
        if chunk.complete {
            self.told = self.numbered;
        }
    }

    fn packet(&mut self, bytes: &[u8], most: u64, give: &mut dyn FnMut(Part<'_>)) {
        let Ok(contents) = RecordedPacket::read(bytes) else {
            self.bad_packets += 1;
            return;
        };
        if let Some(nanos) = contents.clock {
            self.time = nanos;
        }
        if let Some(id) = contents.message {
            self.time = self.time.saturating_add(contents.delta);
            self.numbered += 1;
            return give(Part::Message(bytes, id));
        }
        if let Some(thread) = contents.thread {
            self.thread = Some(thread);
        }
        if let Some(before) = contents.before.filter(|before| *before <= most) {
            let count = before.saturating_sub(self.numbered);
            if count > 0 {
                let (thread, time) = (self.thread.as_ref(), self.time);
                give(Part::Missing(Missing { count, thread, time }));
                self.numbered = before;
            }
            self.told = self.told.max(before);
        }
        give(Part::Packet(bytes));
    }
}

/// The packet at the start of `bytes`, and what follows it.
fn next(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, length) = decode_varint(bytes.get(..4).unwrap_or(bytes)).ok()?;
    bytes.get(length..)?.split_at_checked(usize::try_from(size).ok()?)
}

/// What a packet says, as far as it matters here.
#[derive(Debug, Default)]
struct RecordedPacket {
    /// The id of the message that it is.
    message: Option<u64>,
    /// Its timestamp.
    delta: u64,
    /// The sequence's clock.
    clock: Option<u64>,
    thread: Option<Thread>,
    /// Messages before it.
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
                    contents.thread = Some(thread::parse_sequence_info(field)?);
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

/// The id of a message, all of whose fields can be read.
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

/// What a snapshot says of the sequence's clock.
fn sequence_clock(snapshot: Field<'_>) -> Result<Option<u64>, DecodeError> {
    for clock in snapshot.as_message()? {
        let clock = clock?;
        let (mut id, mut nanos) = (0, 0);
        if clock.number != clock_snapshot::CLOCKS {
            continue;
        }
        for field in clock.as_message()? {
            let field = field?;
            match field.number {
                clock_field::CLOCK_ID => id = field.as_u32()?,
                clock_field::TIMESTAMP => nanos = field.as_u64()?,
                _ => {}
            }
        }
        if id == clock_id::SEQUENCE {
            return Ok(Some(nanos));
        }
    }
    Ok(None)
}
