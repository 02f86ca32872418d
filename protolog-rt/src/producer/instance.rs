//! A session of the service that records this process: its chunks on their way, and its dictionary.
//!
//! Each chunk of the session's buffer becomes one of the shared memory, of the same size and with
//! the same bytes, so that it decodes alone there as well. A chunk that is still being written is
//! copied as far as it is committed, and goes on there.
//!
//! Invariants
//! - The chunks of a sequence are copied in order, each byte once.
//! - What is copied of a chunk never changes, and its count never falls.

use super::config::SourceConfig;
use super::outlet::{Outlet, PAUSE, ServiceWriter};
use crate::error::Error;
use crate::loss::UnattributedSnapshot;
use crate::session::forwarded::{ForwardedCounts, ForwardedSession, Settings};
use crate::session::packets::dictionary::Dictionary;
use crate::writer::Writer;
use protolog_core::chunk::Packets;
use protolog_shmem::{ChunkInfo, Committed, ServiceChunk};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The size of a session's buffer, in bytes.
const BUFFER: usize = 4 << 20;

/// A ring has the dictionary as long as it has room for so many times its size since it was written
/// last.
const HEAD_PART: u64 = 8;
/// The least number of bytes between two dictionaries.
const MIN_DISTANCE: u64 = 32 * 1024;

/// The longest that a flush or a stop waits for room.
const PATIENCE: Duration = Duration::from_secs(3);

/// See the module.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) id: u64,
    pub(super) session: Arc<ForwardedSession>,
    target: u32,
    /// The sequence of packets that are nobody else's.
    own: ServiceWriter,
    sequences: HashMap<u16, ForwardedSequence>,
    counts: ForwardedCounts,
    dictionary: Dictionary,
    /// Writers that ended, and whose last packet is still to be written.
    ended: Vec<Arc<Writer>>,
    /// The drops of threads without a sequence that were reported.
    before: UnattributedSnapshot,
    /// The size of description and dictionary.
    head: u64,
    /// Bytes of chunks since they were written last.
    since_head: u64,
}

/// A sequence on its way.
#[derive(Debug)]
struct ForwardedSequence {
    writer: ServiceWriter,
    /// The chunk of the buffer that is copied next, by its id.
    next: u32,
    /// The chunk that it is copied to.
    open: Option<OpenCopy>,
}

/// A chunk to which one is copied.
#[derive(Debug)]
struct OpenCopy {
    chunk: ServiceChunk,
    packets: Packets,
}

/// The outcome of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// Something was copied.
    pub(super) has_copied: bool,
    /// The service has to free chunks first.
    pub(super) is_full: bool,
}

impl Instance {
    /// Starts to record what `config` says. None where the session can't start, with the reason, or
    /// there are too many writers.
    pub(super) fn start(
        id: u64,
        source: SourceConfig,
        thread: Thread,
        outlet: &mut Outlet,
    ) -> io::Result<Result<Self, Error>> {
        let target = source.target_buffer;
        let Some(own) = outlet.register(target)? else {
            return Ok(Err(Error::Resources(io::Error::other("there are too many writers"))));
        };
        let (config, chunk_timeout) = (source.config, source.chunk_timeout);
        let settings = Settings { config, chunk_timeout, buffer: BUFFER };
        let session = match ForwardedSession::start(settings, thread) {
            Ok(session) => session,
            Err(error) => {
                outlet.unregister(&own)?;
                return Ok(Err(error));
            }
        };
        let (dictionary, before) = (session.dictionary(), session.unattributed_before());
        let (sequences, ended) = (HashMap::new(), Vec::new());
        let counts = ForwardedCounts::default();
        let (head, since_head) = (0, 0);
        let mut instance = Self {
            id,
            session,
            target,
            own,
            sequences,
            counts,
            dictionary,
            ended,
            before,
            head,
            since_head,
        };
        instance.write_head(outlet)?;
        instance.write_instant("protolog session started", outlet)?;
        Ok(Ok(instance))
    }

