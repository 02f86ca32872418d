//! Decodes bytes to packets: walks a trace and its bundles, and applies each packet to the state of
//! its sequence.
//!
//! Invariants: a malformed packet is counted, and the part of it before the damage is read; memory
//! is at most a constant factor times the bytes that were read, within [`Limits`]; recursion is as
//! deep as the limit of nested bundles.

use std::sync::Arc;

use protolog_core::schema::trace;
use protozero::{DecodeError, Field, Reader};

use crate::bytes::inflate::{self, StreamEnd};
use crate::damage::expansion::Expansion;
use crate::damage::hole;
use crate::damage::limits::Limits;
use crate::damage::resync;
use crate::decode::collect::plain_run::RunPlace;
use crate::decode::collect::text_budget::TextBudget;
use crate::decode::collect::{Collected, Pass};
use crate::decode::plain_message::{PlainMessage, next_packet};
use crate::losses::stats::{EndReason, EndedEarly};
use crate::packets::trace_packet::Packet;
use crate::sequences::sequence_state::{SequenceState, Sequences, StateIndex};

/// A decoder for one trace.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    limits: Limits,
    /// The whole trace was compressed.
    is_inflated: bool,
    expansion: Expansion,
    sequences: Sequences,
    collected: Collected,
    hole_budget: hole::Budget,
    /// The trace is being written: a packet that is cut off will be whole.
    is_growing: bool,
    /// The offset of the segment in the file.
    segment_at: u64,
    /// Where each of several traces begins.
    inputs: Arc<[u64]>,
    /// True after a hole: a sequence that begins now may have begun in it.
    is_torn: bool,
}

/// A limit was reached, or the end of the memory; nothing more is read.
struct LimitReached(EndReason);

impl Decoder {
    pub(crate) fn new(limits: Limits, is_inflated: bool) -> Self {
        let expansion = Expansion::new(&limits);
        let mut decoder = Self { limits, is_inflated, expansion, ..Self::default() };
        decoder.collected.texts = TextBudget::new(&limits);
        decoder
    }

    /// A decoder for another pass over the trace that this one has read.
    pub(crate) fn again(&self) -> Self {
        let inputs = Arc::clone(&self.inputs);
        Self { limits: self.limits, expansion: self.expansion.again(), inputs, ..Self::default() }
    }

    /// Reads several traces, which begin at these offsets, as one.
    pub(crate) fn set_inputs(&mut self, inputs: &[u64]) {
        self.inputs = inputs.into();
        self.collected.inputs = (!inputs.is_empty()).then(Box::default);
    }

    /// Goes on to the trace that has this offset.
    fn begin_input(&mut self, offset: u64) {
        let input = self.inputs.partition_point(|begin| *begin <= offset).saturating_sub(1);
        self.sequences.begin_input(input as u32);
        if let Some(inputs) = &mut self.collected.inputs {
            inputs.begin(input);
        }
    }

    /// Takes the size that the whole trace was inflated to from its expansion budget.
    pub(crate) fn take_inflated(&mut self, bytes: u64) {
        self.expansion.take_bytes(bytes);
    }

    /// Raises the limits, as a trace grows.
    pub(crate) fn raise(&mut self, limits: Limits) {
        self.expansion.grow(&self.limits, &limits);
        self.collected.texts.grow(&self.limits, &limits);
        self.limits = limits;
    }

    /// Decodes a whole trace.
    pub(crate) fn read(mut self, bytes: Vec<u8>) -> Collected {
        let at = self.reserve(bytes.len());
        self.collected.stats.bytes = bytes.len() as u64;
        self.collected.stats.ended_early = self.packets(&bytes, at, 0);
        self.collected.blocks.put(at, bytes);
        self.collected
    }

