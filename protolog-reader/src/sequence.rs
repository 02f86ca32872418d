//! The state of a sequence, which its packets set for later ones: interned strings, defaults, clocks, the thread.
//!
//! ```text
//!            cleared                    lost
//!  invalid ----------> valid     valid -----> invalid     initially: invalid
//! ```
//! While the state is invalid, nothing is interned, and messages that need the state are lost. A clear keeps clocks and
//! thread, as in Perfetto's trace_processor, and drops defaults and interned strings.
//!
//! Invariant: the string of an id never changes between two clears; the first definition counts.

use foldhash::HashMap;
use std::collections::hash_map::Entry;

use protolog_core::schema::interned_string;
use protozero::{DecodeError, Field};

use crate::blocks::{Blocks, Span};
use crate::clock::{CustomClocks, Moment};
use crate::thread::{self, Source};

/// The state of one sequence.
#[derive(Debug, Default)]
pub(crate) struct SequenceState {
    /// True once a packet was seen.
    pub(crate) started: bool,
    pub(crate) valid: bool,
    pub(crate) strings: Interned,
    pub(crate) stack_traces: Interned,
    pub(crate) default_clock: Option<u32>,
    pub(crate) clocks: CustomClocks,
    pub(crate) thread: u32,
    pub(crate) thread_source: Source,
    /// The moment of the last packet or clock snapshot that had one.
    pub(crate) last: Option<Moment>,
    /// The segment of a surveyed trace in which the state was set up anew; see [`Packet::begins_anew`](crate::packet::Packet).
    pub(crate) begun_in: u32,
    /// The last segment of a surveyed trace that it was in; none before.
    pub(crate) last_segment: Option<u32>,
    /// True after a hole in the trace, until the state is cleared: nothing is known of its clocks.
    pub(crate) is_torn: bool,
    /// The loss that counts messages without state since the state became invalid.
    pub(crate) stateless: Option<u32>,
}

impl SequenceState {
    /// Invalidates the state after a loss of packets.
    pub(crate) fn invalidate(&mut self) {
        self.valid = false;
        self.forget_strings();
    }

    /// Forgets everything but the thread after a hole in the trace.
    pub(crate) fn tear(&mut self) {
        self.invalidate();
        (self.default_clock, self.is_torn) = (None, true);
        self.clocks = CustomClocks::default();
    }

    /// Resets the state where the writer does.
    pub(crate) fn clear(&mut self) {
        self.valid = true;
        self.is_torn = false;
        self.default_clock = None;
        self.forget_strings();
    }

    /// Sets the thread, unless a better source has set it.
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

    fn forget_strings(&mut self) {
        self.strings.clear();
        self.stack_traces.clear();
        self.stateless = None;
    }
}

/// A table of up to this many strings keeps its capacity when it is cleared.
const KEPT_CAPACITY: usize = 1024;

/// Interned strings by id.
#[derive(Debug, Default)]
pub(crate) struct Interned(HashMap<u64, InternedString>);

#[derive(Clone, Copy, Debug)]
struct InternedString {
    /// Index into the log's strings.
    index: u32,
    /// Hash of the bytes, to detect a different string.
    hash: u64,
}

impl Interned {
    /// The index of the string with this id.
    pub(crate) fn get(&self, iid: u64) -> Option<u32> {
        self.0.get(&iid).map(|string| string.index)
    }

    /// The indices of all strings.
    pub(crate) fn indices(&mut self) -> impl Iterator<Item = &mut u32> {
        self.0.values_mut().map(|string| &mut string.index)
    }

    /// Adds an `InternedString`. False if its id already stands for another string.
    pub(crate) fn define(
        &mut self,
        string: Field<'_>,
        texts: &mut Vec<Span>,
        blocks: &mut Blocks,
    ) -> Result<bool, DecodeError> {
        let (iid, bytes, at) = parse_interned(string)?;
        let hash = protolog_core::hash(bytes);
        match self.0.entry(iid) {
            Entry::Occupied(known) => Ok(known.get().hash == hash),
            Entry::Vacant(entry) => {
                let span = match str::from_utf8(bytes) {
                    Ok(_) => Span { at, len: bytes.len() as u32 },
                    Err(_) => blocks.add_repaired(&String::from_utf8_lossy(bytes)),
                };
                entry.insert(InternedString { index: texts.len() as u32, hash });
                texts.push(span);
                Ok(true)
            }
        }
    }

    /// Takes time in proportion to the definitions since the last clear, although clearing a map costs its capacity.
    fn clear(&mut self) {
        if self.0.capacity() > KEPT_CAPACITY.max(4 * self.0.len()) {
            self.0 = HashMap::default();
        } else {
            self.0.clear();
        }
    }
}

/// The id, the bytes and their address of an `InternedString`.
pub(crate) fn parse_interned(string: Field<'_>) -> Result<(u64, &[u8], u64), DecodeError> {
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
    Ok((iid, bytes, at))
}
