//! The head of a session's trace, which every reader needs: process, session, dictionary.
//!
//! A small dictionary is written in full, again and again, so that a ring always has it. Of a large
//! one, which would leave a small ring no room for messages, only messages that the session has are
//! written.
//!
//! Invariant: the text of a message was written before the first chunk that has the message: a
//! service that stands still takes nothing later. Where there is no room for it, there is none for
//! the chunk.

use super::Instance;
use crate::producer::link::MEMORY;
use crate::producer::outlet::Outlet;
use crate::session::forwarded::counts::ForwardedCounts;
use crate::session::packets::dictionary::Dictionary;
use crate::sys::modules::load_count;
use protolog_shmem::{ChunkInfo, Committed};
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
    /// The dictionary that was written last, to which texts of later messages are added.
    dictionary: Dictionary,
    /// The messages that are in use, where the dictionary is large.
    in_use: Option<HashSet<u64>>,
    /// Its size.
    bytes: u64,
    /// Bytes of chunks since it was written last.
    since: u64,
    /// It could not be written whole.
    is_due: bool,
    /// There are texts that were never written. It is due then.
    lacks_texts: bool,
    /// The libraries that were loaded so far, where a small dictionary has the texts of all.
    loads: Option<u64>,
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
        let Some(in_use) = &mut self.head.in_use else {
            return self.write_news(outlet).map(|_| ());
        };
        let mut new = self.counts.take_new();
        new.retain(|id| in_use.insert(*id));
        if new.is_empty() {
            return Ok(());
        }
        self.head.dictionary.include(&new);
        let packets = whole(&mut self.head.dictionary);
        let is_written = self.write_all(&packets, outlet)?;
        // The rest comes once there is room.
        self.head.is_due |= !is_written;
        Ok(())
    }

    /// Writes what a small dictionary lacks: messages that are new since the last time, and those
    /// of libraries. False where there is no room for all.
    fn write_news(&mut self, outlet: &mut Outlet) -> io::Result<bool> {
        if self.head.lacks_texts {
            self.write_head(outlet)?;
            return Ok(!self.head.lacks_texts);
        }
        let loads = load_count();
        let has_loaded = self.head.loads != loads;
        let dictionary = &mut self.head.dictionary;
        let packets = packets(|give| {
            if has_loaded {
                dictionary.write_modules(give);
            }
            dictionary.write_interned(give);
        });
        self.head.loads = loads;
        let is_written = self.write_all(&packets, outlet)?;
        self.head.lacks_texts |= !is_written;
        self.head.is_due |= !is_written;
        Ok(is_written)
    }

    /// Writes what the dictionary lacks for a writer's next chunk. False where there is no room for
    /// it, and thus none for the chunk.
    pub(super) fn write_texts_for(
        &mut self,
        info: &ChunkInfo,
        committed: &Committed<'_>,
        outlet: &mut Outlet,
    ) -> io::Result<bool> {
        if self.head.in_use.is_none() {
            return self.write_news(outlet);
        }
        let ids = self.counts.preview(info.writer_id, committed, info.is_complete);
        self.write_texts(ids, outlet)
    }

    /// Likewise, for packets that are to follow.
    pub(in crate::producer) fn write_texts_of(
        &mut self,
        packets: &[Vec<u8>],
        outlet: &mut Outlet,
    ) -> io::Result<bool> {
        if self.head.in_use.is_none() {
            return self.write_news(outlet);
        }
        self.write_texts(ForwardedCounts::ids(packets), outlet)
    }

    /// Writes what a large dictionary lacks of these messages. False where there is no room for it.
    fn write_texts(&mut self, ids: HashSet<u64>, outlet: &mut Outlet) -> io::Result<bool> {
        let Some(in_use) = &self.head.in_use else { return Ok(true) };
        let new: Vec<u64> = ids.into_iter().filter(|id| !in_use.contains(id)).collect();
        if new.is_empty() {
            return Ok(true);
        }
        let groups = self.head.dictionary.group_count();
        self.head.dictionary.include(&new);
        let packets = whole(&mut self.head.dictionary);
        if self.write_all(&packets, outlet)? {
            self.head.in_use.get_or_insert_default().extend(new);
            return Ok(true);
        }
        self.head.dictionary.forget(&new);
        self.head.is_due |= self.head.dictionary.group_count() > groups;
        Ok(false)
    }

    /// Writes all of it.
    pub(in crate::producer) fn write_head(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let description = self.session.describe();
        self.head.is_due = !outlet.write(&mut self.own, &description)?;
        self.head.bytes = description.len() as u64;
        self.head.since = 0;
        let before = std::mem::take(&mut self.head.dictionary);
        let packets = self.whole_dictionary();
        let is_written = self.write_all(&packets, outlet)?;
        self.head.is_due |= !is_written;
        let head = &mut self.head;
        let lacked = head.lacks_texts || head.dictionary.has_more_than(&before);
        head.lacks_texts = lacked && head.in_use.is_none() && !is_written;
        Ok(())
    }

    /// Returns the packets of the dictionary. Texts of libraries that were loaded since the last
    /// time are new in it.
    fn whole_dictionary(&mut self) -> Vec<Vec<u8>> {
        if self.head.in_use.is_none() {
            self.head.loads = load_count();
            self.head.dictionary = self.session.dictionary();
            let all = whole(&mut self.head.dictionary);
            if all.iter().map(|packet| packet.len() as u64).sum::<u64>() <= LARGE {
                return all;
            }
        }
        let in_use = self.head.in_use.get_or_insert_default();
        in_use.extend(self.counts.take_new());
        self.head.dictionary = self.session.dictionary_of(in_use.clone());
        whole(&mut self.head.dictionary)
    }

    /// Writes packets of the dictionary. Returns whether all are written.
    fn write_all(&mut self, packets: &[Vec<u8>], outlet: &mut Outlet) -> io::Result<bool> {
        let mut is_written = true;
        for packet in packets {
            self.head.bytes += packet.len() as u64;
            is_written &= outlet.write(&mut self.own, packet)?;
        }
        Ok(is_written)
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
