//! A look through a trace, packet by packet: the id of its session, and the drops that it reports.
//!
//! Invariants: any bytes can be surveyed; a packet that is cut off ends the survey.

use protolog_core::schema::{
    loss, packet, process_descriptor, sequence_info, trace, track_descriptor, track_event,
};
use protolog_core::{Level, Unwritten};
use protozero::{Field, Reader};
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// Inflates the packets of a bundle (`compressed_packets`); none if they are damaged, or there is
/// no decompressor.
pub type Inflate<'a> = &'a dyn Fn(&[u8]) -> Option<Vec<u8>>;

/// The findings about a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceSurvey {
    /// The id of the session that wrote it; zero if it has none.
    pub session_id: [u8; 16],
    /// The id of its process, if it is known.
    pub pid: Option<u32>,
    /// The drops that it reports, by group and cause.
    pub losses: BTreeMap<(u32, u32), u64>,
    /// The name of the process, as it was called.
    pub program: Option<Vec<u8>>,
    /// The file name that its session was given, if the trace is a segment.
    pub segments_of: Option<Vec<u8>>,
    /// Number of messages.
    pub messages: u64,
    /// True if the session that wrote it was ended by its program.
    pub has_end: bool,
    /// True if the trace lacks a part of what it had, so that nothing can build on it.
    pub is_cut: bool,
}

/// The first byte of a message's packet.
const TIMESTAMP: u8 = (packet::TIMESTAMP << 3) as u8;

/// The first byte of each packet of a trace.
const PACKET: u8 = (trace::PACKET << 3 | 2) as u8;

/// The largest packet that is looked into, in bytes, where a trace is not in memory.
const MAX_PACKET: u64 = 64 << 20;

impl TraceSurvey {
    /// The names of the events that end a session, in Rust and in Java. One that was recovered has
    /// none of them.
    pub const ENDS: [&[u8]; 2] = [b"protolog session stopped", b"protolog session ended"];

    /// Surveys a whole trace.
    pub fn of(trace: &[u8], inflate: Inflate<'_>) -> Self {
        let mut survey = Self::default();
        survey.read(trace, inflate, &mut |_| true);
        survey
    }

    /// Surveys a trace that is read to its end, with no more memory than its largest packet takes.
    ///
    /// # Errors
    /// It can't be read.
    pub fn of_stream(mut trace: impl BufRead, inflate: Inflate<'_>) -> io::Result<Self> {
        let (mut survey, mut packet) = (Self::default(), Vec::new());
        while next_packet(&mut trace, &mut packet)? {
            survey.packet(&packet, inflate, &mut |_| true);
        }
        Ok(survey)
    }

    /// As far as the id of the session that wrote a trace, which its first packets have.
    pub fn of_head(trace: &[u8], inflate: Inflate<'_>) -> Self {
        let mut survey = Self::default();
        survey.read(trace, inflate, &mut |survey| survey.session_id == [0; 16]);
        survey
    }

    /// The id of the session that wrote a trace, which its first packets have; zero if they have
    /// none.
    pub fn session_id_of(trace: &[u8], inflate: Inflate<'_>) -> [u8; 16] {
        Self::of_head(trace, inflate).session_id
    }

    /// Reads packets as long as `more` says so.
    fn read(&mut self, trace: &[u8], inflate: Inflate<'_>, more: &mut dyn FnMut(&Self) -> bool) {
        let packets = Reader::new(trace).map_while(Result::ok);
        for field in packets.filter(|field| field.number == trace::PACKET) {
            if !self.packet(field.as_bytes().unwrap_or_default(), inflate, more) {
                return;
            }
        }
    }

