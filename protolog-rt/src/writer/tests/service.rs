//! A model of how a tracing service takes in chunks and reads packets back, with its refusals.
//!
//! Its way with good and with bad chunks was observed on Perfetto's service, version 59; the model
//! says the same in a few lines, so that a test can show the fate of a chunk without one.
//!
//! ```text
//! chunk -> take (copied; known by writer and chunk id) -> read (per writer, in the order of chunk ids, each packet once)
//! ```

use protolog_core::chunk::{CHUNK_HEADER, DROPPED_PACKET_SIZE, PACKETS_AT, Packets, WRITER_ID_AT};
use protozero::Reader;
use protozero::wire::decode_varint;
use std::collections::BTreeMap;

/// Fields of a packet that only the service may set.
pub(super) const RESERVED: [u32; 12] = [3, 10, 33, 35, 36, 50, 69, 79, 98, 124, 125, 133];

/// A chunk as it lies in memory, header and packets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    /// True if its writer is done with it; else the service looks into a chunk that is being
    /// written.
    pub(super) complete: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Service {
    chunks: BTreeMap<(u16, u32), Taken>,
    /// Chunks and packets that were refused as malformed.
    pub(super) violations: u32,
    /// Packets whose writer marked them as abandoned.
    pub(super) abandoned: u32,
    /// Packets that were refused for a field of [`RESERVED`].
    pub(super) reserved: u32,
}

/// A chunk that was copied.
#[derive(Debug)]
struct Taken {
    payload: Vec<u8>,
    count: u16,
    flags: u16,
    complete: bool,
    read: u16,
    at: usize,
}

enum Next {
    Packet(Vec<u8>),
    /// The chunk can't be read further; its rest is skipped.
    Bad,
}

impl Image {
    pub(super) fn chunk_id(&self) -> u32 {
        u32::from_le_bytes(self.bytes[..4].try_into().unwrap())
    }

    pub(super) fn set_chunk_id(&mut self, id: u32) {
        self.bytes[..4].copy_from_slice(&id.to_le_bytes());
    }

    pub(super) fn writer_id(&self) -> u16 {
        u16::from_le_bytes(self.bytes[WRITER_ID_AT..][..2].try_into().unwrap())
    }

    pub(super) fn packets(&self) -> Packets {
        Packets(u16::from_le_bytes(self.bytes[PACKETS_AT..][..2].try_into().unwrap()))
    }

    pub(super) fn set_packets(&mut self, count: u16, flags: u16) {
        let word = Packets::new(count, flags).0;
        self.bytes[PACKETS_AT..][..2].copy_from_slice(&word.to_le_bytes());
    }
}

impl Service {
    /// Copies a chunk, or the new part of one that it looked into before.
    pub(super) fn take(&mut self, image: &Image) {
        let packets = image.packets();
        let (mut count, mut flags) = (packets.count(), packets.flags());
        if !image.complete {
            // The packet that was started last may be half written.
            count = count.saturating_sub(1);
            flags &= !(Packets::CONTINUED | Packets::NEEDS_PATCHING);
        }
        let payload = image.bytes[CHUNK_HEADER..].to_vec();
        let key = (image.writer_id(), image.chunk_id());
        let complete = image.complete;
        let Some(known) = self.chunks.get_mut(&key) else {
            self.chunks.insert(key, Taken { payload, count, flags, complete, read: 0, at: 0 });
            return;
        };
        let shrunk = known.count > count || known.flags & flags != known.flags;
        if shrunk || known.payload.len() != payload.len() {
            self.violations += 1;
        } else if known.count != count {
            *known = Taken { payload, count, flags, complete, ..*known };
        }
        // Else it is the same chunk once more.
    }

    /// Fills in `data` at `offset` of a chunk's packets: the size of a packet that goes on in later
    /// chunks.
    pub(super) fn patch(&mut self, writer: u16, chunk: u32, offset: usize, data: &[u8]) {
        let chunk = self.chunks.get_mut(&(writer, chunk));
        let place = chunk.and_then(|chunk| {
            let place = chunk.payload.get_mut(offset..)?.get_mut(..data.len())?;
            chunk.flags &= !Packets::NEEDS_PATCHING;
            Some(place)
        });
        match place {
            Some(place) if data.len() == 4 => place.copy_from_slice(data),
            _ => self.violations += 1,
        }
    }

