//! Where each packet belongs: its thread, its time, and what it says apart from the ids of its
//! sequence. Two packets that are equal in all three are the same, in whichever traces they are.
//!
//! This is the same reading as that of [`crate::decode::collect`], without the log: of a string
//! only its hash is kept, by which it is compared whatever id it has.
//!
//! Invariant: a place that can't be told for certain is none, so that nothing counts as the same by
//! accident.

use super::logged_content::{DEBUG_STRINGS, LoggedContent};
use crate::clocks::{
    ClockSnapshot, CustomClocks, Moment, TRACE_CLOCK, default_clock, is_of_sequence,
};
use crate::inputs::thread_ids::{ThreadIds, mix};
use crate::packets::message_fields::{self, MessageField};
use crate::packets::trace_packet::Packet;
use crate::sequences::sequence_state::parse_interned;
use crate::sequences::thread::{self, Source};
use foldhash::HashMap;
use protolog_core::schema::interned_data;
use protolog_core::{ParamKind, hash};
use protozero::{DecodeError, Field};

/// The interned strings that messages and events name.
const STRINGS: [u32; 6] = [
    interned_data::EVENT_CATEGORIES,
    interned_data::EVENT_NAMES,
    interned_data::DEBUG_ANNOTATION_NAMES,
    DEBUG_STRINGS,
    interned_data::PROTOLOG_STRING_ARGS,
    interned_data::PROTOLOG_STACKTRACE,
];

/// See the module.
#[derive(Debug)]
pub(super) struct Place {
    /// The thread.
    pub(super) origin: ThreadIds,
    /// The fingerprint of its process, if the thread has one.
    pub(super) process: Option<u64>,
    /// The time, in a clock that all traces share.
    pub(super) moment: Moment,
    /// The time of losses that the packet reports.
    pub(super) loss_moment: Moment,
    /// The incremental clock of the sequence that the packet's timestamp advances.
    pub(super) advanced: Option<u32>,
    /// The clocks of the sequence that the packet defines.
    pub(super) defined: Vec<u32>,
    /// The hash of the message or event; none if there is none, or if its strings are not known.
    pub(super) logged: Option<u64>,
    /// Of a message, how much it has.
    pub(super) fullness: Option<Fullness>,
}

/// The texts of a message and its stack trace, which another copy of it may have in full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fullness {
    /// The hash of all that is the same in each copy.
    pub(super) identity: u64,
    /// The hash of its texts.
    texts: u64,
    /// Their number, and their bytes.
    count: u32,
    bytes: u64,
    /// The hashes of their beginnings, of each of the lengths in [`HEADS`].
    heads: [u64; HEADS.len()],
    /// The fewest bytes that are left of one that may be cut.
    cut_at: Option<u32>,
    has_stack: bool,
}

impl Fullness {
    /// Returns whether this has all that another copy of the message has, and more.
    pub(super) fn exceeds(&self, other: &Self) -> bool {
        let has_longer = other.cut_at.is_some_and(|kept| self.is_longer(other, kept));
        let has_texts = has_longer || self.texts == other.texts;
        let has_more = has_longer || self.has_stack && !other.has_stack;
        has_texts && has_more && (self.has_stack || !other.has_stack)
    }

    /// Returns whether this has the texts of another copy, the shortest of whose cut ones kept so
    /// many bytes. Of several texts that are cut in both, each may have more of one.
    fn is_longer(&self, other: &Self, kept: u32) -> bool {
        let Some(head) = HEADS.iter().rposition(|len| *len <= kept as usize) else { return false };
        let has_all = self.cut_at.is_none() || self.count == 1;
        has_all && self.bytes > other.bytes && self.heads[head] == other.heads[head]
    }

    fn add_text(&mut self, text: InternedText) {
        self.identity = mix(self.identity ^ 1);
        self.texts = mix(self.texts ^ text.hash);
        self.count += 1;
        self.bytes += u64::from(text.length);
        for (head, of_text) in self.heads.iter_mut().zip(text.heads) {
            *head = mix(*head ^ of_text);
        }
        let kept = text.may_be_cut.then(|| text.length - CUT_END.len() as u32);
        self.cut_at = self.cut_at.into_iter().chain(kept).min();
    }

    fn add(&mut self, kind: u64, value: u64) {
        self.identity = mix(self.identity ^ mix(value.wrapping_add(kind)));
    }
}

/// An interned string.
#[derive(Clone, Copy, Debug, Default)]
struct InternedText {
    hash: u64,
    length: u32,
    may_be_cut: bool,
    /// The hashes of its first bytes.
    heads: [u64; HEADS.len()],
}

impl InternedText {
    fn of(bytes: &[u8]) -> Self {
        Self {
            hash: hash(bytes),
            length: bytes.len() as u32,
            may_be_cut: bytes.ends_with(CUT_END),
            heads: HEADS.map(|len| hash(bytes.get(..len).unwrap_or(bytes))),
        }
    }
}

