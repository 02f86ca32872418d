//! The part of a ring that belongs to a trigger: what was there when it fired, as far back as was
//! asked for, and what came after.
//!
//! The ring goes on while a trigger waits for what comes after it, and may have overwritten what
//! was before it by then. So the chunks are copied twice, and the two copies become one trace: of a
//! chunk in both the later copy counts, which has all that the earlier one has.
//!
//! Invariant: messages of a sequence between two chunks, and before the first one, are counted as
//! overwritten, whether the ring lost them or they are older than the window: each chunk has the
//! number of messages before it.

use crate::session::arbiter::session_arbiter::Core;
use crate::session::packets::copied::split;
use crate::session::ring::snapshot::{ChunkCopy, Chunks, Collected};
use crate::session::ring::snapshot_copy::Begin;

/// The packets at the beginning of a chunk of which one has the time: the first may be the end of
/// one that came in pieces.
const FIRST: usize = 2;

impl Collected {
    /// Copies the chunks that have a message since `since`, in nanoseconds of BOOTTIME.
    pub(in crate::session) fn since(core: &Core, since: u64) -> Self {
        let mut all = Self::find(core, false);
        all.chunks.values_mut().for_each(|chunks| forget_before(chunks, since));
        all
    }

    /// Keeps the newest chunks, of all sequences but those of pinned messages, that have at most so
    /// many bytes together, and at least the newest one. Returns the time since which all are
    /// there.
    pub(in crate::session) fn limit(&mut self, bytes: usize) -> u64 {
        let end = self.first_pinned.unwrap_or(u16::MAX);
        let mut all: Vec<_> =
            self.chunks.range(..end).flat_map(|(_, chunks)| begins(chunks)).collect();
        all.sort_unstable_by(|one, other| other.cmp(one));
        let (mut sum, mut since) = (0, 0);
        for (at, (time, size, _)) in all.into_iter().enumerate() {
            sum += size;
            if sum > bytes && at > 0 {
                break;
            }
            since = time;
        }
        for (_, chunks) in self.chunks.range_mut(..end) {
            let too_old = begins(chunks).take_while(|(time, ..)| *time < since);
            if let Some((.., age)) = too_old.last() {
                drop(chunks.split_off(&age));
            }
        }
        since
    }

    /// Adds chunks that were copied before these.
    pub(in crate::session) fn add_earlier(&mut self, earlier: &Self) {
        for (writer, expected) in &earlier.writers {
            if !self.writers.iter().any(|(known, _)| known.id == writer.id) {
                self.writers.push((writer.clone(), *expected));
            }
        }
        for (writer, before) in &earlier.chunks {
            let chunks = self.chunks.entry(*writer).or_default();
            let both = chunks.values().chain(before.values()).map(|(info, _)| info.chunk_id);
            let both: Vec<u32> = both.collect();
            let Some(&any) = both.first() else { continue };
            // Ids count up and may wrap; a buffer has far fewer chunks than there are ids.
            let newest = both.iter().map(|id| id.wrapping_sub(any) as i32).max().unwrap_or(0);
            let newest = any.wrapping_add_signed(newest);
            let mut joined = Chunks::new();
            // The earlier copies first, so that later ones replace them.
            for (info, copied) in before.values().chain(chunks.values()) {
                let known = joined.entry(newest.wrapping_sub(info.chunk_id));
                let known = known.or_insert_with(|| (*info, None));
                known.0 = *info;
                if copied.is_some() {
                    known.1.clone_from(copied);
                }
            }
            *chunks = joined;
        }
    }
}

/// Forgets the chunks of a sequence that were complete before `since`: the next one begins before.
fn forget_before(chunks: &mut Chunks, since: u64) {
    let mut next_begins = u64::MAX;
    chunks.retain(|_, (_, copied)| {
        let is_in = next_begins >= since;
        next_begins = copied.as_deref().and_then(time).unwrap_or(next_begins);
        is_in
    });
}

/// Iterates over the copied chunks of a sequence, the oldest first: time, size in bytes, and
/// distance from the newest one. One that has only a part of a packet has the time of the chunk in
/// which that begins, without which it is of no use.
fn begins(chunks: &Chunks) -> impl Iterator<Item = (u64, usize, u32)> + '_ {
    let mut begun = 0;
    chunks.iter().rev().filter_map(move |(age, (_, copied))| {
        let copied = copied.as_deref()?;
        begun = time(copied).unwrap_or(begun);
        Some((begun, copied.bytes.len(), *age))
    })
}

/// Returns the time at which a chunk begins, in nanoseconds of BOOTTIME.
fn time(copied: &ChunkCopy) -> Option<u64> {
    let mut rest = &*copied.bytes;
    for _ in 0..FIRST {
        let (packet, after) = split(rest)?;
        if let Some(begin) = Begin::read(packet) {
            return Some(begin.time);
        }
        rest = after;
    }
    None
}