    /// All packets that can be read now and were not read before.
    pub(super) fn read(&mut self) -> Vec<Vec<u8>> {
        let mut writers: Vec<u16> = self.chunks.keys().map(|key| key.0).collect();
        writers.dedup();
        let mut packets = Vec::new();
        for writer in writers {
            self.read_writer(writer, &mut packets);
        }
        let all = packets.len();
        packets.retain(|packet| !has_reserved(packet));
        self.reserved += (all - packets.len()) as u32;
        packets
    }

    fn read_writer(&mut self, writer: u16, packets: &mut Vec<Vec<u8>>) {
        let ids: Vec<u32> =
            self.chunks.range((writer, 0)..=(writer, u32::MAX)).map(|(key, _)| key.1).collect();
        let mut expected = ids[0];
        for id in ids {
            // Packets after a gap wait for the missing ones.
            if id != expected || !self.read_chunk((writer, id), packets) {
                return;
            }
            expected = id + 1;
        }
    }

    /// Reads a chunk; false where the writer's sequence can't go on behind it.
    fn read_chunk(&mut self, key: (u16, u32), packets: &mut Vec<Vec<u8>>) -> bool {
        loop {
            let chunk = self.chunks.get_mut(&key).expect("a chunk that was taken");
            if chunk.flags & Packets::NEEDS_PATCHING != 0 {
                return false;
            }
            if chunk.read >= chunk.count {
                return chunk.complete;
            }
            let first = chunk.read == 0;
            let last = chunk.read + 1 == chunk.count;
            if first && chunk.flags & Packets::CONTINUES != 0 {
                // Its beginning was not there, or this would have been read with it.
                let _ = self.next(key);
            } else if last && chunk.flags & Packets::CONTINUED != 0 {
                let Some(until) = self.find_end(key) else { return false };
                packets.extend(self.join(key, until));
            } else if let Next::Packet(packet) = self.next(key) {
                // The empty one is the one that was started last.
                packets.extend(Some(packet).filter(|packet| !packet.is_empty()));
            }
        }
    }

    /// The chunk in which the packet ends that goes on behind chunk `key`.
    fn find_end(&self, (writer, id): (u16, u32)) -> Option<u32> {
        let goes_on = |id: &u32| {
            let chunk = &self.chunks[&(writer, *id)];
            chunk.count == 1 && chunk.flags & Packets::CONTINUED != 0
        };
        let mut next = id + 1;
        loop {
            let chunk = self.chunks.get(&(writer, next)).filter(|chunk| chunk.count > 0)?;
            if chunk.flags & Packets::CONTINUES == 0 || chunk.flags & Packets::NEEDS_PATCHING != 0 {
                return None;
            }
            if !goes_on(&next) {
                return Some(next);
            }
            next += 1;
        }
    }

    /// The packet whose fragments stand at the end of chunk `key` and at the beginning of those up
    /// to `until`.
    fn join(&mut self, (writer, id): (u16, u32), until: u32) -> Option<Vec<u8>> {
        let parts: Vec<Next> = (id..=until).map(|id| self.next((writer, id))).collect();
        let mut whole = Vec::new();
        for part in parts {
            let Next::Packet(part) = part else { return None };
            whole.extend(part);
        }
        Some(whole)
    }

    fn next(&mut self, key: (u16, u32)) -> Next {
        let chunk = self.chunks.get_mut(&key).expect("a chunk that was taken");
        let rest = chunk.payload.get(chunk.at..).unwrap_or_default();
        let field = &rest[..rest.len().min(4)];
        let size = decode_varint(field).ok();
        let packet = size.and_then(|(size, length)| rest.get(length..length + size as usize));
        let (Some((_, length)), Some(packet)) = (size, packet) else {
            if size.is_some_and(|(size, _)| size == DROPPED_PACKET_SIZE as u64) {
                self.abandoned += 1;
            } else {
                self.violations += 1;
            }
            chunk.read = chunk.count;
            return Next::Bad;
        };
        let packet = packet.to_vec();
        chunk.at += length + packet.len();
        chunk.read += 1;
        Next::Packet(packet)
    }
}

fn has_reserved(packet: &[u8]) -> bool {
    Reader::new(packet).flatten().any(|field| RESERVED.contains(&field.number))
}