    /// Looks into a packet. Returns whether to go on.
    fn packet(
        &mut self,
        packet: &[u8],
        inflate: Inflate<'_>,
        more: &mut dyn FnMut(&Self) -> bool,
    ) -> bool {
        let has_counts = has(packet, packet::LOSS) || has(packet, packet::PASSED_OVER);
        if packet.first() == Some(&TIMESTAMP) && !has_counts {
            let is_message = has(packet, packet::PROTOLOG_MESSAGE);
            self.messages += u64::from(is_message);
            // What is there for Perfetto's UI only may follow the end.
            if is_message || !has(packet, packet::FOR_UI) {
                self.has_end = !is_message && is_end(packet);
            }
            return true;
        }
        for field in Reader::new(packet).map_while(Result::ok) {
            match field.number {
                packet::COMPRESSED_PACKETS => {
                    let packets = field.as_bytes().ok().and_then(inflate);
                    self.read(&packets.unwrap_or_default(), &|_| None, more);
                }
                packet::SEQUENCE_INFO => self.add_info(field),
                packet::TRACK_DESCRIPTOR => self.add_track(field),
                packet::LOSS | packet::PASSED_OVER => self.add_loss(field),
                _ => {}
            }
        }
        more(self)
    }

    /// Learns the name of the process; that of the first one counts.
    fn add_track(&mut self, track: Field<'_>) {
        if self.program.is_none() {
            self.program = inner(track, track_descriptor::PROCESS)
                .and_then(|process| inner(process, process_descriptor::PROCESS_NAME))
                .and_then(|name| name.as_bytes().ok().map(<[u8]>::to_vec));
        }
    }

    fn add_info(&mut self, info: Field<'_>) {
        for field in info.as_message().into_iter().flatten().flatten() {
            match field.number {
                sequence_info::SESSION_ID => {
                    let id = field.as_bytes().ok().and_then(|id| id.try_into().ok());
                    self.session_id = id.unwrap_or(self.session_id);
                }
                sequence_info::SEGMENTS_OF => {
                    self.segments_of = field.as_bytes().ok().map(<[u8]>::to_vec);
                }
                sequence_info::PID if self.pid.is_none() => self.pid = field.as_u32().ok(),
                _ => {}
            }
        }
    }

    /// Adds a record of drops, or of messages that sampling passed over.
    pub(crate) fn add_loss(&mut self, record: Field<'_>) {
        let (mut group, mut cause, mut count) = (0, 0, 0);
        for field in record.as_message().into_iter().flatten().flatten() {
            match field.number {
                loss::GROUP_ID => group = field.as_u32().unwrap_or(0),
                // The level of those that were passed over.
                loss::CAUSE => cause = field.as_u32().unwrap_or(0),
                loss::COUNT => count = field.as_u64().unwrap_or(0),
                _ => {}
            }
        }
        if record.number == packet::PASSED_OVER {
            cause = Unwritten::PassedOver(Level::from_wire(cause.into())).number();
        }
        self.add(group, cause, count);
    }

    /// Adds drops.
    pub(crate) fn add(&mut self, group: u32, cause: u32, count: u64) {
        let known = self.losses.entry((group, cause)).or_default();
        *known = known.saturating_add(count);
    }
}

/// Reads the next packet of a trace, empty if it is too large; false at the end, and where the
/// trace is damaged or cut.
fn next_packet(trace: &mut impl BufRead, packet: &mut Vec<u8>) -> io::Result<bool> {
    packet.clear();
    if byte(trace)? != Some(PACKET) {
        return Ok(false);
    }
    let mut length = 0u64;
    for shift in (0..63).step_by(7) {
        let Some(byte) = byte(trace)? else { return Ok(false) };
        length |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            let mut bytes = io::Read::take(trace, length);
            let read = if length <= MAX_PACKET {
                io::Read::read_to_end(&mut bytes, packet)? as u64
            } else {
                io::copy(&mut bytes, &mut io::sink())?
            };
            return Ok(read == length);
        }
    }
    Ok(false)
}

fn byte(trace: &mut impl BufRead) -> io::Result<Option<u8>> {
    let byte = trace.fill_buf()?.first().copied();
    trace.consume(usize::from(byte.is_some()));
    Ok(byte)
}

