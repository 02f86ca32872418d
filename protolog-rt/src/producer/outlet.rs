//! The way to the service: chunks of the shared memory, the ids of writers, and what the service is
//! told of both.
//!
//! Invariants
//! - A writer is registered before its first chunk, and a chunk id is taken with a chunk, which is
//!   committed: the service keeps nothing behind a gap.
//! - A writer id that is used again goes on from its last chunk id, and the one that was given back
//!   first is used first.
//! - Nothing waits for a free chunk beyond the [limit](Outlet::wait_at_most) that was set, nor
//!   beyond what the exit of the process allows, nor once the connection is over.

use super::sender::Sender;
use crate::session::forwarded::exit_deadline;
use perfetto_ipc::frame::message;
use protolog_core::chunk::{
    DROPPED_PACKET_SIZE, FRAGMENT_SIZE_LEN, MAX_PACKETS, MAX_WRITER_ID, Packets, PageLayout,
};
use protolog_core::schema::packet;
use protolog_shmem::{MAX_PAYLOAD, ServiceChunk, ServiceMemory, layout_for};
use protozero::wire::{packed_varint, redundant_varint};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The highest writer id that services of all versions take. Higher ones are used where all of
/// these are in use.
const OLD_MAX_WRITER_ID: u16 = 1023;

/// So many chunks are committed at once.
const BATCH: usize = 128;
/// So many of a service that takes no requests, which get fewer and larger ones.
const LARGE_BATCH: usize = 4096;

/// The most packets of a chunk, but for the empty one that is started last.
const MOST_PACKETS: usize = MAX_PACKETS as usize - 2;

/// Memory of so few pages has none for chunks that are reserved.
const LEAST_PAGES: usize = 8;

/// The layout of the pages that reserved chunks are in: room for 1012 bytes.
const RESERVED: PageLayout = PageLayout::Four;

/// The longest that packets beside messages wait for room.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// The pause before the next look whether the service has freed something.
pub(super) const PAUSE: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Debug)]
pub(super) struct Outlet {
    /// None until the service gives its own, if it takes none.
    memory: Option<ServiceMemory>,
    sender: Sender,
    /// Complete chunks that the service was not told of: page, number, buffer.
    batch: Vec<(u32, u32, u32)>,
    /// The last writer id that was used for the first time.
    last_id: u16,
    /// Writer ids that were given back, each with its next chunk id.
    free: VecDeque<(u16, u32)>,
    /// Until then packets wait for free chunks.
    limit: Instant,
    /// The connection is over: nobody frees a chunk any more.
    is_closed: Arc<AtomicBool>,
}

/// A writer, as the service knows it.
#[derive(Debug)]
pub(super) struct ServiceWriter {
    id: u16,
    target: u32,
    next_chunk: u32,
    /// The beginning of its sequence is marked.
    is_marked: bool,
    /// The place behind its registration among the requests.
    registered: u64,
}

impl Outlet {
    /// `is_closed` is set by whoever sees the end of the connection.
    pub(super) fn new(
        memory: Option<ServiceMemory>,
        sender: Sender,
        is_closed: Arc<AtomicBool>,
    ) -> Self {
        let (batch, free, limit) = (Vec::new(), VecDeque::new(), Instant::now());
        Self { memory, sender, batch, last_id: 0, free, limit, is_closed }
    }

    /// Lets all that follows wait for free chunks for so long, all in all.
    pub(super) fn wait_at_most(&mut self, patience: Duration) {
        self.limit = Instant::now() + patience;
    }

    /// Returns whether nothing may wait any more.
    pub(super) fn is_out_of_time(&self) -> bool {
        if self.is_closed() {
            return true;
        }
        let limit = exit_deadline().map_or(self.limit, |exit| exit.min(self.limit));
        Instant::now() >= limit
    }

    /// Returns whether the connection is over.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Returns whether there is memory to write to.
    pub(super) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Writes to `memory` from now on, where there was none.
    pub(super) fn set_memory(&mut self, memory: ServiceMemory) {
        self.memory.get_or_insert(memory);
    }

    /// Registers a writer to a buffer of the service; none where there are as many as can be.
    pub(super) fn register(&mut self, target: u32) -> io::Result<Option<ServiceWriter>> {
        let fresh = |last: u16, max: u16| (last < max).then_some((last + 1, 0));
        let id = fresh(self.last_id, OLD_MAX_WRITER_ID)
            .or_else(|| self.free.pop_front())
            .or_else(|| fresh(self.last_id, MAX_WRITER_ID));
        let Some((id, next_chunk)) = id else { return Ok(None) };
        self.last_id = self.last_id.max(id);
        let request = message(|to| {
            to.uint32(1, id.into()).uint32(2, target);
        });
        self.sender.call("RegisterTraceWriter", &request)?;
        let registered = self.sender.place();
        Ok(Some(ServiceWriter { id, target, next_chunk, is_marked: false, registered }))
    }

    /// Returns whether the service has been told of a writer: it takes no chunk of any other.
    pub(super) fn is_known(&self, writer: &ServiceWriter) -> bool {
        self.sender.has_sent(writer.registered)
    }

