//! A session of the service that records this process: its chunks on their way, and its dictionary.
//!
//! Each chunk of the session's buffer becomes one of the shared memory, of the same size and with
//! the same bytes, so that it decodes alone there as well ([`super::sequence`]).
//!
//! Invariants
//! - Chunks of the shared memory that stay open are on at most half of its pages, so that the
//!   service, as long as it reads, always frees some.
//! - A message that a thread has committed is forwarded, or counted as lost at the end: in the
//!   trace, for which a chunk is reserved from the start, and in [`Status::lost`](super::Status).
//! - Once it is dropped, the session is over.

mod end;
mod head;
mod held_back;

use self::head::TraceHead;
use super::SharedStatus;
use super::config::SourceConfig;
use super::outlet::{Outlet, PAUSE, ServiceWriter};
use super::sequence::{CopiedPart, ForwardedSequence};
use crate::error::Error;
use crate::loss::{LossCount, UnattributedSnapshot};
use crate::session::forwarded::counts::ForwardedCounts;
use crate::session::forwarded::{ForwardedSession, Settings};
use crate::writer::Writer;
use protolog_shmem::{BufferReader, ChunkInfo, ServiceChunk};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The size of a session's buffer, in bytes.
const BUFFER: usize = 4 << 20;

/// The longest that a flush or a stop waits for a service that frees nothing.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest that it waits for one that is slow. Commands and other sessions wait meanwhile.
const LONGEST: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) id: u64,
    pub(super) session: Arc<ForwardedSession>,
    pub(super) target: u32,
    state: Arc<SharedStatus>,
    /// The sequence of packets that are nobody else's.
    own: ServiceWriter,
    /// The chunk for the last packet.
    reserved: Option<ServiceChunk>,
    sequences: HashMap<u16, ForwardedSequence>,
    pub(super) counts: ForwardedCounts,
    /// Writers that ended, and whose last packet is still to be written.
    ended: Vec<Arc<Writer>>,
    /// The drops of threads without a sequence that were reported.
    before: UnattributedSnapshot,
    /// Drops whose packet found no room.
    pub(super) unreported: Vec<LossCount>,
    /// Description and dictionary.
    head: TraceHead,
    /// When messages that limits suppress are reported next.
    next_report: Instant,
    /// The service has the last packet.
    has_ended: bool,
    /// The messages of writers that it could not be told of any more.
    unknown: u64,
    /// The reason why the connection ended before, if this side saw it.
    end_reason: Option<String>,
}

