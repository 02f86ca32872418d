//! Programs that the tracing service asked to record a session, and that did not: all that they
//! logged is missing.
//!
//! Invariant: however many a trace names, some of them are kept.

use std::collections::BTreeSet;
use std::fmt;

use protolog_core::schema::refusal;
use protozero::{DecodeError, Field, Reader};

use crate::formatting::printable::printable;
use crate::packets::trace_packet::Packet;

/// The most that are kept.
const MAX_REFUSALS: usize = 1000;

/// A program that did not record the session of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Refusal {
    /// The process, as the tracing service says it, or else as it says itself.
    pub pid: u32,
    /// The name of its program, as it says itself.
    pub program: String,
    /// The reason, as it says itself.
    pub reason: String,
}

impl Refusal {
    /// Returns the refusal in a `TracePacket`, if it has one.
    pub fn of_packet(fields: Reader<'_>) -> Option<Self> {
        let (packet, _) = Packet::parse_part(fields);
        Self::parse(packet.refusal?, packet.trusted_pid).ok()
    }

    fn parse(field: Field<'_>, trusted_pid: Option<u32>) -> Result<Self, DecodeError> {
        let mut found = Self::default();
        for field in field.as_message()? {
            let field = field?;
            match field.number {
                refusal::REASON => field.as_str()?.clone_into(&mut found.reason),
                refusal::PID => found.pid = field.as_u32()?,
                refusal::PROGRAM => field.as_str()?.clone_into(&mut found.program),
                _ => {}
            }
        }
        found.pid = trusted_pid.unwrap_or(found.pid);
        Ok(found)
    }

    /// Adds it to others, unless there are very many.
    pub fn add_to(self, all: &mut BTreeSet<Self>) {
        if all.len() < MAX_REFUSALS {
            all.insert(self);
        }
    }
}

/// Takes the refusal of a packet, if it has one.
pub(crate) fn note(packet: &Packet<'_>, all: &mut BTreeSet<Refusal>) -> Result<(), DecodeError> {
    if let Some(field) = packet.refusal {
        Refusal::parse(field, packet.trusted_pid)?.add_to(all);
    }
    Ok(())
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, reason) = (printable(&self.program), printable(&self.reason));
        write!(f, "process {} (`{program}`) did not record this session: {reason}", self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::schema::packet;
    use protozero::{Heap, Writer};

    fn packet(trusted: Option<u32>) -> Vec<u8> {
        let mut writer = Writer::new(Heap::new());
        let mut to = writer.message();
        to.nested(packet::REFUSAL)
            .string(refusal::REASON, "busy\u{1b}[2J")
            .uint32(refusal::PID, 5)
            .string(refusal::PROGRAM, "app");
        if let Some(pid) = trusted {
            to.uint32(79, pid);
        }
        writer.into_vec().expect("it is small")
    }

    #[test]
    fn the_service_says_whose_a_refusal_is() {
        let of = |bytes: &[u8]| Refusal::of_packet(Reader::new(bytes)).expect("it is one");
        assert_eq!((of(&packet(None)).pid, of(&packet(Some(7))).pid), (5, 7));
        let said = of(&packet(None)).to_string();
        let expected = "process 5 (`app`) did not record this session: busy\\u{1b}[2J";
        assert_eq!(said, expected);
        assert_eq!(Refusal::of_packet(Reader::new(&[])), None);
    }

    #[test]
    fn refusals_without_end_take_little_memory() {
        let mut all = BTreeSet::new();
        for pid in 0..5000 {
            Refusal { pid, ..Refusal::default() }.add_to(&mut all);
        }
        assert_eq!(all.len(), MAX_REFUSALS);
    }
}
