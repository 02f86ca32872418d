//! Statistics of the reading: amounts, and everything that went wrong.

use std::collections::{BTreeMap, BTreeSet};

pub use protolog_core::BufferStats;
use protolog_core::Level;
use protolog_core::schema::{buffer_stats, filtered, trace_stats};
use protozero::{DecodeError, Field};

use crate::losses::loss::LossReason;
use crate::losses::refusal::Refusal;

/// Statistics of a whole log. Everything that is not an entry with its complete text is in one of
/// these counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Size of the trace in bytes, after inflation if the whole trace was compressed.
    pub bytes: u64,
    /// Inflated size of the compressed bundles of packets, in bytes.
    pub inflated_bytes: u64,
    /// Packets, including those in bundles.
    pub packets: u64,
    /// Messages that became entries.
    pub entries: u64,
    /// Entries whose message id is in no dictionary: `#<id> (<values>)`.
    pub unknown_messages: u64,
    /// Entries with fewer values than their template takes: `[MISSING_PARAM]`.
    pub missing_values: u64,
    /// Entries with more values than their template takes: `[EXTRA_PARAMS: …]`.
    pub extra_values: u64,
    /// Strings that an entry refers to but that were never defined: `[MISSING_STRING]`.
    pub missing_strings: u64,
    /// Ids of strings that were defined again with another value; the first one counts.
    pub redefined_strings: u64,
    /// Entries of the dictionary that contradict an earlier one.
    pub dictionary_conflicts: u64,
    /// Elements of the dictionary that can't be decoded; all others count.
    pub malformed_elements: u64,
    /// Losses by reason and, if known, id of the group. A loss of unknown size counts as one. Those
    /// whose reason [is in the log](LossReason::is_in_log) are not lost.
    pub lost: BTreeMap<(LossReason, Option<u32>), u64>,
    /// Messages that sampling passed over, by id of the group and level, if they are known. They
    /// are not lost.
    pub passed_over: BTreeMap<(Option<u32>, Option<Level>), u64>,
    /// Messages of other requests, and of none, that were left out of a trace that has those of
    /// some requests. They are not lost. None for any other trace.
    pub left_out: Option<u64>,
    /// Entries whose time is a guess.
    pub guessed_times: u64,
    /// Clocks that were ignored because a snapshot or sequence had too many of them.
    pub ignored_clocks: u64,
    /// Bundles that are corrupt or truncated; everything that could be inflated was read.
    pub broken_bundles: u64,
    /// Bundles that are nested too deep (see [`Limits`](crate::Limits)).
    pub oversized_bundles: u64,
    /// Bundles of which only a part was read, or nothing: the trace expands to more than its limit
    /// (see [`Limits`](crate::Limits)).
    pub cut_bundles: u64,
    /// Texts of messages that are left out: those that messages name are more than the limit (see
    /// [`Limits`](crate::Limits)): `[CUT_TEXT]`.
    pub cut_texts: u64,
    /// Bytes of zeros, and bytes after them that can't be told from a part of a packet: another
    /// program truncated the file while it was written. The bytes after them were read.
    pub skipped_bytes: u64,
    /// Bytes that are damaged, between packets that were read.
    pub damaged_bytes: u64,
    /// Ids of processes whose session has a beginning and no end: they were killed, or are still
    /// running.
    pub unended: Vec<u32>,
    /// Programs that the tracing service asked to record the session, and that did not.
    pub refusals: BTreeSet<Refusal>,
    /// Position and reason, if reading ended before the end of the trace.
    pub ended_early: Option<EndedEarly>,
    /// The losses that the tracing service last reported.
    pub service: ServiceLosses,
    /// The last statistics of the buffer, if a session of protolog wrote the trace itself.
    pub buffer: Option<BufferStats>,
}

impl Stats {
    /// Returns whether anything was lost: a message of which an argument was cut is there, and one
    /// that says the same as the one before is told by that.
    pub fn has_losses(&self) -> bool {
        self.lost.keys().any(|(reason, _)| !reason.is_in_log())
    }

    /// Returns whether the trace expands to more than its limit, so that a part of it was not read.
    pub fn is_cut_by_expansion(&self) -> bool {
        let reason = self.ended_early.map(|ended| ended.reason);
        self.cut_bundles + self.cut_texts > 0 || reason == Some(EndReason::Expansion)
    }

    /// Adds what was found in the entries of a page.
    pub(crate) fn add_page(&mut self, page: &Self) {
        self.unknown_messages += page.unknown_messages;
        self.missing_values += page.missing_values;
        self.extra_values += page.extra_values;
        self.missing_strings += page.missing_strings;
        self.redefined_strings += page.redefined_strings;
        self.guessed_times += page.guessed_times;
        self.cut_texts += page.cut_texts;
        for (reason, count) in &page.lost {
            *self.lost.entry(*reason).or_default() += count;
        }
    }

    /// Takes what was found in entries from `read`.
    pub(crate) fn take_entries_of(&mut self, read: &Self) {
        self.unknown_messages = read.unknown_messages;
        self.missing_values = read.missing_values;
        self.extra_values = read.extra_values;
        self.missing_strings = read.missing_strings;
        self.redefined_strings = read.redefined_strings;
        self.guessed_times = read.guessed_times;
        self.cut_texts = read.cut_texts;
    }
}

/// The end of reading before the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndedEarly {
    /// The reason.
    pub reason: EndReason,
    /// Offset in the (inflated) trace from which on nothing was read.
    pub offset: u64,
}

/// The reasons of [`EndedEarly`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The trace ends inside a packet: it was truncated, or is still being written.
    Truncated,
    /// The bytes are not a packet.
    Corrupt,
    /// The compressed stream of the whole trace is truncated or corrupt.
    BrokenStream,
    /// A limit was reached (see [`Limits`](crate::Limits)).
    Limit,
    /// A trace that is compressed as a whole expands to more than its limit (see
    /// [`Limits`](crate::Limits)).
    Expansion,
    /// The memory has no room for more. Reading a trace makes it an error.
    Memory,
}

/// Losses that Perfetto's tracing service counted, over all buffers and not only of log messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceLosses {
    /// Chunks of a ring buffer that were overwritten before they were read.
    pub chunks_overwritten: u64,
    /// Chunks that the service discarded.
    pub chunks_discarded: u64,
    /// Packets that writers could not write.
    pub packets_lost: u64,
    /// Packets that could not be completed.
    pub patches_failed: u64,
    /// Packets that the service refused.
    pub invalid_packets: u64,
}

/// Parses our `FILTERED`: the number of messages that were left out.
pub(crate) fn parse_filtered(field: Field<'_>) -> Result<u64, DecodeError> {
    let mut messages = 0;
    for field in field.as_message()? {
        let field = field?;
        if field.number == filtered::MESSAGES {
            messages = field.as_u64()?;
        }
    }
    Ok(messages)
}

/// The statistics of the buffer of a session that wrote its trace itself; none for a trace of the
/// tracing service.
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
    let (mut stats, mut is_session) = (BufferStats::default(), false);
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
                is_session = true;
                &mut stats.high_water
            }
            _ => continue,
        };
        *place = field.as_u64()?;
    }
    Ok(is_session.then_some(stats))
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
