//! A look through a trace, packet by packet: the id of its session, and the drops that it reports.
//!
//! Invariants: any bytes can be surveyed; a packet that is cut off ends the survey.

use protolog_core::schema::{loss, packet, sequence_info, trace};
use protozero::{Field, Reader};
use std::collections::BTreeMap;

/// Inflates the packets of a bundle (`compressed_packets`); none if they are damaged, or there is no decompressor.
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
    /// Number of messages.
    pub messages: u64,
    /// True if the trace lacks a part of what it had, so that nothing can build on it.
    pub is_cut: bool,
}

/// The first byte of a message's packet.
const TIMESTAMP: u8 = (packet::TIMESTAMP << 3) as u8;

impl TraceSurvey {
    /// Surveys a whole trace.
    pub fn of(trace: &[u8], inflate: Inflate<'_>) -> Self {
        let mut survey = Self::default();
        survey.read(trace, inflate, &mut |_| true);
        survey
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
        for field in Reader::new(trace).map_while(Result::ok) {
            let packet = field.as_bytes().unwrap_or_default();
            if field.number != trace::PACKET
                || packet.first() == Some(&TIMESTAMP) && !has_loss(packet)
            {
                self.messages += u64::from(has(packet, packet::PROTOLOG_MESSAGE));
                continue;
            }
            for field in Reader::new(packet).map_while(Result::ok) {
                match field.number {
                    packet::COMPRESSED_PACKETS => {
                        let packets = field.as_bytes().ok().and_then(inflate);
                        self.read(&packets.unwrap_or_default(), &|_| None, more);
                    }
                    packet::SEQUENCE_INFO => self.add_info(field),
                    packet::LOSS => self.add_loss(field),
                    _ => {}
                }
            }
            if !more(self) {
                return;
            }
        }
    }

    fn add_info(&mut self, info: Field<'_>) {
        for field in info.as_message().into_iter().flatten().flatten() {
            match field.number {
                sequence_info::SESSION_ID => {
                    let id = field.as_bytes().ok().and_then(|id| id.try_into().ok());
                    self.session_id = id.unwrap_or(self.session_id);
                }
                sequence_info::PID if self.pid.is_none() => self.pid = field.as_u32().ok(),
                _ => {}
            }
        }
    }

    /// Adds a record of drops.
    pub(crate) fn add_loss(&mut self, record: Field<'_>) {
        let (mut group, mut cause, mut count) = (0, 0, 0);
        for field in record.as_message().into_iter().flatten().flatten() {
            match field.number {
                loss::GROUP_ID => group = field.as_u32().unwrap_or(0),
                loss::CAUSE => cause = field.as_u32().unwrap_or(0),
                loss::COUNT => count = field.as_u64().unwrap_or(0),
                _ => {}
            }
        }
        self.add(group, cause, count);
    }

    /// Adds drops.
    pub(crate) fn add(&mut self, group: u32, cause: u32, count: u64) {
        let known = self.losses.entry((group, cause)).or_default();
        *known = known.saturating_add(count);
    }
}

/// True if a packet has a record of drops; messages have none.
fn has_loss(packet: &[u8]) -> bool {
    has(packet, packet::LOSS)
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
