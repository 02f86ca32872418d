//! The first pass over a trace that is read page by page: its segments, with facts about their
//! entries.
//!
//! Invariant: a segment begins and ends between packets.

use std::io;

use protolog_core::schema::trace;
use protozero::wire::{WireType, tag};

use crate::bytes::inflate;
use crate::bytes::looks::Looks;
use crate::bytes::source::ByteSource;
use crate::decode::collect::Pass;
use crate::decode::decoder::Decoder;
use crate::decode::plain_message::next_packet;
use crate::decode::segment::Segment;
use crate::losses::stats::EndReason;

/// Surveys all segments; none if the trace is to be read whole.
pub(crate) fn survey(
    source: &dyn ByteSource,
    decoder: &mut Decoder,
    usual: usize,
) -> io::Result<Option<Vec<Segment>>> {
    decoder.begin(Pass::Survey);
    let inputs = source.inputs();
    decoder.set_inputs(inputs);
    decoder.collected_mut().least_segment = (usual / SPLIT) as u64;
    let (mut offset, mut wanted) = (0, usual);
    while offset < source.size() {
        // A segment is of one input.
        let left = end_of_input(inputs, offset).unwrap_or(source.size()) - offset;
        let is_last = left <= wanted as u64;
        let mut bytes = source.read_at(offset, if is_last { left as usize } else { wanted })?;
        let is_first = offset == 0 || inputs.binary_search(&offset).is_ok();
        if is_first && (inflate::is_compressed(&bytes) || Looks::of(&bytes) == Looks::Dictionary) {
            return Ok(None);
        }
        let Some(whole) = whole_packets(&bytes) else { return Ok(None) };
        // A packet may be larger; a last one may be cut off.
        match whole {
            0 if is_last => {}
            0 => {
                wanted = wanted.saturating_mul(2);
                continue;
            }
            whole => bytes.truncate(whole),
        }
        let begin = offset;
        offset += bytes.len() as u64;
        wanted = usual;
        let mut end = offset;
        if let Some(mut ended) = decoder.segment(bytes, begin) {
            ended.offset += begin;
            match ended.reason {
                // A merge says which one ended early.
                _ if !inputs.is_empty() => return Ok(None),
                EndReason::Truncated if offset == source.size() => {}
                // The rest is left out.
                EndReason::Expansion => (offset, end) = (source.size(), ended.offset),
                _ => return Ok(None),
            }
            decoder.collected_mut().stats.ended_early = Some(ended);
        }
        decoder.collected_mut().begin_segment(end);
    }
    let collected = decoder.collected_mut();
    if let Some(inputs) = collected.inputs.take() {
        let dictionary = &collected.dictionary;
        if inputs.have_conflicts() || dictionary.conflicts() + dictionary.malformed() > 0 {
            return Ok(None);
        }
    }
    let segments = std::mem::take(&mut collected.segments);
    Ok(Some(std::mem::take(&mut collected.order).arrange(segments)))
}

/// Where the input that has this offset ends; none for the last one.
fn end_of_input(inputs: &[u64], offset: u64) -> Option<u64> {
    inputs.get(inputs.partition_point(|begin| *begin <= offset)).copied()
}

/// A segment ends before another sequence begins, if it is no less than this part of the usual
/// size.
const SPLIT: usize = 8;

/// The size of the whole packets at the start of `bytes`; none if something else is among them.
fn whole_packets(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        // Most packets are short.
        while let Some([PACKET, size @ ..0x80]) = bytes.get(at..).and_then(<[u8]>::first_chunk)
            && at + 2 + usize::from(*size) <= bytes.len()
        {
            at += 2 + usize::from(*size);
        }
        let Some(packet) = next_packet(bytes, at) else { break };
        at = packet.end;
    }
    // A packet that is cut off may follow.
    bytes.get(at).is_none_or(|first| *first == PACKET).then_some(at)
}

/// The tag of a packet.
const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