    /// Copies all complete chunks, and with `unfinished_too` the committed part of those that are
    /// being written.
    pub(super) fn forward(
        &mut self,
        outlet: &mut Outlet,
        unfinished_too: bool,
    ) -> io::Result<Round> {
        let mut progress = Round::default();
        loop {
            let session = Arc::clone(&self.session);
            let mut reader = session.buffer().reader();
            let mut found = reader.find(unfinished_too);
            found.sort_by_cached_key(|chunk| {
                let next = self.sequences.get(&chunk.writer_id).map_or(0, |known| known.next);
                (chunk.writer_id, chunk.chunk_id.wrapping_sub(next))
            });
            let is_scarce = unfinished_too && outlet.is_scarce();
            let (mut freed, mut waits) = (0, false);
            for info in &found {
                let Some(sequence) = sequence(&mut self.sequences, self.target, info, outlet)?
                else {
                    continue;
                };
                waits |= info.chunk_id != sequence.next;
                if info.chunk_id != sequence.next || !info.is_complete && is_scarce {
                    continue;
                }
                if !sequence.open(info, outlet) {
                    progress.is_full = true;
                    break;
                }
                let Some(chunk) = reader.read(info) else { continue };
                let committed = chunk.committed();
                let copied = sequence.copy(&committed, info.is_complete, outlet);
                self.counts.count(info.writer_id, &committed, info.is_complete);
                drop(chunk);
                progress.has_copied |= copied > 0;
                self.since_head += copied as u64;
                if info.is_complete {
                    sequence.complete(outlet)?;
                    freed += 1;
                }
            }
            drop(reader);
            if freed > 0 {
                session.announce_freed();
            }
            // Chunks that waited for one that was taken meanwhile can follow now.
            if freed == 0 || !waits || progress.is_full {
                return Ok(progress);
            }
        }
    }

    /// Writes what has come up beside messages: ends of threads, texts, and the dictionary where it
    /// may be overwritten soon.
    pub(super) fn follow(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        self.ended.extend(self.session.take_ended());
        // They may have ended after the round began. A sequence ends once all of it is copied.
        if !self.ended.is_empty() && !self.forward(outlet, false)?.is_full {
            for writer in std::mem::take(&mut self.ended) {
                self.end_sequence(&writer, outlet)?;
                self.session.retire(&writer);
            }
        }
        if self.since_head > (HEAD_PART * self.head).max(MIN_DISTANCE) {
            return self.write_head(outlet);
        }
        self.write_texts(outlet)
    }

    /// Forwards all that was logged before the call, and with `with_head` the dictionary in full.
    pub(super) fn flush(&mut self, with_head: bool, outlet: &mut Outlet) -> io::Result<()> {
        self.forward_patiently(true, outlet)?;
        self.follow(outlet)?;
        if with_head { self.write_head(outlet) } else { Ok(()) }
    }

    /// Answers who asks in this process for a flush.
    pub(super) fn answer_flush(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let (session, mut result) = (Arc::clone(&self.session), Ok(()));
        session.answer_flush(|| {
            result = self.flush(false, outlet).and_then(|()| outlet.commit(None));
            &self.counts
        });
        result
    }

    /// Ends the session, and forwards all of it.
    pub(super) fn stop(mut self, outlet: &mut Outlet) -> io::Result<()> {
        self.session.begin_end();
        let result = self.write_end(outlet);
        self.session.finish();
        result
    }

    /// Ends the session where there is nobody to forward to.
    pub(super) fn abandon(self) {
        self.session.begin_end();
        self.session.finish();
    }

    fn write_end(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        // Threads that are within a message may finish it.
        while self.forward_patiently(true, outlet)? {}
        let ended = std::mem::take(&mut self.ended);
        for writer in self.session.take_writers().into_iter().chain(ended) {
            self.end_sequence(&writer, outlet)?;
        }
        if let Some(losses) = self.session.unattributed(&mut self.before) {
            outlet.write(&mut self.own, &losses)?;
        }
        self.write_head(outlet)?;
        self.write_instant("protolog session stopped", outlet)?;
        for (_, mut sequence) in self.sequences.drain() {
            sequence.close(outlet)?;
            outlet.unregister(&sequence.writer)?;
        }
        outlet.unregister(&self.own)?;
        outlet.commit(None)
    }

    /// Copies until there is nothing left, while the service frees chunks. Returns whether anything
    /// was copied.
    fn forward_patiently(&mut self, unfinished_too: bool, outlet: &mut Outlet) -> io::Result<bool> {
        let (by, mut has_copied) = (Instant::now() + PATIENCE, false);
        loop {
            let progress = self.forward(outlet, unfinished_too)?;
            has_copied |= progress.has_copied;
            if !progress.is_full || Instant::now() > by {
                return Ok(has_copied);
            }
            outlet.commit(None)?;
            thread::sleep(PAUSE);
        }
    }

