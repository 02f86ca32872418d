//! How much was read, and all that went wrong.

use std::collections::BTreeMap;

pub use protolog_core::BufferStats;
use protolog_core::schema::{buffer_stats, trace_stats};
use protozero::{DecodeError, Field};

use crate::LossReason;

/// Counts over a whole log. What is not an entry with its whole text is in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Bytes of the trace, inflated if the whole trace was compressed.
    pub bytes: u64,
    /// Bytes that compressed bundles of packets held.
    pub inflated_bytes: u64,
    /// Packets, those in bundles included.
    pub packets: u64,
    /// Messages that became entries.
    pub entries: u64,
    /// Entries whose message id is in no dictionary: `#<id> (<values>)`.
    pub unknown_messages: u64,
    /// Entries with fewer values than their template takes: `[MISSING_PARAM]`.
    pub missing_values: u64,
    /// Entries with more values than their template takes: `[EXTRA_PARAMS: …]`.
    pub extra_values: u64,
    /// Texts that an entry names but that were never defined: `[MISSING_STRING]`.
    pub missing_strings: u64,
    /// Ids of texts that were defined again with another text; the first one counts.
    pub redefined_strings: u64,
    /// Entries of the dictionary that contradict an earlier one.
    pub dictionary_conflicts: u64,
    /// What was lost, by cause and, where it is known, id of the group. A loss of which nobody counted how many counts
    /// as one.
    pub lost: BTreeMap<(LossReason, Option<u32>), u64>,
    /// Entries with a time that is only a guess.
    pub guessed_times: u64,
    /// Clocks that were ignored because one snapshot or sequence had too many of them.
    pub ignored_clocks: u64,
    /// Bundles compressed with zstd, which this reader does not support.
    pub unsupported_bundles: u64,
    /// Bundles that are corrupt or cut off; what could be inflated was read.
    pub broken_bundles: u64,
    /// Bundles that are nested too deep or too large (see [`Limits`](crate::Limits)).
    pub oversized_bundles: u64,
    /// Where and why reading ended before the end of the trace.
    pub ended_early: Option<EndedEarly>,
    /// What the tracing service says that it lost; from the last word it had.
    pub service: ServiceLosses,
    /// What went through the buffer of the session that made the trace, of its own accord; from the last word it had.
    pub buffer: Option<BufferStats>,
}

/// Why a trace was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndedEarly {
    /// Why.
    pub reason: EndReason,
    /// Byte of the (inflated) trace from which on nothing was read.
    pub offset: u64,
}

/// The reasons of [`EndedEarly`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The trace ends inside a packet: it was cut off, or is still being written.
    Truncated,
    /// What stands there is no packet.
    Corrupt,
    /// The compressed stream that the whole trace is in is cut off or corrupt.
    BrokenStream,
    /// A limit was reached (see [`Limits`](crate::Limits)).
    Limit,
}

/// Losses that Perfetto's tracing service counted, over all buffers. Not only of log messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceLosses {
    /// Chunks of a ring buffer that were overwritten before they were read.
    pub chunks_overwritten: u64,
    /// Chunks that the service threw away.
    pub chunks_discarded: u64,
    /// Packets that writers could not write.
    pub packets_lost: u64,
    /// Packets that could not be completed.
    pub patches_failed: u64,
    /// Packets that the service refused.
    pub invalid_packets: u64,
}

/// The statistics of the buffer of a session that wrote its trace itself; none for a trace of the tracing service.
pub(crate) fn parse_buffer_stats(stats: Field<'_>) -> Result<Option<BufferStats>, DecodeError> {
    let mut found = None;
    for field in stats.as_message()? {
        let field = field?;
        if field.number == trace_stats::BUFFER_STATS {
            found = parse_buffer(field)?.or(found);
        }
    }
    Ok(found)
}

fn parse_buffer(buffer: Field<'_>) -> Result<Option<BufferStats>, DecodeError> {
    let (mut stats, mut own) = (BufferStats::default(), false);
    for field in buffer.as_message()? {
        let field = field?;
        let place = match field.number {
            buffer_stats::BUFFER_SIZE => &mut stats.size,
            buffer_stats::CHUNKS_WRITTEN => &mut stats.chunks_written,
            buffer_stats::BYTES_WRITTEN => &mut stats.bytes_written,
            buffer_stats::CHUNKS_READ => &mut stats.chunks_read,
            buffer_stats::BYTES_READ => &mut stats.bytes_read,
            buffer_stats::CHUNKS_OVERWRITTEN => &mut stats.chunks_overwritten,
            buffer_stats::BYTES_OVERWRITTEN => &mut stats.bytes_overwritten,
            buffer_stats::CHUNKS_DISCARDED => &mut stats.chunks_discarded,
            buffer_stats::HIGH_WATER => {
                own = true;
                &mut stats.high_water
            }
            _ => continue,
        };
        *place = field.as_u64()?;
    }
    Ok(own.then_some(stats))
}

impl ServiceLosses {
    pub(crate) fn parse(stats: Field<'_>) -> Result<Self, DecodeError> {
        let mut losses = Self::default();
        for field in stats.as_message()? {
            let field = field?;
            match field.number {
                trace_stats::BUFFER_STATS => losses.add_buffer(field)?,
                trace_stats::CHUNKS_DISCARDED => add(&mut losses.chunks_discarded, field)?,
                trace_stats::PATCHES_DISCARDED => add(&mut losses.patches_failed, field)?,
                trace_stats::INVALID_PACKETS => add(&mut losses.invalid_packets, field)?,
                _ => {}
            }
        }
        Ok(losses)
    }

    fn add_buffer(&mut self, buffer: Field<'_>) -> Result<(), DecodeError> {
        for field in buffer.as_message()? {
            let field = field?;
            match field.number {
                buffer_stats::CHUNKS_OVERWRITTEN => add(&mut self.chunks_overwritten, field)?,
                buffer_stats::PATCHES_FAILED => add(&mut self.patches_failed, field)?,
                buffer_stats::CHUNKS_DISCARDED => add(&mut self.chunks_discarded, field)?,
                buffer_stats::TRACE_WRITER_PACKET_LOSS => add(&mut self.packets_lost, field)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn add(sum: &mut u64, field: Field<'_>) -> Result<(), DecodeError> {
    *sum = sum.saturating_add(field.as_u64()?);
    Ok(())
}
