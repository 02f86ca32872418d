//! Keeps what later pages need of earlier ones: entries that are held back, and the strings of sequences.
//!
//! Invariant: afterwards all references are into one block, which holds nothing else; so what is kept is as large as what is
//! needed, whatever was read.

use foldhash::HashMap;

use crate::blocks::{Blocks, Span};
use crate::collect::{Collected, MessageRecord, NO_STRING, UNDEFINED_STRING};
use crate::message_fields::{self, MessageField};
use crate::sequence::SequenceState;

/// Makes `held` the entries of `to`, which is empty, with what they and sequences refer to in `from`.
pub(crate) fn compact<'s>(
    from: &Collected,
    to: &mut Collected,
    held: Vec<MessageRecord>,
    sequences: impl Iterator<Item = &'s mut SequenceState>,
) {
    let mut kept = Kept {
        at: to.blocks.reserve(0),
        bytes: Vec::new(),
        strings: std::mem::take(&mut to.strings),
        indices: HashMap::default(),
    };
    for record in held {
        let record = kept.record(from, record, &mut to.string_refs);
        to.records.push(record);
    }
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
}

impl Kept {
    fn record(
        &mut self,
        from: &Collected,
        record: MessageRecord,
        refs: &mut Vec<u32>,
    ) -> MessageRecord {
        let bytes = from.blocks.bytes(record.message);
        let (mut count, message) = (0, self.add(&from.blocks, record.message));
        // A damaged message has the references that are before the damage.
        let _ = message_fields::visit(protozero::Reader::new(bytes), |field| {
            count += usize::from(matches!(field, MessageField::String(_)));
        });
        let strings = refs.len() as u32;
        let old = from.string_refs.get(record.strings as usize..).unwrap_or_default();
        refs.extend(old.iter().take(count).map(|index| self.string(from, *index)));
        let stack_trace = self.string(from, record.stack_trace);
        MessageRecord { message, strings, stack_trace, ..record }
    }

    fn string(&mut self, from: &Collected, index: u32) -> u32 {
        if matches!(index, NO_STRING | UNDEFINED_STRING) {
            return index;
        }
        if let Some(known) = self.indices.get(&index) {
            return *known;
        }
        let span = from.strings.get(index as usize).copied().unwrap_or(Span { at: 0, len: 0 });
        let span = self.add(&from.blocks, span);
        let new = self.strings.len() as u32;
        self.strings.push(span);
        self.indices.insert(index, new);
        new
    }

    fn add(&mut self, from: &Blocks, span: Span) -> Span {
        let at = self.at + self.bytes.len() as u64;
        self.bytes.extend_from_slice(from.bytes(span));
        Span { at, ..span }
    }
}
