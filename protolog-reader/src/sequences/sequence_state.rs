//! The state of a sequence, which its packets set for later ones: interned strings, defaults,
//! clocks, the thread, the request.
//!
//! ```text
//!            cleared                    lost
//!  invalid ----------> valid     valid -----> invalid     initially: invalid
//! ```
//! While the state is invalid, nothing is interned, and messages that need the state are lost. A
//! clear keeps clocks and thread, as in Perfetto's trace_processor, and drops defaults, interned
//! strings and the request.
//!
//! Invariant: the string of an id never changes between two clears; the first definition counts.

use std::sync::Arc;

use std::hash::BuildHasher;

use foldhash::HashMap;
use foldhash::fast::FixedState;

use protolog_core::schema::{interned_data, interned_string};
use protozero::wire::{WireType, packed_varint, tag};
use protozero::{DecodeError, Field};

use crate::bytes::blocks::{Blocks, Span};
use crate::clocks::{CustomClocks, Moment};
use crate::formatting::printable::is_plain;
use crate::packets::message_fields::varint;
use crate::sequences::requests::NO_REQUEST;
use crate::sequences::thread::{self, Source};

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
    /// The process that the tracing service has named last, if it has.
    pub(crate) trusted_pid: Option<u32>,
    /// The moment of the last packet or clock snapshot that had one.
    pub(crate) last: Option<Moment>,
    /// The segment of a surveyed trace in which the state was set up anew; see
    /// [`Packet::begins_anew`](crate::packets::trace_packet::Packet).
    pub(crate) begun_in: u32,
    /// The last segment of a surveyed trace that it was in; none before.
    pub(crate) last_segment: Option<u32>,
    /// True after a hole in the trace, until the state is cleared: nothing is known of its clocks.
    pub(crate) is_torn: bool,
    /// The loss that counts messages without state since the state became invalid.
    pub(crate) stateless: Option<u32>,
    /// The request that messages belong to, as an index.
    pub(crate) request: u32,
}

impl SequenceState {
    /// Invalidates the state after a loss of packets.
    pub(crate) fn invalidate(&mut self) {
        self.valid = false;
        self.forget_state();
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
        self.forget_state();
    }

    /// Sets the thread, unless a better source has set it.
    pub(crate) fn set_thread(
        &mut self,
        source: Source,
        thread: thread::Thread,
        threads: &mut Arc<thread::Threads>,
    ) {
        if source >= self.thread_source {
            self.thread_source = source;
            self.thread = thread::Threads::index(threads, thread, self.thread);
        }
    }

    fn forget_state(&mut self) {
        self.strings.clear();
        self.stack_traces.clear();
        self.stateless = None;
        self.request = NO_REQUEST;
    }
}

/// The sequences of a trace by id; of several that are read as one, by the trace and the id.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    states: Vec<SequenceState>,
    /// Indices of states.
    by_id: HashMap<(u32, u32), u32>,
    /// The id that was asked for last, and its index: packets of one sequence follow each other.
    last: Option<(u32, u32)>,
    /// The trace that is read of several.
    input: Option<u32>,
}

/// Where the state of a sequence is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateIndex(u32);

impl Sequences {
    /// The number of sequences.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The memory that they take without their strings, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.states.capacity() * size_of::<SequenceState>()
            + self.by_id.capacity() * size_of::<((u32, u32), u32)>()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut SequenceState> {
        self.states.iter_mut()
    }

    /// Goes on to one of several traces, in which ids mean other sequences.
    pub(crate) fn begin_input(&mut self, input: u32) {
        if self.input.replace(input) != Some(input) {
            self.last = None;
        }
    }

    /// The place of a sequence that is known.
    #[inline]
    pub(crate) fn find(&mut self, id: u32) -> Option<StateIndex> {
        if let Some((last, index)) = self.last
            && last == id
        {
            return Some(StateIndex(index));
        }
        let index = *self.by_id.get(&self.key(id))?;
        self.last = Some((id, index));
        Some(StateIndex(index))
    }

    /// The state of the sequence that was found there.
    #[inline]
    pub(crate) fn at(&mut self, place: StateIndex) -> &mut SequenceState {
        &mut self.states[place.0 as usize]
    }

    /// The place of a sequence, which begins now if it is not known.
    pub(crate) fn find_or_begin(
        &mut self,
        id: u32,
        begin: impl FnOnce() -> SequenceState,
    ) -> StateIndex {
        let key = self.key(id);
        StateIndex(*self.by_id.entry(key).or_insert_with(|| {
            self.states.push(begin());
            self.states.len() as u32 - 1
        }))
    }