/// The chunks that are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those that are complete.
    Complete,
    /// And of those that are being written the committed part, while the memory is not scarce.
    Committed,
    /// And that in any case.
    All,
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
    /// Starts to record what `source` says, in the place of a session that `kept` messages, if
    /// there is one. The reason where the session can't start, or there are too many writers.
    pub(super) fn start(
        id: u64,
        source: SourceConfig,
        thread: Thread,
        state: &Arc<SharedStatus>,
        kept: Option<&ForwardedSession>,
        outlet: &mut Outlet,
    ) -> io::Result<Result<Self, Error>> {
        let target = source.target_buffer;
        let Some(own) = outlet.register(target)? else {
            return Ok(Err(Error::Resources(io::Error::other("there are too many writers"))));
        };
        let (config, chunk_timeout) = (source.config, source.chunk_timeout);
        let settings = Settings { config, chunk_timeout, buffer: BUFFER };
        let session = match ForwardedSession::start(settings, thread, kept) {
            Ok(session) => session,
            Err(error) => {
                outlet.unregister(&own)?;
                return Ok(Err(error));
            }
        };
        let before = session.unattributed_before();
        let mut instance = Self {
            id,
            session,
            target,
            state: Arc::clone(state),
            own,
            reserved: outlet.reserve(),
            sequences: HashMap::new(),
            counts: ForwardedCounts::default(),
            ended: Vec::new(),
            before,
            unreported: Vec::new(),
            head: TraceHead::default(),
            next_report: Instant::now(),
            has_ended: false,
            unknown: 0,
            end_reason: None,
        };
        instance.write_head(outlet)?;
        instance.write_instant("protolog session started", outlet)?;
        Ok(Ok(instance))
    }

    /// Copies chunks.
    pub(super) fn forward(&mut self, scope: Scope, outlet: &mut Outlet) -> io::Result<Round> {
        let mut progress = Round::default();
        loop {
            let session = Arc::clone(&self.session);
            let mut reader = session.buffer().reader();
            let (mut freed, mut waits) = (0, false);
            for info in self.find(&mut reader, scope != Scope::Complete) {
                match self.forward_chunk(&info, &mut reader, scope, outlet)? {
                    Forwarded::Nothing => {}
                    Forwarded::Waits => waits = true,
                    Forwarded::Part(bytes) => progress.has_copied |= bytes > 0,
                    Forwarded::Whole(bytes) => {
                        progress.has_copied |= bytes > 0;
                        freed += 1;
                    }
                    Forwarded::NoRoom => {
                        progress.is_full = true;
                        break;
                    }
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

    /// Returns the chunks of the buffer, those of each sequence in order.
    fn find(&self, reader: &mut BufferReader<'_>, unfinished_too: bool) -> Vec<ChunkInfo> {
        let mut found = reader.find(unfinished_too);
        found.sort_by_cached_key(|chunk| {
            let next = self.sequences.get(&chunk.writer_id).map_or(0, |known| known.next);
            (chunk.writer_id, chunk.chunk_id.wrapping_sub(next))
        });
        found
    }

    fn forward_chunk(
        &mut self,
        info: &ChunkInfo,
        reader: &mut BufferReader<'_>,
        scope: Scope,
        outlet: &mut Outlet,
    ) -> io::Result<Forwarded> {
        let sequence = sequence_of(&mut self.sequences, info.writer_id, self.target, outlet)?;
        if info.chunk_id != sequence.next {
            return Ok(Forwarded::Waits);
        }
        let stays_open = !info.is_complete && !sequence.is_open();
        if stays_open && scope != Scope::All && outlet.is_scarce() {
            return Ok(Forwarded::Nothing);
        }
        let Some(chunk) = reader.read(info) else { return Ok(Forwarded::Nothing) };
        let committed = chunk.committed();
        let has_new = sequence.writer.is_some() && committed.count > sequence.copied();
        if has_new && !self.write_texts_for(info, &committed, outlet)? {
            chunk.put_back();
            return Ok(Forwarded::NoRoom);
        }
        let sequence = sequence_of(&mut self.sequences, info.writer_id, self.target, outlet)?;
        let copied = if sequence.writer.is_none() {
            self.counts.lose(info.writer_id, &committed, info.is_complete);
            CopiedPart::Bytes(0)
        } else {
            sequence.copy(info, &committed, outlet)?
        };
        let CopiedPart::Bytes(bytes) = copied else {
            chunk.put_back();
            return Ok(Forwarded::NoRoom);
        };
        if sequence.writer.is_some() {
            let before = self.counts.messages();
            self.counts.count(info.writer_id, &committed, info.is_complete);
            sequence.messages += self.counts.messages() - before;
        }
        drop(chunk);
        self.head.note_chunk(bytes);
        if info.is_complete {
            sequence.complete(outlet)?;
            return Ok(Forwarded::Whole(bytes));
        }
        if scope == Scope::All && outlet.is_scarce() {
            sequence.close(outlet)?;
        }
        Ok(Forwarded::Part(bytes))
    }

    /// Writes what has come up beside messages: ends of threads, drops, texts, and the dictionary
    /// where it may be overwritten soon.
    pub(super) fn follow(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        // The memory was scarce when the session started, maybe.
        self.reserved = self.reserved.take().or_else(|| outlet.reserve());
        self.ended.extend(self.session.take_ended());
        // They may have ended after the round began. A sequence ends once all of it is copied.
        if !self.ended.is_empty() && !self.forward(Scope::Complete, outlet)?.is_full {
            while let Some(writer) = self.ended.pop() {
                if !self.end_sequence(&writer, outlet)? {
                    self.ended.push(writer);
                    break;
                }
                self.session.retire(&writer);
            }
        }
        self.report_held_back_if_due(outlet)?;
        if !self.unreported.is_empty() {
            let packet = ForwardedSession::losses(&self.unreported);
            if outlet.write(&mut self.own, &packet)? {
                self.unreported.clear();
            }
        }
        self.write_head_or_news(outlet)
    }

    /// Returns whether packets beside messages wait for room.
    pub(super) fn has_due(&self) -> bool {
        self.head.is_due() || !self.unreported.is_empty() || !self.ended.is_empty()
    }

    /// Forwards all that was logged before the call, and with `with_head` the dictionary in full.
    /// Returns whether the service has all of it.
    pub(super) fn flush(&mut self, with_head: bool, outlet: &mut Outlet) -> io::Result<bool> {
        outlet.wait_at_most(PATIENCE);
        let asked = self.committed();
        let is_whole = !self.forward_patiently(Some(&asked), outlet)?.is_full;
        self.report_held_back(outlet)?;
        self.follow(outlet)?;
        if with_head {
            self.write_head(outlet)?;
        }
        Ok(is_whole && !self.head.is_due())
    }

    /// Answers who asks in this process for a flush.
    pub(super) fn answer_flush(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let (session, mut result) = (Arc::clone(&self.session), Ok(()));
        session.answer_flush(|| {
            result = self.flush(false, outlet).and_then(|_| outlet.commit(None));
            &self.counts
        });
        result
    }

    /// Copies until there is nothing left, or nothing of the chunks `asked` for: threads may log
    /// faster than the service frees chunks. Where it is full in the end, something is left.
    fn forward_patiently(
        &mut self,
        asked: Option<&[(ChunkInfo, Option<u16>)]>,
        outlet: &mut Outlet,
    ) -> io::Result<Round> {
        let (by, mut has_copied) = (Instant::now() + LONGEST, false);
        loop {
            let progress = self.forward(Scope::All, outlet)?;
            if progress.has_copied {
                // The service reads, however slowly.
                let left = by.saturating_duration_since(Instant::now());
                outlet.wait_at_most(PATIENCE.min(left));
            }
            has_copied |= progress.has_copied;
            let is_full = progress.is_full && !asked.is_some_and(|asked| self.has_forwarded(asked));
            if !is_full || outlet.is_out_of_time() {
                return Ok(Round { has_copied, is_full });
            }
            outlet.commit(None)?;
            thread::sleep(PAUSE);
        }
    }

    /// Returns the chunks of the buffer, those that are being written with their packets so far.
    fn committed(&self) -> Vec<(ChunkInfo, Option<u16>)> {
        let session = Arc::clone(&self.session);
        let mut reader = session.buffer().reader();
        let mut all = Vec::new();
        for info in self.find(&mut reader, true) {
            // To read a complete chunk frees it.
            let part = if info.is_complete {
                None
            } else {
                Some(reader.read(&info).map_or(0, |chunk| chunk.committed().count))
            };
            all.push((info, part));
        }
        all
    }

    /// Returns whether all of that is copied, or counted as lost.
    fn has_forwarded(&self, all: &[(ChunkInfo, Option<u16>)]) -> bool {
        all.iter().all(|(chunk, part)| {
            self.sequences.get(&chunk.writer_id).is_some_and(|known| {
                let past = known.next.wrapping_sub(chunk.chunk_id) as i32;
                let has_part = part.is_some_and(|count| known.copied() >= count);
                past > 0 || known.writer.is_none() || past == 0 && has_part
            })
        })
    }

    /// Writes the last packet of a writer's sequence, also of one that found no chunk at all. False
    /// where there is no room for it; its drops are kept then.
    fn end_sequence(&mut self, writer: &Writer, outlet: &mut Outlet) -> io::Result<bool> {
        let losses = self.session.take_losses(writer);
        self.report_on_sequence(writer, losses, outlet)
    }

    /// Writes drops on a writer's sequence, behind what is copied of it. False where there is no
    /// room for that; they are kept then.
    fn report_on_sequence(
        &mut self,
        writer: &Writer,
        losses: Vec<LossCount>,
        outlet: &mut Outlet,
    ) -> io::Result<bool> {
        let sequence = sequence_of(&mut self.sequences, writer.id, self.target, outlet)?;
        sequence.close(outlet)?;
        let is_written = match &mut sequence.writer {
            Some(to) => outlet.write(to, &self.session.sequence_end(writer, &losses))?,
            None => false,
        };
        if !is_written {
            for lost in losses {
                lost.add_to(&mut self.unreported);
            }
        }
        // There is nothing to wait for where there is no sequence.
        Ok(is_written || sequence.writer.is_none())
    }

    fn write_instant(&mut self, what: &str, outlet: &mut Outlet) -> io::Result<()> {
        let packet = self.session.instant(what);
        outlet.write(&mut self.own, &packet).map(|_| ())
    }
}

/// The outcome of copying a chunk, with the number of bytes.
#[derive(Clone, Copy, Debug)]
enum Forwarded {
    /// It is gone, or there is nothing new of it.
    Nothing,
    /// It waits for the one before.
    Waits,
    /// The committed part is copied.
    Part(usize),
    /// It is copied, and free.
    Whole(usize),
    /// The service has to free chunks first.
    NoRoom,
}

/// Returns the sequence of a writer, a new one if need be.
fn sequence_of<'a>(
    sequences: &'a mut HashMap<u16, ForwardedSequence>,
    writer: u16,
    target: u32,
    outlet: &mut Outlet,
) -> io::Result<&'a mut ForwardedSequence> {
    Ok(match sequences.entry(writer) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(vacant) => vacant.insert(ForwardedSequence::new(outlet.register(target)?)),
    })
}
