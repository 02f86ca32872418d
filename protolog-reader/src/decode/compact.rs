//! Keeps the parts of earlier pages that later ones need: entries that are held back, and the
//! strings of sequences.
//!
//! Invariant: afterwards all references are into one block, which holds nothing else; so the kept
//! memory is as large as the needed strings, however much was read.

use foldhash::HashMap;

use crate::bytes::blocks::{BlockHint, Span};
use crate::decode::collect::{
    CUT_STRING, CUT_TEMPLATE, Collected, MessageRecord, NO_STRING, UNDEFINED_STRING,
};
use crate::packets::message_fields::{self, MessageField};
use crate::sequences::sequence_state::SequenceState;

/// Moves the entries of `from` from index `end` on to `to`, which is empty, with the strings that
/// they and sequences refer to.
pub(crate) fn compact<'s>(
    from: &mut Collected,
    end: usize,
    to: &mut Collected,
    sequences: impl Iterator<Item = &'s mut SequenceState>,
) {
    let mut kept = Kept {
        at: to.blocks.reserve(0),
        bytes: Vec::new(),
        strings: std::mem::take(&mut to.strings),
        indices: HashMap::default(),
        hint: BlockHint::default(),
    };
    to.records.extend_from_slice(from.records.get(end..).unwrap_or_default());
    from.records.truncate(end);
    let from = &*from;
    to.requests.begin_block();
    for record in &mut to.records {
        let request = from.requests.index_of(record.message.at);
        kept.record(from, record, &mut to.string_refs);
        to.requests.note(record.message.at, request);
    }
    to.requests.begin_block();
    for sequence in sequences {
        for table in [&mut sequence.strings, &mut sequence.stack_traces] {
            table.indices().for_each(|index| *index = kept.string(from, *index));
        }
    }
    let Kept { bytes, strings, .. } = kept;
    let at = to.blocks.reserve(bytes.len());
    to.blocks.put(at, bytes);
    to.strings = strings;
}

/// The new block, with the strings in it.
struct Kept {
    at: u64,
    bytes: Vec<u8>,
    strings: Vec<Span>,
    /// New indices of strings, by the old ones.
    indices: HashMap<u32, u32>,
    /// Where the last message was.
    hint: BlockHint,
}

impl Kept {
    fn record(&mut self, from: &Collected, record: &mut MessageRecord, refs: &mut Vec<u32>) {
        let bytes = from.blocks.bytes_near(record.message, &mut self.hint);
        let mut count = 0;
        if message_fields::outline(bytes, |_| count += 1).is_none() {
            count = 0;
            // A damaged message has the references that are before the damage.
            let _ = message_fields::visit(protozero::Reader::new(bytes), |field| {
                count += usize::from(matches!(field, MessageField::String(_)));
            });
        }
        let old = from.string_refs.get(record.strings as usize..).unwrap_or_default();
        record.strings = refs.len() as u32;
        refs.extend(old.iter().take(count).map(|index| self.string(from, *index)));
        record.message.at = self.add(bytes);
        record.stack_trace = self.string(from, record.stack_trace);
    }

    fn string(&mut self, from: &Collected, index: u32) -> u32 {
        if matches!(index, NO_STRING | UNDEFINED_STRING | CUT_STRING | CUT_TEMPLATE) {
            return index;
        }
        if let Some(known) = self.indices.get(&index) {
            return *known;
        }
        let span = from.strings.get(index as usize).copied().unwrap_or(Span { at: 0, len: 0 });
        let span = Span { at: self.add(from.blocks.bytes(span)), ..span };
        let new = self.strings.len() as u32;
        self.strings.push(span);
        self.indices.insert(index, new);
        new
    }

    fn add(&mut self, bytes: &[u8]) -> u64 {
        let at = self.at + self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        at
    }
}