    /// Writes the last packet of a writer's sequence.
    fn end_sequence(&mut self, writer: &Writer, outlet: &mut Outlet) -> io::Result<()> {
        let packet = self.session.sequence_end(writer);
        let Some(sequence) = self.sequences.get_mut(&writer.id) else { return Ok(()) };
        sequence.close(outlet)?;
        outlet.write(&mut sequence.writer, &packet).map(|_| ())
    }

    /// Writes what every reader needs, in full: the process, the session, the dictionary.
    pub(super) fn write_head(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        self.dictionary = self.session.dictionary();
        let description = self.session.describe();
        outlet.write(&mut self.own, &description)?;
        self.head = description.len() as u64;
        self.since_head = 0;
        let mut packets = Vec::new();
        self.dictionary.write_modules(&mut |packet| packets.push(packet.to_vec()));
        self.write_all(&packets, outlet)?;
        self.write_texts(outlet)
    }

    /// Writes the texts that were interned since the last call. Those of libraries that were loaded
    /// since come with the next head.
    fn write_texts(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let mut packets = Vec::new();
        self.dictionary.write_interned(&mut |packet| packets.push(packet.to_vec()));
        self.write_all(&packets, outlet)
    }

    /// Writes packets of the dictionary.
    fn write_all(&mut self, packets: &[Vec<u8>], outlet: &mut Outlet) -> io::Result<()> {
        for packet in packets {
            self.head += packet.len() as u64;
            outlet.write(&mut self.own, packet)?;
        }
        Ok(())
    }

    fn write_instant(&mut self, what: &str, outlet: &mut Outlet) -> io::Result<()> {
        let packet = self.session.instant(what);
        outlet.write(&mut self.own, &packet).map(|_| ())
    }
}

/// Returns the sequence of a chunk, a new one if need be; none where there can be no more.
fn sequence<'a>(
    sequences: &'a mut HashMap<u16, ForwardedSequence>,
    target: u32,
    info: &ChunkInfo,
    outlet: &mut Outlet,
) -> io::Result<Option<&'a mut ForwardedSequence>> {
    if let Entry::Vacant(vacant) = sequences.entry(info.writer_id) {
        let Some(writer) = outlet.register(target)? else { return Ok(None) };
        vacant.insert(ForwardedSequence { writer, next: 0, open: None });
    }
    Ok(sequences.get_mut(&info.writer_id))
}

impl ForwardedSequence {
    /// Makes sure that there is a chunk to copy to; false where the service has to free one first.
    fn open(&mut self, info: &ChunkInfo, outlet: &mut Outlet) -> bool {
        if self.open.is_none() {
            let chunk = outlet.acquire(&mut self.writer, info.layout());
            self.open = chunk.map(|chunk| OpenCopy { chunk, packets: Packets(0) });
        }
        self.open.is_some()
    }

    /// Copies what is new of a chunk. Returns the number of bytes.
    fn copy(&mut self, committed: &Committed<'_>, is_complete: bool, outlet: &mut Outlet) -> usize {
        let Some(OpenCopy { chunk, packets }) = &mut self.open else { return 0 };
        let new = committed.bytes.get(chunk.len()..).unwrap_or_default();
        let now = if is_complete {
            Packets::new(committed.count, committed.flags)
        } else {
            // With the packet that is being written, of which nothing is there.
            Packets::new(committed.count + 1, committed.flags & Packets::CONTINUES)
        };
        // Of a complete chunk also the size of its last packet, which is empty, if there is nothing
        // else.
        if !is_complete && (now == *packets || committed.count == 0) {
            return 0;
        }
        outlet.append(chunk, new, now);
        *packets = now;
        new.len()
    }

    /// Gives the chunk to the service, when all of it is copied.
    fn complete(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        self.next = self.next.wrapping_add(1);
        self.open.take().map_or(Ok(()), |open| outlet.complete(&self.writer, open.chunk))
    }

    /// Gives the chunk to the service as it is: no more will be copied.
    fn close(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let Some(OpenCopy { mut chunk, packets }) = self.open.take() else { return Ok(()) };
        // The packet that was started last is empty.
        let packets = Packets::new(packets.count().max(1), packets.flags());
        outlet.append(&mut chunk, &[0], packets);
        outlet.complete(&self.writer, chunk)
    }
}
