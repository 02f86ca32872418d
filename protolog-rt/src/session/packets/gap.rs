//! The gap in a file that could not be written for a while, or that somebody else has cut, until a
//! trace reports it.
//!
//! A file on a full disk, for example, is continued when it can be written again. Until then the
//! gap grows: messages, which are counted here, and records of drops among the packets, which are
//! reported once more.
//!
//! Invariant: a drop that is taken is reported, or comes back when its packet can't be written
//! either.

use crate::loss::{LossCount, Unwritten};
use crate::session::packets::copied::MESSAGE;
use crate::session::packets::message_counts::Counts;
use protolog_core::schema::{loss, packet, passed_over};
use protolog_core::{Level, LossCause};
use protozero::{Field, Reader};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct Gap {
    /// Messages that could not be written, and that no trace reports.
    pub(in crate::session) messages: Counts,
    /// The same that somebody else has removed from a file.
    pub(in crate::session) removed: Counts,
    /// Drops that were counted as reported.
    pub(in crate::session) reported: Vec<LossCount>,
}

impl Gap {
    /// Returns whether there is nothing to report.
    pub(in crate::session) fn is_empty(&self) -> bool {
        self.messages.messages() == 0 && self.removed.messages() == 0 && self.reported.is_empty()
    }

    /// Adds packets in a file's form, and returns the messages among them. Packets that end with
    /// `own` are the session's own.
    pub(in crate::session) fn add_packets(&mut self, bytes: &[u8], own: &[u8]) -> Counts {
        let mut messages = Counts::default();
        messages.count_file(bytes, own);
        self.messages.add(&messages);
        for packet in Reader::new(bytes).map_while(Result::ok) {
            let packet = packet.as_bytes().unwrap_or_default();
            if packet.first() == Some(&MESSAGE) && !packet.ends_with(own) {
                continue;
            }
            records(packet).for_each(|lost| lost.add_to(&mut self.reported));
        }
        messages
    }

    /// Adds the gap of another file.
    pub(in crate::session) fn add(&mut self, other: Self) {
        self.messages.add(&other.messages);
        self.removed.add(&other.removed);
        other.reported.into_iter().for_each(|lost| lost.add_to(&mut self.reported));
    }
}

/// Returns the records of drops in a packet.
pub(in crate::session) fn records(packet: &[u8]) -> impl Iterator<Item = LossCount> + '_ {
    let fields = Reader::new(packet).map_while(Result::ok);
    fields.filter_map(record)
}

/// Decodes a record of drops, or of messages that sampling passed over; none for other fields.
fn record(field: Field<'_>) -> Option<LossCount> {
    let is_loss = match field.number {
        packet::LOSS => true,
        packet::PASSED_OVER => false,
        _ => return None,
    };
    let (mut group, mut cause, mut count) = (0, 0, 0);
    let (mut first, mut last, mut message) = (None, None, 0);
    for field in field.as_message().ok()?.map_while(Result::ok) {
        match field.number {
            loss::GROUP_ID => group = field.as_u32().ok()?,
            // The level of those that were passed over.
            loss::CAUSE => cause = field.as_u32().ok()?,
            loss::COUNT => count = field.as_u64().ok()?,
            loss::FIRST => first = field.as_u64().ok(),
            loss::LAST => last = field.as_u64().ok(),
            loss::MESSAGE_ID => message = field.as_fixed64().ok()?,
            _ => {}
        }
    }
    const _: () = assert!(loss::CAUSE == passed_over::LEVEL);
    let cause = if is_loss {
        Unwritten::Lost(LossCause::from_wire(cause)?)
    } else {
        Unwritten::PassedOver(Level::from_wire(cause.into()))
    };
    Some(LossCount { times: first.zip(last), message, ..LossCount::new(group, cause, count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::schema::trace;
    use protozero::{Heap, Writer};

    #[test]
    fn records_of_drops_are_reported_again() {
        let mut file = Writer::new(Heap::new());
        let mut to = file.message();
        for (group, cause, count) in [(7, 1, 2), (0, 5, 1), (7, 1, 3), (7, 99, 1)] {
            let mut packet = to.nested(trace::PACKET);
            // One of them has a time, as messages have.
            if group == 0 {
                packet.uint64(packet::TIMESTAMP, 1);
            }
            let mut record = packet.nested(packet::LOSS);
            record.uint32(loss::GROUP_ID, group).uint32(loss::CAUSE, cause);
            record.uint64(loss::COUNT, count);
            drop(record);
            packet.uint32(packet::TRUSTED_PACKET_SEQUENCE_ID, 1);
        }
        let mut gap = Gap::default();
        assert!(gap.is_empty());
        let messages = gap.add_packets(&file.into_vec().unwrap(), &[0x50, 1]);
        assert_eq!(messages.messages(), 0);
        let full = LossCount::new(7, LossCause::BufferFull, 5);
        let dead = LossCount::new(0, LossCause::ThreadExit, 1);
        assert_eq!(gap.reported, [full, dead]);
        gap.add(Gap { reported: vec![full], ..Gap::default() });
        assert_eq!(gap.reported, [LossCount { count: 10, ..full }, dead]);
    }
}
