//! Traces of some requests: the messages that lie between marks of these, and what they rest on.
//!
//! ```text
//! chunk   state, track, [mark 7]  message  message  [mark 9]  message  [no mark]  message
//! file    state, track,                             [mark 9]  message
//! ```
//!
//! A chunk's first packets are written with the first message of it that is, so a chunk without
//! such messages leaves nothing. Messages that are left out may have brought strings that later
//! ones refer to, and the times of later ones count from theirs: the mark before the next message
//! that is written has these strings, and the time that has passed. Slices are taken or left out
//! as messages are.
//!
//! Invariants
//! - Each message of the chunks is in the trace or counted as left out; none of them is counted as
//!   overwritten.
//! - Every chunk begins with the request that its thread is in, so nothing depends on a chunk that
//!   was overwritten.

use crate::session::packets::copied::{MESSAGE, split};
use crate::session::ring::snapshot_copy::{Begin, SnapshotCopy};
use crate::session::stream::drain::PacketSink;
use crate::writer::slice::EVENT;
use protolog_core::schema::{packet, request, sequence_flags};
use protozero::wire::{WireType, packed_varint, tag};
use protozero::{Heap, Reader, Writer};
use std::collections::HashSet;

/// The requests whose messages are wanted, and the messages that were left out.
#[derive(Debug, Default)]
pub(in crate::session) struct RequestFilter {
    wanted: HashSet<u64>,
    /// Messages of other requests, and of none.
    pub(in crate::session) left_out: u64,
}

/// Copies a sequence's messages of wanted requests.
pub(super) struct FilteredCopy<'a> {
    to: SnapshotCopy<'a>,
    filter: &'a mut RequestFilter,
    /// The first packets of the chunk, until they are written.
    first: Vec<Vec<u8>>,
    /// The request of the messages that follow; 0 for none.
    current: u64,
    /// The packet that says so, until it is written.
    mark: Option<Vec<u8>>,
    /// Nanoseconds from the last packet that was written to the last one that was left out.
    passed: u64,
    /// Contents of `interned_data` in packets that were left out.
    interned: Vec<u8>,
}

/// The first bytes of a mark, and of no other packet.
const MARK: [u8; 2] =
    (packed_varint(tag(packet::REQUEST, WireType::Bytes) as u64).0 as u16).to_le_bytes();

impl RequestFilter {
    /// A filter for requests with these numbers.
    pub(in crate::session) fn new(wanted: impl IntoIterator<Item = u64>) -> Self {
        Self { wanted: wanted.into_iter().collect(), left_out: 0 }
    }
}

impl<'a> FilteredCopy<'a> {
    pub(super) fn new(to: SnapshotCopy<'a>, filter: &'a mut RequestFilter) -> Self {
        Self {
            to,
            filter,
            first: Vec::new(),
            current: 0,
            mark: None,
            passed: 0,
            interned: Vec::new(),
        }
    }

    /// The numbers of messages in the trace, and in the trace or counted.
    pub(super) fn counts(&self) -> (u64, u64) {
        self.to.counts()
    }

    /// Begins a chunk.
    fn begin(&mut self, state: &[u8]) {
        self.first = vec![state.to_vec()];
        (self.current, self.mark) = (0, None);
        self.pass_nothing();
    }

    fn pass_nothing(&mut self) {
        self.passed = 0;
        self.interned.clear();
    }

    fn one(&mut self, packet: &[u8]) {
        if packet.starts_with(&MARK) {
            self.current = number(packet);
            self.mark = Some(packet.to_vec());
        } else if matches!(packet.first(), Some(&(MESSAGE | EVENT))) {
            if self.filter.wanted.contains(&self.current) {
                self.write_before();
                self.to.packet(packet);
            } else {
                self.leave_out(packet);
            }
        } else if Begin::read(packet).is_some() {
            self.begin(packet);
        } else if self.first.is_empty() {
            self.to.packet(packet);
        } else {
            self.first.push(packet.to_vec());
        }
    }

    /// Writes what the next packet rests on.
    fn write_before(&mut self) {
        for packet in self.first.drain(..) {
            self.to.packet(&packet);
        }
        let Some(mut mark) = self.mark.take() else { return };
        let mut writer = Writer::new(Heap::new());
        let mut rest = writer.message();
        if !self.interned.is_empty() {
            rest.bytes(packet::INTERNED_DATA, &self.interned);
        }
        if self.passed > 0 || !self.interned.is_empty() {
            rest.uint32(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE)
                .uint64(packet::TIMESTAMP, self.passed);
        }
        mark.extend(writer.into_vec().unwrap_or_default());
        self.to.packet(&mark);
        self.pass_nothing();
    }

    fn leave_out(&mut self, packet: &[u8]) {
        if packet.first() == Some(&MESSAGE) {
            self.filter.left_out += 1;
            self.to.pass_over();
        }
        for field in Reader::new(packet).map_while(Result::ok) {
            match field.number {
                packet::TIMESTAMP => self.passed += field.as_u64().unwrap_or(0),
                packet::INTERNED_DATA => {
                    self.interned.extend(field.as_bytes().unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

impl PacketSink for FilteredCopy<'_> {
    fn packet(&mut self, packet: &[u8]) {
        self.one(packet);
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        self.to.report_missing(sized);
        let mut rest = sized;
        for _ in 0..count {
            let Some((packet, after)) = split(rest) else { break };
            if !packet.is_empty() {
                self.one(packet);
            }
            rest = after;
        }
    }
}

/// The number of the request that a mark names; 0 for none.
fn number(mark: &[u8]) -> u64 {
    let mut fields = Reader::new(mark).map_while(Result::ok);
    let named = fields.find(|field| field.number == packet::REQUEST);
    let fields = named.and_then(|mark| mark.as_message().ok());
    let mut fields = fields.into_iter().flatten().map_while(Result::ok);
    let number = fields.find(|field| field.number == request::NUMBER);
    number.and_then(|number| number.as_u64().ok()).unwrap_or(0)
}