/// The first field `number` of a message.
fn inner(message: Field<'_>, number: u32) -> Option<Field<'_>> {
    message.as_message().into_iter().flatten().flatten().find(|field| field.number == number)
}

/// Returns whether a packet is the event that ends a session.
fn is_end(packet: &[u8]) -> bool {
    let event = Reader::new(packet).map_while(Result::ok);
    let events = event.filter(|field| field.number == packet::TRACK_EVENT);
    let names = events.flat_map(|event| event.as_message().into_iter().flatten().flatten());
    names
        .filter(|field| field.number == track_event::NAME)
        .any(|name| name.as_bytes().is_ok_and(|name| TraceSurvey::ENDS.contains(&name)))
}

fn has(packet: &[u8], number: u32) -> bool {
    Reader::new(packet).map_while(Result::ok).any(|field| field.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketWriter;
    use protolog_core::schema::loss_cause;

    fn trace() -> Vec<u8> {
        let mut trace = Vec::new();
        let mut to = PacketWriter::new(&mut trace);
        to.write_with(1, |to| {
            to.nested(packet::SEQUENCE_INFO).bytes(sequence_info::SESSION_ID, &[7; 16]);
        })
        .unwrap();
        for count in [3, 4] {
            to.write_with(2, |to| {
                to.uint64(packet::TIMESTAMP, 5);
                to.nested(packet::LOSS)
                    .uint32(loss::GROUP_ID, 9)
                    .uint32(loss::CAUSE, loss_cause::BUFFER_FULL)
                    .uint64(loss::COUNT, count);
            })
            .unwrap();
        }
        trace
    }

    #[test]
    fn id_and_drops_are_found() {
        let trace = trace();
        let survey = TraceSurvey::of(&trace, &|_| None);
        assert_eq!(survey.session_id, [7; 16]);
        assert_eq!(survey.losses, [((9, loss_cause::BUFFER_FULL), 7)].into());
        assert_eq!(TraceSurvey::session_id_of(&trace, &|_| None), [7; 16]);
        let cut = TraceSurvey::of(&trace[..trace.len() - 1], &|_| None);
        assert_eq!(cut.losses, [((9, loss_cause::BUFFER_FULL), 3)].into());
    }

    #[test]
    fn a_stream_is_surveyed_as_memory_is() {
        let trace = trace();
        for length in 0..=trace.len() {
            let cut = &trace[..length];
            for buffer in [1, 7, 4096] {
                let stream = io::BufReader::with_capacity(buffer, cut);
                let survey = TraceSurvey::of_stream(stream, &|_| None).unwrap();
                assert_eq!(survey, TraceSurvey::of(cut, &|_| None), "{length} bytes");
            }
        }
    }

    #[test]
    fn an_end_is_one_only_if_nothing_follows() {
        let mut trace = trace();
        let event = |trace: &mut Vec<u8>, name: &str| {
            let mut to = PacketWriter::new(trace);
            to.write_with(1, |to| {
                to.uint64(packet::TIMESTAMP, 5);
                to.nested(packet::TRACK_EVENT).string(track_event::NAME, name);
            })
            .unwrap();
        };
        for (name, has_end) in [
            ("protolog session started", false),
            ("protolog session stopped", true),
            ("protolog session goes on", false),
            ("protolog session ended", true),
            ("protolog session recovered", false),
        ] {
            event(&mut trace, name);
            assert_eq!(TraceSurvey::of(&trace, &|_| None).has_end, has_end, "{name}");
        }
    }

    #[test]
    fn bundles_are_looked_into() {
        let mut bundle = Vec::new();
        let to = &mut PacketWriter::new(&mut bundle);
        to.write_with(0, |to| {
            to.bytes(packet::COMPRESSED_PACKETS, b"zlib");
        })
        .unwrap();
        let inflate = |bytes: &[u8]| (bytes == b"zlib").then(trace);
        assert_eq!(TraceSurvey::of(&bundle, &inflate), TraceSurvey::of(&trace(), &|_| None));
        assert_eq!(TraceSurvey::session_id_of(&bundle, &inflate), [7; 16]);
    }
}