    /// Ends a writer, of whose chunks the service is told before.
    pub(super) fn unregister(&mut self, writer: &ServiceWriter) -> io::Result<()> {
        if !self.batch.is_empty() {
            self.send_batch(None)?;
        }
        let request = message(|to| {
            to.uint32(1, writer.id.into());
        });
        self.free.push_back((writer.id, writer.next_chunk));
        self.sender.call("UnregisterTraceWriter", &request)
    }

    /// Tells the service that a data source has started, or stopped.
    pub(super) fn notify(&mut self, method: &str, instance: u64) -> io::Result<()> {
        let request = message(|to| {
            to.uint64(1, instance);
        });
        self.sender.call(method, &request)
    }

    /// Returns whether chunks should be kept for those that are complete.
    pub(super) fn is_scarce(&self) -> bool {
        self.memory.as_ref().is_some_and(ServiceMemory::is_scarce)
    }

    /// Takes a chunk for the next one of a writer; none until the service has freed one.
    pub(super) fn acquire(
        &mut self,
        writer: &mut ServiceWriter,
        layout: PageLayout,
    ) -> io::Result<Option<ServiceChunk>> {
        if !writer.is_marked && !self.mark_first(writer)? {
            return Ok(None);
        }
        Ok(self.acquire_marked(writer, layout))
    }

    fn acquire_marked(
        &mut self,
        writer: &mut ServiceWriter,
        layout: PageLayout,
    ) -> Option<ServiceChunk> {
        let chunk = self.memory.as_mut()?.acquire(layout, writer.id, writer.next_chunk)?;
        writer.next_chunk = writer.next_chunk.wrapping_add(1);
        Some(chunk)
    }

    /// Marks the beginning of a sequence. The service takes every first packet for one that follows
    /// a loss, and readers know by the mark that there was none. False without room for it.
    fn mark_first(&mut self, writer: &mut ServiceWriter) -> io::Result<bool> {
        let packet = message(|to| {
            to.bool(packet::FIRST_PACKET_ON_SEQUENCE, true);
        });
        let bytes = [&[packet.len() as u8], &packet[..], &[0]].concat();
        let Some(mut chunk) = self.acquire_marked(writer, layout_for(bytes.len())) else {
            return Ok(false);
        };
        writer.is_marked = true;
        self.append(&mut chunk, &bytes, Packets::new(2, 0));
        self.complete(writer, chunk)?;
        Ok(true)
    }

    /// Takes a chunk for [`Self::write_reserved`]; none where chunks are scarce.
    pub(super) fn reserve(&mut self) -> Option<ServiceChunk> {
        let has_room =
            |memory: &&mut ServiceMemory| !memory.is_scarce() && memory.pages() > LEAST_PAGES;
        self.memory.as_mut().filter(has_room)?.reserve(RESERVED)
    }

    /// Writes a packet into a chunk that was reserved, for which nothing has to be free now.
    pub(super) fn write_reserved(
        &mut self,
        writer: &mut ServiceWriter,
        mut chunk: ServiceChunk,
        packet: &[u8],
    ) -> io::Result<bool> {
        let Some(memory) = &mut self.memory else { return Ok(false) };
        let (size, size_len) = packed_varint(packet.len() as u64);
        if size_len + packet.len() >= chunk.room() {
            return Ok(false);
        }
        memory.label(&chunk, writer.id, writer.next_chunk);
        writer.next_chunk = writer.next_chunk.wrapping_add(1);
        let bytes = [&size.to_le_bytes()[..size_len], packet, &[0]].concat();
        self.append(&mut chunk, &bytes, Packets::new(2, 0));
        self.complete(writer, chunk)?;
        Ok(true)
    }

    /// Appends `bytes` to a chunk, and shows `packets` of it.
    pub(super) fn append(&mut self, chunk: &mut ServiceChunk, bytes: &[u8], packets: Packets) {
        // A chunk is of the memory that is there.
        let Some(memory) = &mut self.memory else { return };
        // It has room for one that is copied to it, since its layout is the same.
        let has_room = memory.append(chunk, bytes);
        debug_assert!(has_room, "a chunk that is too small");
        memory.publish(chunk, packets);
    }

    /// Completes a chunk; the service is told of it by [`Self::commit`] at the latest.
    pub(super) fn complete(
        &mut self,
        writer: &ServiceWriter,
        chunk: ServiceChunk,
    ) -> io::Result<()> {
        let Some(memory) = &mut self.memory else { return Ok(()) };
        let (page, index) = memory.complete(chunk);
        self.batch.push((page, index, writer.target));
        if self.batch.len() < BATCH { Ok(()) } else { self.commit(None) }
    }

    /// Tells the service of all complete chunks, and that a flush is done. While it takes no
    /// requests, chunks wait for each other.
    pub(super) fn commit(&mut self, flush: Option<u64>) -> io::Result<()> {
        let may_wait = self.sender.is_behind()? && self.batch.len() < LARGE_BATCH;
        if (may_wait || self.batch.is_empty()) && flush.is_none() {
            return Ok(());
        }
        self.send_batch(flush)
    }

