//! The budget for the expanded size of the compressed parts of a trace: a few bytes can hold
//! gigabytes, and each of those a message.
//!
//! A bundle is read as far as the budget goes; its rest, and all later bundles, are left out. A
//! trace that is read in two passes is cut at the same place in both, although the second one reads
//! segments in another order: the first pass says where.
//!
//! Invariant: bytes and packets that were taken are never more than the limits, however bundles are
//! nested.

use crate::damage::limits::Limits;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    /// The budget that is left.
    room: Room,
    bundle: Option<Cut>,
    cut: Option<Cut>,
    /// The trace was read once: all fits but the bundles from the place of `cut` on.
    is_known: bool,
}

/// Amounts that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    bytes: u64,
    packets: u64,
}

/// The first bundle that did not fit: where it begins in the file, and the room that there was.
#[derive(Clone, Copy, Debug)]
struct Cut {
    at: u64,
    room: Room,
}

impl Room {
    const NONE: Self = Self { bytes: 0, packets: 0 };
    const ALL: Self = Self { bytes: u64::MAX, packets: u64::MAX };
}

impl Default for Expansion {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Expansion {
    pub(crate) fn new(limits: &Limits) -> Self {
        let room = Room { bytes: limits.inflated_bytes, packets: limits.inflated_packets };
        Self { room, bundle: None, cut: None, is_known: false }
    }

    /// The budget for another pass over the same trace.
    pub(crate) fn again(&self) -> Self {
        Self { room: Room::ALL, bundle: None, cut: self.cut, is_known: true }
    }

    /// Adds room, as a trace grows.
    pub(crate) fn grow(&mut self, before: &Limits, now: &Limits) {
        if self.cut.is_none() {
            self.room.bytes += now.inflated_bytes.saturating_sub(before.inflated_bytes);
            self.room.packets += now.inflated_packets.saturating_sub(before.inflated_packets);
        }
    }

    /// Begins a bundle that is in no other one.
    pub(crate) fn begin(&mut self, at: u64) {
        if self.is_known {
            self.room = match self.cut {
                Some(cut) if at > cut.at => Room::NONE,
                Some(cut) if at == cut.at => cut.room,
                _ => Room::ALL,
            };
        } else {
            self.bundle = Some(Cut { at, room: self.room });
        }
    }

    /// The bytes that still fit.
    pub(crate) fn bytes(&self) -> u64 {
        self.room.bytes
    }

    /// Takes bytes that fit.
    pub(crate) fn take_bytes(&mut self, bytes: u64) {
        self.room.bytes = self.room.bytes.saturating_sub(bytes);
    }

    /// The packets that still fit.
    pub(crate) fn packets(&self) -> u64 {
        self.room.packets
    }

    /// Takes packets that fit.
    pub(crate) fn take_packets(&mut self, packets: u64) {
        self.room.packets = self.room.packets.saturating_sub(packets);
    }

    /// Takes a packet. False if it does not fit.
    #[inline]
    pub(crate) fn take_packet(&mut self) -> bool {
        let fits = self.room.packets > 0;
        self.room.packets -= u64::from(fits);
        fits
    }

    /// Says that something did not fit: no more does.
    pub(crate) fn cut(&mut self) {
        self.cut = self.cut.or(self.bundle);
        self.room = Room::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_pass_is_cut_where_the_first_one_was() {
        let limits = Limits { inflated_bytes: 100, inflated_packets: 10, ..Limits::default() };
        let mut first = Expansion::new(&limits);
        for (at, bytes, fits) in [(5, 40, true), (17, 70, false), (30, 1, false)] {
            first.begin(at);
            assert_eq!(bytes <= first.bytes(), fits, "{at}");
            if fits {
                first.take_bytes(bytes);
            } else {
                first.cut();
            }
        }
        let mut again = first.again();
        for (at, room) in [(30, 0), (17, 60), (5, u64::MAX)] {
            again.begin(at);
            assert_eq!(again.bytes(), room, "{at}");
        }
        assert_eq!(again.again().cut.map(|cut| cut.at), Some(17));
    }

    #[test]
    fn packets_are_counted_to_their_limit() {
        let limits = Limits { inflated_packets: 2, ..Limits::default() };
        let mut expansion = Expansion::new(&limits);
        expansion.begin(1);
        assert_eq!([(); 3].map(|()| expansion.take_packet()), [true, true, false]);
    }
}