    /// The id of the sequence that was found there, which no other one has; `id` is that in its
    /// trace.
    pub(crate) fn unique_id(&self, place: StateIndex, id: u32) -> u32 {
        if self.input.is_none() || id == 0 { id } else { place.0 + 1 }
    }

    /// The key of a sequence among all traces; packets of no sequence have one.
    fn key(&self, id: u32) -> (u32, u32) {
        (self.input.filter(|_| id != 0).unwrap_or(0), id)
    }
}

/// A table of up to this many strings keeps its capacity when it is cleared.
const KEPT_CAPACITY: usize = 1024;

/// Interned strings by id.
#[derive(Debug, Default)]
pub(crate) struct Interned {
    /// Those whose ids count from one on, as writers give them.
    dense: Vec<InternedString>,
    sparse: HashMap<u64, InternedString>,
}

#[derive(Clone, Copy, Debug)]
struct InternedString {
    /// Index into the log's strings.
    index: u32,
    /// Hash of the bytes, to detect a different string.
    hash: u64,
}

impl Interned {
    /// The index of the string with this id.
    #[inline]
    pub(crate) fn get(&self, iid: u64) -> Option<u32> {
        self.find(iid).map(|string| string.index)
    }

    #[inline]
    fn find(&self, iid: u64) -> Option<&InternedString> {
        let dense = self.dense.get(usize::try_from(iid.wrapping_sub(1)).ok()?);
        // Both are looked at, since an id may be sparse at first.
        dense.or_else(|| if self.sparse.is_empty() { None } else { self.sparse.get(&iid) })
    }

    /// The indices of all strings.
    pub(crate) fn indices(&mut self) -> impl Iterator<Item = &mut u32> {
        let strings = self.dense.iter_mut().chain(self.sparse.values_mut());
        strings.map(|string| &mut string.index)
    }

    /// Adds a string: its id, its bytes and their address. False if the id already stands for
    /// another string.
    pub(crate) fn define(
        &mut self,
        (iid, bytes, at): (u64, &[u8], u64),
        texts: &mut Vec<Span>,
        blocks: &mut Blocks,
    ) -> bool {
        let hash = FixedState::default().hash_one(bytes);
        if let Some(known) = self.find(iid) {
            return known.hash == hash;
        }
        let span = if is_plain(bytes) || str::from_utf8(bytes).is_ok() {
            Span { at, len: bytes.len() as u32 }
        } else {
            blocks.add_repaired(&String::from_utf8_lossy(bytes))
        };
        let string = InternedString { index: texts.len() as u32, hash };
        if iid == self.dense.len() as u64 + 1 {
            self.dense.push(string);
        } else {
            self.sparse.insert(iid, string);
        }
        texts.push(span);
        true
    }

    /// Takes time in proportion to the definitions since the last clear, although clearing a map
    /// costs its capacity.
    fn clear(&mut self) {
        if self.dense.capacity() > KEPT_CAPACITY.max(4 * self.dense.len()) {
            self.dense = Vec::new();
        }
        self.dense.clear();
        if self.sparse.capacity() > KEPT_CAPACITY.max(4 * self.sparse.len()) {
            self.sparse = HashMap::default();
        } else if !self.sparse.is_empty() {
            self.sparse.clear();
        }
    }
}

/// The string argument that interned data begin with, as its id and its bytes, and the bytes after
/// it: if it is as writers have it, and short.
#[inline]
pub(crate) fn usual_string_arg(interned: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let [first, second, size @ ..0x80, rest @ ..] = interned else { return None };
    if [*first, *second] != STRING_ARG {
        return None;
    }
    let (string, rest) = rest.split_at_checked(usize::from(*size))?;
    let [IID, string @ ..] = string else { return None };
    let (iid, string) = varint(string)?;
    let [STR, length @ ..0x80, text @ ..] = string else { return None };
    (usize::from(*length) == text.len()).then_some((iid, text, rest))
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

/// The tag of a string argument, of two bytes.
const STRING_ARG: [u8; 2] =
    (packed_varint(tag(interned_data::PROTOLOG_STRING_ARGS, WireType::Bytes) as u64).0 as u16)
        .to_le_bytes();
const IID: u8 = tag(interned_string::IID, WireType::Varint) as u8;
const STR: u8 = tag(interned_string::STR, WireType::Bytes) as u8;
