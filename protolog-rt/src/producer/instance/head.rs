//! What every reader of a session's trace needs: the process, the session, and the dictionary.
//!
//! A small dictionary is written in full, again and again, so that a ring always has it. Of a large
//! one, which would leave a small ring no room for messages, only messages that the session has are
//! written, each as soon as it has.
//!
//! Invariant: each message that was forwarded is in the dictionary by the end of the round, or the
//! head is due.

use super::Instance;
use crate::producer::link::MEMORY;
use crate::producer::outlet::Outlet;
use crate::session::packets::dictionary::Dictionary;
use std::collections::HashSet;
use std::io;

/// A ring has the dictionary as long as it has room for so many times its size since it was written
/// last.
const PART: u64 = 8;
/// The least number of bytes between two dictionaries.
const MIN_DISTANCE: u64 = 32 * 1024;
/// A larger dictionary has only the messages that are in use. Producers are not told the size of
/// the service's buffer, so it is measured by the memory shared with it.
const LARGE: u64 = MEMORY as u64 / 8;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct TraceHead {
    /// What was written last, to which texts that are interned later are added.
    dictionary: Dictionary,
    /// The messages that are in use, where the dictionary is large.
    in_use: Option<HashSet<u64>>,
    /// Its size.
    bytes: u64,
    /// Bytes of chunks since it was written last.
    since: u64,
    /// It could not be written whole.
    is_due: bool,
}

impl TraceHead {
    /// Returns whether it waits for room.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Counts bytes of chunks that were forwarded.
    pub(super) fn note_chunk(&mut self, bytes: usize) {
        self.since += bytes as u64;
    }
}

impl Instance {
    /// Writes all of it where a ring may lose it soon, or what has come up since.
    pub(super) fn write_head_or_news(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let distance = (PART * self.head.bytes).max(MIN_DISTANCE);
        if self.head.is_due || self.head.since > distance {
            return self.write_head(outlet);
        }
        let packets = match &mut self.head.in_use {
            None => packets(|give| self.head.dictionary.write_interned(give)),
            Some(in_use) => {
                let new = self.counts.take_new();
                if new.is_empty() {
                    return Ok(());
                }
                in_use.extend(&new);
                whole(&mut self.session.dictionary_of(new.into_iter().collect()))
            }
        };
        self.write_all(&packets, outlet)
    }

    /// Writes all of it.
    pub(in crate::producer) fn write_head(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let description = self.session.describe();
        self.head.is_due = !outlet.write(&mut self.own, &description)?;
        self.head.bytes = description.len() as u64;
        self.head.since = 0;
        let packets = self.whole_dictionary();
        self.write_all(&packets, outlet)
    }

    /// Returns the packets of the dictionary. Texts of libraries that were loaded since the last
    /// time are new in it.
    fn whole_dictionary(&mut self) -> Vec<Vec<u8>> {
        if self.head.in_use.is_none() {
            self.head.dictionary = self.session.dictionary();
            let all = whole(&mut self.head.dictionary);
            if all.iter().map(|packet| packet.len() as u64).sum::<u64>() <= LARGE {
                return all;
            }
            self.head.dictionary = Dictionary::default();
        }
        let in_use = self.head.in_use.get_or_insert_default();
        in_use.extend(self.counts.take_new());
        whole(&mut self.session.dictionary_of(in_use.clone()))
    }

    /// Writes packets of the dictionary.
    fn write_all(&mut self, packets: &[Vec<u8>], outlet: &mut Outlet) -> io::Result<()> {
        for packet in packets {
            self.head.bytes += packet.len() as u64;
            // The rest comes once there is room.
            self.head.is_due |= !outlet.write(&mut self.own, packet)?;
        }
        Ok(())
    }
}

/// Returns all packets of a new dictionary.
fn whole(dictionary: &mut Dictionary) -> Vec<Vec<u8>> {
    packets(|give| {
        dictionary.write_modules(give);
        dictionary.write_interned(give);
    })
}

/// Returns the packets that `write` passes on.
fn packets(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    write(&mut |packet| packets.push(packet.to_vec()));
    packets
}