    /// Tells it of all complete chunks, and waits until it knows all that it was told, as long as
    /// the limit and the exit of the process allow.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.send_batch(None)?;
        self.sender.finish(self.limit)
    }

    /// Returns whether it was told something that it has not taken yet.
    pub(super) fn is_behind(&mut self) -> io::Result<bool> {
        Ok(!self.batch.is_empty() || self.sender.is_behind()?)
    }

    fn send_batch(&mut self, flush: Option<u64>) -> io::Result<()> {
        let request = message(|to| {
            for &(page, index, target) in &self.batch {
                to.nested(1).uint32(1, page).uint32(2, index).uint32(3, target);
            }
            if let Some(id) = flush {
                to.uint64(3, id);
            }
        });
        self.batch.clear();
        self.sender.call("CommitData", &request)
    }

    /// Writes a packet into chunks of its own. False where the service freed none in time; then it
    /// is marked as abandoned.
    pub(super) fn write(&mut self, writer: &mut ServiceWriter, packet: &[u8]) -> io::Result<bool> {
        let Some(mut chunk) = self.acquire_late(writer, packet.len())? else { return Ok(false) };
        let (mut rest, mut flags) = (packet, 0);
        loop {
            let (size, size_len) = packed_varint(rest.len() as u64);
            // The empty packet that is started last takes a byte.
            if size_len + rest.len() < chunk.room() {
                let mut bytes = size.to_le_bytes()[..size_len].to_vec();
                bytes.extend_from_slice(rest);
                bytes.push(0);
                self.append(&mut chunk, &bytes, Packets::new(2, flags));
                self.complete(writer, chunk)?;
                return Ok(true);
            }
            let (now, later) = rest.split_at((chunk.room() - FRAGMENT_SIZE_LEN).min(rest.len()));
            let next = self.acquire_late(writer, later.len())?;
            let size = if next.is_some() { now.len() as u32 } else { DROPPED_PACKET_SIZE };
            let mut bytes = redundant_varint(size).unwrap_or_default().to_vec();
            bytes.extend_from_slice(now);
            let continued = if next.is_some() { Packets::CONTINUED } else { 0 };
            self.append(&mut chunk, &bytes, Packets::new(1, flags | continued));
            self.complete(writer, chunk)?;
            let Some(next) = next else { return Ok(false) };
            (chunk, rest, flags) = (next, later, Packets::CONTINUES);
        }
    }

    /// Writes packets of a writer, as many to a chunk as it has room for. Returns the number of
    /// those that are written: fewer where the service freed no chunk in time.
    pub(super) fn write_packed(
        &mut self,
        writer: &mut ServiceWriter,
        packets: &[Vec<u8>],
    ) -> io::Result<usize> {
        let (mut written, mut begun, mut bytes) = (0, 0, Vec::new());
        for (at, packet) in packets.iter().enumerate() {
            let (size, size_len) = packed_varint(packet.len() as u64);
            let len = size_len + packet.len();
            // The empty packet that is started last takes a byte.
            let is_full = bytes.len() + len >= MAX_PAYLOAD || at - begun == MOST_PACKETS;
            if is_full && !bytes.is_empty() {
                if !self.write_sized(writer, &bytes, at - begun)? {
                    return Ok(written);
                }
                (written, begun) = (at, at);
                bytes.clear();
            }
            if len >= MAX_PAYLOAD {
                if !self.write(writer, packet)? {
                    return Ok(written);
                }
                (written, begun) = (at + 1, at + 1);
                continue;
            }
            bytes.extend_from_slice(&size.to_le_bytes()[..size_len]);
            bytes.extend_from_slice(packet);
        }
        if bytes.is_empty() || self.write_sized(writer, &bytes, packets.len() - begun)? {
            written = packets.len();
        }
        Ok(written)
    }

    /// Writes `count` packets, each with its size, into a chunk of their own.
    fn write_sized(
        &mut self,
        writer: &mut ServiceWriter,
        bytes: &[u8],
        count: usize,
    ) -> io::Result<bool> {
        let Some(mut chunk) = self.acquire_late(writer, bytes.len())? else { return Ok(false) };
        self.append(&mut chunk, &[bytes, &[0]].concat(), Packets::new(count as u16 + 1, 0));
        self.complete(writer, chunk)?;
        Ok(true)
    }

    /// Ends the connection.
    pub(super) fn close(&self) {
        self.sender.close();
    }

    /// Takes a chunk for `len` bytes, or the largest, as soon as the service has freed one.
    fn acquire_late(
        &mut self,
        writer: &mut ServiceWriter,
        len: usize,
    ) -> io::Result<Option<ServiceChunk>> {
        let layout = layout_for(len + FRAGMENT_SIZE_LEN + 1);
        loop {
            if let Some(chunk) = self.acquire(writer, layout)? {
                return Ok(Some(chunk));
            }
            self.commit(None)?;
            if self.is_out_of_time() {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
    }
}
