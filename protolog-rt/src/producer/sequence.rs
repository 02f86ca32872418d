//! A sequence on its way: each chunk of a writer becomes one of the shared memory.
//!
//! A chunk that is still being written is copied as far as it is committed, and its copy stays open
//! for the rest. Where the memory is scarce the copy is closed instead, so that the service frees
//! it; the rest then goes into a further one, after packets that set up the state of before.
//!
//! Invariants
//! - The chunks of a sequence are copied in order, each byte once.
//! - What is copied of a chunk never changes, and its count never falls.
//! - A copy begins with state: that of its chunk, or that of before the rest.

use super::outlet::{Outlet, ServiceWriter};
use crate::session::forwarded::counts::{span, state_after};
use protolog_core::chunk::Packets;
use protolog_shmem::{ChunkInfo, Committed, ServiceChunk, layout_for};
use std::io;

/// See the module.
#[derive(Debug)]
pub(super) struct ForwardedSequence {
    /// None where the service has as many writers as can be: all of the sequence is lost.
    pub(super) writer: Option<ServiceWriter>,
    /// The chunk of the buffer that is copied next, by its id.
    pub(super) next: u32,
    /// The chunk that it is copied to.
    open: Option<OpenCopy>,
    /// The part of the chunk that closed copies have: bytes and packets.
    closed: (usize, u16),
    /// The service has the state for the rest.
    has_state: bool,
    /// The messages that were copied.
    pub(super) messages: u64,
}

/// A chunk to which one is copied.
#[derive(Debug)]
struct OpenCopy {
    chunk: ServiceChunk,
    packets: Packets,
}

/// The outcome of copying a part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopiedPart {
    /// So many bytes.
    Bytes(usize),
    /// Nothing: the service has to free a chunk first.
    NoRoom,
}

impl ForwardedSequence {
    pub(super) fn new(writer: Option<ServiceWriter>) -> Self {
        Self { writer, next: 0, open: None, closed: (0, 0), has_state: false, messages: 0 }
    }

    /// Returns whether a part of the next chunk is in a copy that can go on.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The number of packets of the next chunk that copies have.
    pub(super) fn copied(&self) -> u16 {
        let open = self.open.as_ref().map_or(0, |open| open.packets.count().saturating_sub(1));
        self.closed.1 + open
    }

    /// Copies what is new of the next chunk.
    pub(super) fn copy(
        &mut self,
        info: &ChunkInfo,
        committed: &Committed<'_>,
        outlet: &mut Outlet,
    ) -> io::Result<CopiedPart> {
        let (bytes, packets) = self.closed;
        let mut rest = committed.bytes.get(bytes..).unwrap_or_default();
        let left = committed.count.saturating_sub(packets);
        if self.open.is_none() {
            // The packet that was started last is an empty one.
            let is_empty = left == 0
                || info.is_complete && left == 1 && matches!(rest.first(), None | Some(0));
            if is_empty {
                return Ok(CopiedPart::Bytes(0));
            }
        }
        if packets > 0 {
            // A chunk for this part only need not have room for what follows the packets.
            rest = &rest[..span(rest, left)];
        }
        if !self.open(info, committed, rest.len(), outlet)? {
            return Ok(CopiedPart::NoRoom);
        }
        let Some(OpenCopy { chunk, packets: shown }) = &mut self.open else {
            return Ok(CopiedPart::NoRoom);
        };
        let new = rest.get(chunk.len()..).unwrap_or_default();
        let continues = if packets == 0 { Packets::CONTINUES } else { 0 };
        let now = if info.is_complete {
            Packets::new(left, committed.flags & (continues | Packets::CONTINUED))
        } else {
            // With the packet that is being written, of which nothing is there.
            Packets::new(left + 1, committed.flags & continues)
        };
        if !info.is_complete && now == *shown {
            return Ok(CopiedPart::Bytes(0));
        }
        *shown = now;
        outlet.append(chunk, new, now);
        Ok(CopiedPart::Bytes(new.len()))
    }

    /// Makes sure that there is a chunk to copy to, with room for `len` bytes; false where the
    /// service has to free one first.
    fn open(
        &mut self,
        info: &ChunkInfo,
        committed: &Committed<'_>,
        len: usize,
        outlet: &mut Outlet,
    ) -> io::Result<bool> {
        let Some(writer) = self.writer.as_mut().filter(|_| self.open.is_none()) else {
            return Ok(self.open.is_some());
        };
        let (bytes, packets) = self.closed;
        if packets > 0 && !self.has_state {
            for packet in state_after(committed, bytes) {
                if !outlet.write(writer, &packet)? {
                    return Ok(false);
                }
            }
            self.has_state = true;
        }
        let is_rest = packets > 0 && info.is_complete;
        let layout = if is_rest { layout_for(len) } else { info.layout() };
        let chunk = outlet.acquire(writer, layout)?;
        self.open = chunk.map(|chunk| OpenCopy { chunk, packets: Packets(0) });
        Ok(self.open.is_some())
    }

    /// Gives the copy to the service, when all of the chunk is copied, and moves to the next chunk.
    pub(super) fn complete(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        self.next = self.next.wrapping_add(1);
        (self.closed, self.has_state) = ((0, 0), false);
        match (self.open.take(), &self.writer) {
            (Some(open), Some(writer)) => outlet.complete(writer, open.chunk),
            _ => Ok(()),
        }
    }

    /// Gives the copy to the service as it is; more of the chunk goes to another one.
    pub(super) fn close(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        // What follows may clear it.
        self.has_state = false;
        let (Some(OpenCopy { mut chunk, packets }), Some(writer)) =
            (self.open.take(), &self.writer)
        else {
            return Ok(());
        };
        let (bytes, count) = self.closed;
        self.closed = (bytes + chunk.len(), count + packets.count().saturating_sub(1));
        // The packet that was started last is empty.
        let packets = Packets::new(packets.count().max(1), packets.flags());
        outlet.append(&mut chunk, &[0], packets);
        outlet.complete(writer, chunk)
    }
}
