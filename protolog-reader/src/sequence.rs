//! What packets of one sequence say about later ones: interned texts, defaults, clocks, the thread.
//!
//! ```text
//!            cleared                    lost
//!  invalid ----------> valid     valid -----> invalid     at first: invalid
//! ```
//! While the state is invalid nothing is interned, and messages that need the state are lost. Clocks and thread outlive a
//! clear, as in Perfetto's trace_processor; defaults and interned texts do not.
//!
//! Invariant: an id never changes its text between two clears; the first definition counts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use protolog_core::schema::interned_string;
use protozero::{DecodeError, Field};

use crate::blocks::{Blocks, Span};
use crate::clock::{CustomClocks, Moment};
use crate::thread::{self, Source};

/// The state of one sequence.
#[derive(Debug, Default)]
pub(crate) struct SequenceState {
    /// Whether a packet was seen.
    pub(crate) started: bool,
    pub(crate) valid: bool,
    pub(crate) strings: Interned,
    pub(crate) stack_traces: Interned,
    pub(crate) default_clock: Option<u32>,
    pub(crate) clocks: CustomClocks,
    pub(crate) thread: u32,
    pub(crate) thread_source: Source,
    /// Of the last packet or clock snapshot that had one.
    pub(crate) last: Option<Moment>,
    /// The loss that counts messages without state since the state became invalid.
    pub(crate) stateless: Option<u32>,
}

impl SequenceState {
    /// Packets were lost: what was interned may be incomplete.
    pub(crate) fn lose(&mut self) {
        self.valid = false;
        self.forget_texts();
    }

    /// The writer starts anew.
    pub(crate) fn clear(&mut self) {
        self.valid = true;
        self.default_clock = None;
        self.forget_texts();
    }

    /// Takes over a thread, if nothing better is known.
    pub(crate) fn set_thread(
        &mut self,
        source: Source,
        thread: thread::Thread,
        threads: &mut thread::Threads,
    ) {
        if source >= self.thread_source {
            self.thread_source = source;
            self.thread = threads.index(thread, self.thread);
        }
    }

    fn forget_texts(&mut self) {
        self.strings.clear();
        self.stack_traces.clear();
        self.stateless = None;
    }
}

/// A table of up to this many texts is kept for the next ones.
const KEPT_CAPACITY: usize = 1024;

/// Interned texts by id.
#[derive(Debug, Default)]
pub(crate) struct Interned(HashMap<u64, Text>);

#[derive(Clone, Copy, Debug)]
struct Text {
    /// Index into the log's texts.
    index: u32,
    /// Of the bytes, to tell another text from the same one again.
    hash: u64,
}

impl Interned {
    /// The index of the text with this id.
    pub(crate) fn get(&self, iid: u64) -> Option<u32> {
        self.0.get(&iid).map(|text| text.index)
    }

    /// Takes over an `InternedString`. False where its id already stands for another text.
    pub(crate) fn define(
        &mut self,
        string: Field<'_>,
        texts: &mut Vec<Span>,
        blocks: &mut Blocks,
    ) -> Result<bool, DecodeError> {
        let (mut iid, mut bytes, mut at) = (0, &[][..], 0);
        for field in string.as_message()? {
            let field = field?;
            match field.number {
                interned_string::IID => iid = field.as_u64()?,
                interned_string::STR => {
                    (bytes, at) = (field.as_bytes()?, field.as_message()?.offset());
                }
                _ => {}
            }
        }
        let hash = protolog_core::hash(bytes);
        match self.0.entry(iid) {
            Entry::Occupied(known) => Ok(known.get().hash == hash),
            Entry::Vacant(entry) => {
                let span = match str::from_utf8(bytes) {
                    Ok(_) => Span { at, len: bytes.len() as u32 },
                    Err(_) => blocks.keep_mended(&String::from_utf8_lossy(bytes)),
                };
                entry.insert(Text { index: texts.len() as u32, hash });
                texts.push(span);
                Ok(true)
            }
        }
    }

    /// In time that the definitions since the last clear have paid for: clearing a map costs its capacity.
    fn clear(&mut self) {
        if self.0.capacity() > KEPT_CAPACITY.max(4 * self.0.len()) {
            self.0 = HashMap::new();
        } else {
            self.0.clear();
        }
    }
}