    /// Decodes the next bytes of a trace that is being written. Returns the position if decoding
    /// ended before the end of `bytes`.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Option<EndedEarly> {
        let at = self.reserve(bytes.len());
        self.is_growing = true;
        let ended = self.packets(bytes, at, 0);
        let taken = ended.map_or(bytes.len(), |ended| ended.offset as usize);
        self.collected.stats.bytes += taken as u64;
        self.collected.blocks.put(at, bytes[..taken].to_vec());
        ended
    }

    /// Surveys a segment of a trace that begins at `offset`, or collects its entries. Returns the
    /// position if decoding ended before the end of `bytes`.
    pub(crate) fn segment(&mut self, bytes: Vec<u8>, offset: u64) -> Option<EndedEarly> {
        self.segment_at = offset;
        if !self.inputs.is_empty() {
            self.begin_input(offset);
        }
        let at = self.reserve(bytes.len());
        let ended = self.packets(&bytes, at, 0);
        self.keep(at, bytes);
        ended
    }

    /// Begins a pass over segments.
    pub(crate) fn begin(&mut self, pass: Pass) {
        self.collected.pass = pass;
    }

    pub(crate) fn collected(&self) -> &Collected {
        &self.collected
    }

    pub(crate) fn collected_mut(&mut self) -> &mut Collected {
        &mut self.collected
    }

    /// The state of all sequences.
    pub(crate) fn sequences(&mut self) -> impl Iterator<Item = &mut SequenceState> {
        self.sequences.iter_mut()
    }

    /// The contents that were collected, and the state of all sequences.
    pub(crate) fn parts_mut(
        &mut self,
    ) -> (&mut Collected, impl Iterator<Item = &mut SequenceState>) {
        (&mut self.collected, self.sequences.iter_mut())
    }

    /// Returns the address of a block of so many bytes, which is decoded next.
    fn reserve(&mut self, bytes: usize) -> u64 {
        self.collected.requests.begin_block();
        self.collected.blocks.reserve(bytes)
    }

    /// Keeps bytes that entries refer to.
    fn keep(&mut self, at: u64, bytes: Vec<u8>) {
        if self.collected.pass != Pass::Survey {
            self.collected.blocks.put(at, bytes);
        }
    }

    /// Applies the plain messages that are next in `bytes`, and returns where they end.
    fn plain_messages(
        &mut self,
        bytes: &[u8],
        begin: usize,
        (at, depth): (u64, u32),
    ) -> Result<usize, (usize, LimitReached)> {
        let mut offset = begin;
        while let Some(packet) = next_packet(bytes, offset) {
            let body = &bytes[packet.clone()];
            let Some(plain) = PlainMessage::parse(body) else { break };
            let Some(place) = self.sequences.find(plain.sequence) else { break };
            let is_cut = depth == 0 && hole::reaches_into(bytes, packet.end);
            if is_cut || !plain.is_applicable(self.sequences.at(place)) {
                break;
            }
            let counted = self.count_packet(depth).and_then(|()| self.check_room(body.len()));
            counted.and_then(|()| self.check_entries()).map_err(|limit| (offset, limit))?;
            if depth == 0 {
                self.collected.packet_at = self.segment_at + offset as u64;
            }
            let address = at + packet.start as u64;
            offset = packet.end;
            if !self.collected.apply_plain(self.sequences.at(place), &plain, (body, address)) {
                self.collected.count_malformed(true);
                continue;
            }
            self.collected.count_good();
            offset = self.plain_run(bytes, offset, (at, depth), (plain.sequence, place));
        }
        Ok(offset)
    }

    /// Applies the plain messages of a sequence that are next, after one of them, as far as no
    /// limit needs a look. Returns where they end.
    fn plain_run(
        &mut self,
        bytes: &[u8],
        begin: usize,
        (at, depth): (u64, u32),
        (sequence, place): (u32, StateIndex),
    ) -> usize {
        let is_counted = depth > 0 || self.is_inflated;
        let until_check =
            PACKETS_BETWEEN_CHECKS - 1 - self.collected.stats.packets % PACKETS_BETWEEN_CHECKS;
        let most = until_check
            .min(if is_counted { self.expansion.packets() } else { u64::MAX })
            .min(self.room_of(bytes.len()));
        let run = RunPlace {
            bytes,
            begin,
            address: at,
            offset: (depth == 0).then_some(self.segment_at),
            sequence,
            most,
            largest: LARGE_PACKET,
        };
        let run = self.collected.apply_run(self.sequences.at(place), &run);
        self.collected.stats.packets += run.messages;
        if is_counted {
            self.expansion.take_packets(run.messages);
        }
        if run.is_malformed {
            // It is counted as one whose fields can be told apart.
            self.collected.count_malformed(false);
        }
        run.end
    }

    /// Counts a packet before it is decoded.
    #[inline]
    fn count_packet(&mut self, depth: u32) -> Result<(), LimitReached> {
        self.collected.stats.packets += 1;
        if (depth > 0 || self.is_inflated) && !self.expansion.take_packet() {
            return Err(LimitReached(EndReason::Expansion));
        }
        Ok(())
    }

    /// The entries that there is room for, in so many bytes: each row of a table takes more than
    /// one.
    fn room_of(&self, bytes: usize) -> u64 {
        let Collected { records, string_refs, strings, .. } = &self.collected;
        let rows = string_refs.len().max(strings.len()).saturating_add(bytes);
        if rows >= self.limits.rows {
            return 0;
        }
        self.limits.entries.saturating_sub(records.len() as u64)
    }

    /// Looks whether there is room for one more entry.
    #[inline]
    fn check_entries(&self) -> Result<(), LimitReached> {
        let Collected { records, string_refs, strings, .. } = &self.collected;
        let rows = string_refs.len().max(strings.len());
        if records.len() as u64 >= self.limits.entries || rows >= self.limits.rows {
            return Err(LimitReached(EndReason::Limit));
        }
        Ok(())
    }

    /// Takes the collected records so far, until they are [put back](Self::put_back).
    pub(crate) fn take(&mut self) -> Collected {
        std::mem::take(&mut self.collected)
    }

    pub(crate) fn put_back(&mut self, collected: Collected) {
        self.collected = collected;
    }

    /// Decodes the packets of a trace or bundle. Returns the position if decoding ended before the
    /// end of `bytes`.
    fn packets(&mut self, bytes: &[u8], at: u64, depth: u32) -> Option<EndedEarly> {
        let mut reader = Reader::with_offset(bytes, at);
        loop {
            let begin = (reader.offset() - at) as usize;
            let offset = match self.plain_messages(bytes, begin, (at, depth)) {
                Ok(end) => end as u64,
                Err((offset, LimitReached(reason))) => {
                    return Some(EndedEarly { reason, offset: offset as u64 });
                }
            };
            reader.advance(offset as usize - begin);
            let ended = |reason| Some(EndedEarly { reason, offset });
            let next = reader.next()?;
            let is_broken = next.is_err();
            if is_broken && let Some(kept) = self.open_hole(bytes, offset, depth) {
                return Some(EndedEarly { reason: EndReason::Truncated, offset: kept });
            }
            // A packet that can't be decoded may have a hole within.
            let skip = |decoder: &mut Self, end: u64| {
                let end = decoder.skip_hole(bytes, offset, end, depth)?;
                Some(Reader::with_offset(bytes.get(end..)?, at + end as u64))
            };
            if is_broken && let Some(after) = skip(self, u64::MAX) {
                reader = after;
                continue;
            }
            let field = match next {
                Ok(field) => field,
                Err(error) => {
                    let rest = &bytes[offset as usize..];
                    let is_open = error.is_truncated() || hole::is_open(rest);
                    let may_follow = self.is_growing && depth == 0 && is_open;
                    let after = if may_follow { None } else { self.resync(bytes, offset, None) };
                    if let Some(after) = after {
                        reader = Reader::with_offset(&bytes[after..], at + after as u64);
                        continue;
                    }
                    let is_cut = error.is_truncated() || may_follow;
                    return ended(if is_cut { EndReason::Truncated } else { EndReason::Corrupt });
                }
            };
            if field.number != trace::PACKET {
                if let Some(after) = self.resync(bytes, offset, Some(reader.offset() - at)) {
                    reader = Reader::with_offset(&bytes[after..], at + after as u64);
                }
                continue;
            }
            if let Err(LimitReached(reason)) = self.count_packet(depth) {
                return ended(reason);
            }
            if depth == 0 {
                self.collected.packet_at = self.segment_at + offset;
            }
            let end = reader.offset() - at;
            let is_cut = depth == 0 && hole::reaches_into(bytes, end as usize);
            match if is_cut { Ok(false) } else { self.packet(field, depth).map(|it| it.is_ok()) } {
                Ok(true) => self.collected.count_good(),
                Ok(false) => {
                    let mut fields = field.as_message().into_iter().flatten();
                    let is_broken = fields.any(|field| field.is_err());
                    let is_framed = !is_broken && !is_cut && field.as_message().is_ok();
                    self.collected.count_malformed(is_framed);
                    if is_broken && let Some(after) = skip(self, end) {
                        reader = after;
                    }
                }
                Err(LimitReached(reason)) => return ended(reason),
            }
        }
    }

    /// Finds zeros from `offset`, or within the packet there, to the end of the bytes written so
    /// far. Returns where the next part begins: with a few of the zeros, since the bytes after them
    /// are found by them. A packet whose rest has not come yet may have some, too.
    fn open_hole(&mut self, bytes: &[u8], offset: u64, depth: u32) -> Option<u64> {
        let rest = bytes.get(offset as usize..).filter(|_| self.is_growing && depth == 0)?;
        let zeros = rest.iter().rev().take_while(|byte| **byte == 0).count();
        if zeros < rest.len() && zeros < hole::ENOUGH {
            return None;
        }
        let skipped = rest.len() - zeros.min(hole::LEAST);
        if skipped > 0 {
            self.collected.stats.skipped_bytes += skipped as u64;
            self.is_torn = true;
            self.sequences.iter_mut().for_each(SequenceState::tear);
        }
        Some(offset + skipped as u64)
    }

    /// Finds the packet after a hole that begins at `offset`, or within the packet from there to
    /// `end`, as an offset.
    fn skip_hole(&mut self, bytes: &[u8], offset: u64, end: u64, depth: u32) -> Option<usize> {
        if depth > 0 {
            return None;
        }
        let rest = bytes.get(offset as usize..)?;
        let within = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let hole = hole::find(rest, within, !self.is_growing, &mut self.hole_budget)?;
        self.collected.stats.skipped_bytes += (hole.end - hole.start) as u64;
        self.is_torn = true;
        self.sequences.iter_mut().for_each(SequenceState::tear);
        Some(offset as usize + hole.end)
    }

    /// Finds the packet after damage at `offset`, if it is not at `end`.
    fn resync(&mut self, bytes: &[u8], offset: u64, end: Option<u64>) -> Option<usize> {
        let end = end.map(|end| (end - offset) as usize);
        let next = resync::find(bytes.get(offset as usize..)?, end, &mut self.hole_budget)?;
        self.collected.stats.damaged_bytes += next as u64;
        Some(offset as usize + next)
    }

    fn packet(
        &mut self,
        field: Field<'_>,
        depth: u32,
    ) -> Result<Result<(), DecodeError>, LimitReached> {
        let (mut packet, done) = match field.as_message() {
            Ok(fields) => Packet::parse_part(fields),
            Err(error) => return Ok(Err(error)),
        };
        if let Some(bundle) = packet.compressed {
            return self.bundle(bundle, depth);
        }
        self.check_room(field.as_bytes().map_or(0, <[u8]>::len))?;
        if packet.message.is_some() {
            self.check_entries()?;
        }
        let full = self.sequences.len() as u64 >= self.limits.sequences;
        if full && self.sequences.find(packet.sequence).is_none() {
            return Err(LimitReached(EndReason::Limit));
        }
        let is_torn = self.is_torn;
        let begin = || SequenceState { is_torn, ..SequenceState::default() };
        let place = self.sequences.find_or_begin(packet.sequence, begin);
        packet.sequence = self.sequences.unique_id(place, packet.sequence);
        let sequence = self.sequences.at(place);
        Ok(self.collected.apply(sequence, &packet, field).and(done))
    }

    fn bundle(
        &mut self,
        bundle: Field<'_>,
        depth: u32,
    ) -> Result<Result<(), DecodeError>, LimitReached> {
        if depth >= self.limits.nesting {
            self.collected.stats.oversized_bundles += 1;
            return Ok(Ok(()));
        }
        let bytes = match bundle.as_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        };
        if depth == 0 {
            self.expansion.begin(self.collected.packet_at);
        }
        let inflated = inflate::inflate(bytes, self.expansion.bytes());
        let size = inflated.bytes.len() as u64;
        self.expansion.take_bytes(size);
        self.collected.stats.inflated_bytes += size;
        self.collected.segment.inflated += size;
        let at = self.reserve(inflated.bytes.len());
        let ended = self.packets(&inflated.bytes, at, depth + 1);
        self.collected.requests.begin_block();
        self.keep(at, inflated.bytes);
        match (inflated.end, ended.map(|ended| ended.reason)) {
            (StreamEnd::NoRoom, _) => return Err(LimitReached(EndReason::Memory)),
            (_, Some(reason @ (EndReason::Limit | EndReason::Memory))) => {
                return Err(LimitReached(reason));
            }
            (StreamEnd::TooLarge, _) | (_, Some(EndReason::Expansion)) => {
                self.expansion.cut();
                self.collected.stats.cut_bundles += u64::from(depth == 0);
                if depth > 0 {
                    return Err(LimitReached(EndReason::Expansion));
                }
            }
            (StreamEnd::Broken, _) | (_, Some(_)) => self.collected.stats.broken_bundles += 1,
            (StreamEnd::Whole, None) => {}
        }
        Ok(Ok(()))
    }

    /// Looks, every so many packets and at each large one, whether the memory has room for the
    /// tables to grow, and to be sorted at the end. An allocation that fails later would abort the
    /// program.
    #[inline]
    fn check_room(&self, len: usize) -> Result<(), LimitReached> {
        if !self.collected.stats.packets.is_multiple_of(PACKETS_BETWEEN_CHECKS)
            && len < LARGE_PACKET
        {
            return Ok(());
        }
        self.check_memory(len)
    }

    #[cold]
    fn check_memory(&self, len: usize) -> Result<(), LimitReached> {
        let tables = self.collected.table_bytes() + self.sequences.table_bytes();
        // A table that grows takes twice its size, beside the old one.
        let wanted = (2 * tables).saturating_add(MAX_GROWTH * len).saturating_add(RESERVE);
        match Vec::<u8>::new().try_reserve_exact(wanted) {
            Ok(()) => Ok(()),
            Err(_) => Err(LimitReached(EndReason::Memory)),
        }
    }
}

const PACKETS_BETWEEN_CHECKS: u64 = 1 << 16;
/// The size of a packet that may take much memory by itself, in bytes.
const LARGE_PACKET: usize = 1 << 20;
/// The bytes of memory that a byte of a packet takes at most, about.
const MAX_GROWTH: usize = 15;
/// Memory for the packets until the next check, in bytes.
const RESERVE: usize = 64 << 20;