/// A text that is cut is compared with a longer one by so many bytes, the most that it has.
const HEADS: [usize; 2] = [2, 32];

/// The end of a text that a session has cut.
const CUT_END: &[u8] = "…".as_bytes();

/// Returns whether interned data has a stack trace, or a text that may be cut.
pub(super) fn may_have_more_elsewhere(interned: Field<'_>) -> Result<bool, DecodeError> {
    for field in interned.as_message()? {
        let field = field?;
        let is_partial = match field.number {
            interned_data::PROTOLOG_STACKTRACE => true,
            interned_data::PROTOLOG_STRING_ARGS => parse_interned(field)?.1.ends_with(CUT_END),
            _ => false,
        };
        if is_partial {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The state of one input.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Indices of sequences, by their ids.
    indices: HashMap<u32, usize>,
    sequences: Vec<Sequence>,
    /// The sequence of the packet before, with its index: mostly that of the next.
    recent: Option<(u32, usize)>,
    shared_clocks: CustomClocks,
    primary: Option<u32>,
    latest: Option<Moment>,
    /// Only threads and times are wanted.
    only_times: bool,
    /// True after a hole.
    is_torn: bool,
}

/// The state of a sequence; see [`crate::sequences::sequence_state`].
#[derive(Debug, Default)]
struct Sequence {
    started: bool,
    /// True after a hole, until the state is cleared: nothing is known of its clocks.
    is_torn: bool,
    valid: bool,
    /// Strings, by kind and id.
    strings: HashMap<(u32, u64), InternedText>,
    default_clock: Option<u32>,
    clocks: CustomClocks,
    origin: ThreadIds,
    process: Option<u64>,
    source: Source,
    last: Option<Moment>,
}

impl Places {
    /// For threads and times alone.
    pub(super) fn of_times() -> Self {
        Self { only_times: true, ..Self::default() }
    }

    /// Forgets the state of all sequences, after a hole in the input.
    pub(super) fn tear(&mut self) {
        self.is_torn = true;
        self.sequences.clear();
        self.indices.clear();
        self.recent = None;
    }

    /// The index of a sequence.
    fn index(&mut self, id: u32) -> usize {
        if let Some((_, index)) = self.recent.filter(|(recent, _)| *recent == id) {
            return index;
        }
        let index = *self.indices.entry(id).or_insert_with(|| {
            self.sequences.push(Sequence { is_torn: self.is_torn, ..Sequence::default() });
            self.sequences.len() - 1
        });
        self.recent = Some((id, index));
        index
    }

    /// Applies the next packet of the input, which has fields of this hash beside its event.
    pub(super) fn next(&mut self, packet: &Packet<'_>, beside: u64) -> Result<Place, DecodeError> {
        let index = self.index(packet.sequence);
        let Self { sequences, shared_clocks, primary, latest, only_times, .. } = self;
        let sequence = &mut sequences[index];
        if packet.dropped && (sequence.started || !packet.first_on_sequence) {
            sequence.forget(false);
        }
        sequence.started = true;
        if packet.cleared {
            sequence.forget(true);
            (sequence.default_clock, sequence.is_torn) = (None, false);
        }
        if let Some(defaults) = packet.defaults {
            sequence.default_clock = default_clock(defaults)?;
        }
        if let (Some(interned), false) = (packet.interned, *only_times) {
            sequence.intern(interned)?;
        }
        let (mut read, mut defined) = (None, Vec::new());
        if let Some(snapshot) = packet.snapshot {
            let snapshot = ClockSnapshot::parse(snapshot)?;
            *primary = primary.or(snapshot.primary);
            read = snapshot.moment(*primary);
            snapshot.define(read, &mut sequence.clocks, shared_clocks);
            defined.extend(snapshot.ids().filter(|id| is_of_sequence(*id)));
            note(read, &mut sequence.last, latest);
        }
        sequence.identify(packet)?;
        let clock = match packet.clock {
            TRACE_CLOCK => sequence.default_clock.unwrap_or(TRACE_CLOCK),
            clock => clock,
        };
        let is_incremental = is_of_sequence(clock) && sequence.clocks.is_incremental(clock);
        let known = packet.timestamp.filter(|_| clock != TRACE_CLOCK || !sequence.is_torn);
        let found = known.and_then(|ticks| {
            if is_of_sequence(clock) {
                sequence.clocks.moment(clock, ticks)
            } else {
                shared_clocks.shared_moment(clock, ticks)
            }
        });
        note(found, &mut sequence.last, latest);
        let moment = found.unwrap_or(sequence.last.or(*latest).unwrap_or(Moment::UNKNOWN).guess());
        let logged = if *only_times { None } else { sequence.logged(packet, beside)? };
        let fullness = logged.and_then(|(_, fullness)| fullness);
        Ok(Place {
            origin: sequence.origin,
            process: sequence.process,
            moment,
            loss_moment: read.filter(|_| moment.guessed).unwrap_or(moment),
            advanced: packet.timestamp.and(is_incremental.then_some(clock)),
            defined,
            logged: logged.map(|(hash, _)| hash),
            fullness,
        })
    }
}

fn note(moment: Option<Moment>, last: &mut Option<Moment>, latest: &mut Option<Moment>) {
    *last = moment.or(*last);
    if let Some(moment) = moment
        && latest.is_none_or(|latest| latest.ns <= moment.ns)
    {
        *latest = Some(moment);
    }
}

impl Sequence {
    fn forget(&mut self, valid: bool) {
        self.valid = valid;
        self.strings.clear();
    }

    fn intern(&mut self, interned: Field<'_>) -> Result<(), DecodeError> {
        if !self.valid {
            return Ok(());
        }
        for field in interned.as_message()? {
            let field = field?;
            if STRINGS.contains(&field.number) {
                let (iid, bytes, _) = parse_interned(field)?;
                let strings = self.strings.entry((field.number, iid));
                strings.or_insert_with(|| InternedText::of(bytes));
            }
        }
        Ok(())
    }

    fn identify(&mut self, packet: &Packet<'_>) -> Result<(), DecodeError> {
        let mut set = |source, thread: &thread::Thread| {
            if source >= self.source {
                (self.source, self.origin) = (source, ThreadIds::of(thread));
                self.process = thread.process;
            }
        };
        if let Some(pid) = packet.trusted_pid {
            set(Source::Service, &thread::Thread { pid: Some(pid), ..thread::Thread::default() });
        }
        if let Some(descriptor) = packet.thread {
            let mut thread = thread::parse_descriptor(descriptor)?;
            thread.pid = packet.local_pid.or(thread.pid);
            set(Source::Descriptor, &thread);
        }
        if let Some(info) = packet.sequence_info {
            set(Source::Sequence, &thread::parse_sequence_info(info)?);
        }
        Ok(())
    }

    /// The hash of the message and the event in a packet, with the strings that they refer to; and
    /// how much the message has.
    fn logged(
        &self,
        packet: &Packet<'_>,
        beside: u64,
    ) -> Result<Option<(u64, Option<Fullness>)>, DecodeError> {
        if packet.needs_state && !self.valid {
            return Ok(None);
        }
        let (mut content, mut is_known) = (LoggedContent::default(), true);
        let mut string = |kind, iid| {
            let known = self.strings.get(&(kind, iid));
            is_known &= known.is_some();
            known.copied().unwrap_or_default()
        };
        let mut fullness = None;
        if let Some(message) = packet.message {
            fullness = Some(add_message(message, &mut content, &mut string)?);
        }
        if let Some(event) = packet.track_event {
            content.add_event(event, beside, &mut |kind, iid| string(kind, iid).hash)?;
        }
        let is_any = packet.message.is_some() || packet.track_event.is_some();
        // A span beside it is not compared.
        let fullness = fullness.filter(|_| packet.track_event.is_none());
        Ok((is_any && is_known).then(|| (content.hash(), fullness)))
    }
}

/// Adds a message to the content of its packet. `string` finds interned strings.
fn add_message(
    message: Field<'_>,
    content: &mut LoggedContent,
    string: &mut impl FnMut(u32, u64) -> InternedText,
) -> Result<Fullness, DecodeError> {
    let mut fullness = Fullness::default();
    message_fields::visit(message.as_message()?, |field| {
        let (kind, value) = match field {
            MessageField::String(iid) => {
                let text = string(interned_data::PROTOLOG_STRING_ARGS, iid);
                content.add(ParamKind::Str as usize, text.hash);
                return fullness.add_text(text);
            }
            MessageField::StackTrace(iid) => {
                fullness.has_stack = true;
                return content.add(5, string(interned_data::PROTOLOG_STACKTRACE, iid).hash);
            }
            MessageField::MessageId(id) => (4, id),
            MessageField::Int(value) => (ParamKind::Int as usize, value as u64),
            MessageField::Float(value) => (ParamKind::Float as usize, value.to_bits()),
            MessageField::Bool(value) => (ParamKind::Bool as usize, value.into()),
            MessageField::Unsigned(bits) => (6, bits.into()),
            MessageField::RateOf(of) => (7, of.into()),
            MessageField::RateKept(kept) => (8, kept.into()),
            MessageField::RateBy(by) => (9, by.into()),
        };
        content.add(kind, value);
        fullness.add(kind as u64, value);
    })?;
    Ok(fullness)
}
