//! Snapshots: traces of the messages that a buffer keeps, written while threads log.
//!
//! A snapshot consists of the chunks that are found at its beginning. Chunks that are overwritten
//! before they are copied are missing like those that were overwritten earlier: each chunk holds
//! the number of messages that its sequence had before, so the number of missing ones is known. The
//! newest chunk of each sequence is copied first, so that this number is there.
//!
//! Invariant: each message of a sequence up to the last one in the trace is in the trace or
//! counted.

use crate::error::Error;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::file::claim::Claim;
use crate::session::file::file_place::FilePlace;
use crate::session::file::trace_file::{FileForm, TraceFile};
use crate::session::packets::copied::{sequence_id, split};
use crate::session::packets::for_file::Seal;
use crate::session::packets::message_counts::Counts;
use crate::session::ring::filtered::{FilteredCopy, RequestFilter};
use crate::session::ring::readers::RingReaders;
use crate::session::ring::snapshot_copy::{SnapshotCopy, overwritten};
use crate::session::stream::drain::{PacketSink, Sequence};
use crate::session::stream::trace::{Trace, TraceEnd};
use crate::stats::Summary;
use crate::sync::Ordering;
use crate::writer::Writer;
use protolog_core::chunk::FIRST_PINNED_WRITER_ID;
use protolog_shmem::{ChunkInfo, Committed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of attempts to find chunks, if the newest ones are overwritten faster than they are
/// copied.
const TRIES: usize = 4;

/// The number of chunks from which write-behind pays off: a megabyte, most of the time.
const MANY: usize = 256;

/// A sequence's chunks, by their distance from the newest one. Copies are shared by all that need
/// them.
pub(super) type Chunks = BTreeMap<u32, (ChunkInfo, Option<Arc<ChunkCopy>>)>;

/// A copy of the committed part of a chunk.
#[derive(Debug)]
pub(super) struct ChunkCopy {
    /// Its packets, each with its size before it, as in [`Committed::bytes`].
    pub(super) bytes: Vec<u8>,
    /// The number of packets.
    count: u16,
    /// As in the chunk's header.
    flags: u16,
    is_complete: bool,
}

/// A writer, and the number of its messages that must be in the trace or counted.
type Expected = (Arc<Writer>, u64);

/// The chunks of a buffer at one moment.
#[derive(Clone, Debug)]
pub(in crate::session) struct Collected {
    pub(super) writers: Vec<Expected>,
    /// By writer.
    pub(super) chunks: BTreeMap<u16, Chunks>,
    /// The first writer of pinned messages, if there may be any.
    pub(super) first_pinned: Option<u16>,
}

/// Writes a snapshot to a file of this form, which no session without the claim `own` may write.
/// `what` names its end.
pub(in crate::session) fn write(
    core: &Arc<Core>,
    place: &FilePlace,
    form: &FileForm,
    own: Option<&Claim>,
    what: &str,
) -> Result<Summary, Error> {
    let mut file = TraceFile::create_on_finish(place, form.mode, own)?;
    file.set_form(form);
    let mut trace = Trace::begin(Arc::clone(core), file);
    let collected = Collected::find(core, core.is_stopped());
    let messages = copy_collected(core, &mut trace, &collected, None);
    let summary = end(trace, what)?;
    debug_assert_eq!(summary.messages, messages, "counted twice");
    Ok(summary)
}

/// Ends a trace; `what` names its end.
pub(in crate::session) fn end(trace: Trace, what: &str) -> Result<Summary, Error> {
    let TraceEnd { summary, error, .. } = trace.end(what);
    error.map_or(Ok(summary), Err)
}

/// Writes these chunks, or the messages in them that `filter` takes, to a trace that has its
/// beginning. Returns the number of messages.
pub(in crate::session) fn copy_collected(
    core: &Core,
    trace: &mut Trace,
    collected: &Collected,
    mut filter: Option<&mut RequestFilter>,
) -> u64 {
    let mut reader = RingReaders::new(core);
    let Collected { writers, chunks, .. } = collected;
    if chunks.values().map(BTreeMap::len).sum::<usize>() > MANY {
        trace.file.start_write_behind();
    }
    // After the chunks were found, so that texts of their messages are among them.
    trace.write_interned();
    trace.write_module_texts();
    let mut messages = 0;
    for (writer, expected) in writers {
        let chunks = chunks.get(&writer.id).into_iter().flat_map(BTreeMap::values);
        let to = SnapshotCopy::new(trace, writer.id);
        let (written, numbered) = copy(&mut reader, to, chunks, filter.as_deref_mut());
        messages += written;
        let count = expected.saturating_sub(numbered);
        trace.finish_sequence(writer, (count > 0).then_some(overwritten(count)));
    }
    messages
}

impl Collected {
    /// Finds the writers and their chunks, with copies unless no chunk can be overwritten.
    pub(in crate::session) fn find(core: &Core, is_still: bool) -> Self {
        let mut reader = RingReaders::new(core);
        let mut tries = 0;
        loop {
            let expected = |writer: Arc<Writer>| {
                let messages = writer.completed_messages.load(Ordering::Acquire);
                (writer, messages)
            };
            let writers = core.all_writers().into_iter().map(expected).collect();
            let mut chunks = find(&mut reader);
            tries += 1;
            if is_still || copy_all(&mut reader, &mut chunks) || tries == TRIES {
                let first_pinned = core.pinned().map(|_| FIRST_PINNED_WRITER_ID);
                return Self { writers, chunks, first_pinned };
            }
        }
    }
}

/// Copies the chunks, the newest of each sequence first. Returns false if a newest one was
/// overwritten.
fn copy_all(reader: &mut RingReaders<'_>, all: &mut BTreeMap<u16, Chunks>) -> bool {
    let longest = all.values().map(BTreeMap::len).max().unwrap_or(0);
    for rank in 0..longest {
        let chunks = all.values_mut().filter_map(|chunks| chunks.values_mut().nth(rank));
        for (info, copied) in chunks {
            *copied = reader.pin(info).map(|chunk| {
                let Committed { bytes, count, flags } = chunk.committed();
                let is_complete = chunk.is_complete();
                Arc::new(ChunkCopy { bytes: bytes.to_vec(), count, flags, is_complete })
            });
        }
    }
    let newest =
        |chunks: &Chunks| chunks.values().next().is_none_or(|(_, copied)| copied.is_some());
    all.values().all(newest)
}

/// Returns all chunks by sequence.
fn find(reader: &mut RingReaders<'_>) -> BTreeMap<u16, Chunks> {
    // A writer may take one chunk behind the place that is looked at, and the next one before it.
    // So the first search says how far each sequence had come, and a second one misses nothing up
    // to there.
    let newest: BTreeMap<u16, u32> = by_writer(reader)
        .into_iter()
        .filter_map(|(writer, found)| Some((writer, newest_id(&found)?)))
        .collect();
    let ranked = |newest: u32, found: Vec<ChunkInfo>| {
        let age = |info: ChunkInfo| (newest.wrapping_sub(info.chunk_id), (info, None));
        found.into_iter().map(age).filter(|(age, _)| *age as i32 >= 0).collect()
    };
    by_writer(reader)
        .into_iter()
        .filter_map(|(writer, found)| Some((writer, ranked(*newest.get(&writer)?, found))))
        .collect()
}

/// Returns the chunks that are found on one way through the buffer.
fn by_writer(reader: &mut RingReaders<'_>) -> BTreeMap<u16, Vec<ChunkInfo>> {
    let mut by_writer: BTreeMap<u16, Vec<ChunkInfo>> = BTreeMap::new();
    for info in reader.find() {
        by_writer.entry(info.writer_id).or_default().push(info);
    }
    by_writer
}

/// Returns the id of the newest of a sequence's chunks.
fn newest_id(found: &[ChunkInfo]) -> Option<u32> {
    let any = found.first()?.chunk_id;
    // Ids count up and may wrap; a buffer has far fewer chunks than there are ids.
    let newest = found.iter().map(|info| info.chunk_id.wrapping_sub(any) as i32).max()?;
    Some(any.wrapping_add_signed(newest))
}

/// Writes a sequence's `chunks`, the newest of which comes first, or what `filter` takes of them.
/// Returns the number of messages in the trace, and in the trace or counted.
fn copy<'a>(
    reader: &mut RingReaders<'_>,
    mut to: SnapshotCopy<'_>,
    chunks: impl DoubleEndedIterator<Item = &'a (ChunkInfo, Option<Arc<ChunkCopy>>)>,
    filter: Option<&mut RequestFilter>,
) -> (u64, u64) {
    let Some(filter) = filter else {
        walk(reader, chunks, &mut to);
        return to.counts();
    };
    let mut to = FilteredCopy::new(to, filter);
    walk(reader, chunks, &mut to);
    to.counts()
}

/// Passes the packets of a sequence's `chunks`, the newest of which comes first, to `to` in the
/// order in which they were written.
fn walk<'a>(
    reader: &mut RingReaders<'_>,
    chunks: impl DoubleEndedIterator<Item = &'a (ChunkInfo, Option<Arc<ChunkCopy>>)>,
    to: &mut impl PacketSink,
) {
    let mut walk = Sequence::default();
    let mut next = None;
    let mut chunks = chunks.rev().peekable();
    while let Some((info, copied)) = chunks.next() {
        if let Some((next, None)) = chunks.peek() {
            reader.prefetch(next);
        }
        let mut pass_on = |committed: &Committed<'_>, is_complete| {
            walk.next(next != Some(info.chunk_id));
            next = Some(info.chunk_id.wrapping_add(1));
            walk.copy(committed, is_complete, to);
        };
        if let Some(ChunkCopy { bytes, count, flags, is_complete }) = copied.as_deref() {
            pass_on(&Committed { bytes, count: *count, flags: *flags }, *is_complete);
        } else if let Some(chunk) = reader.pin(info) {
            // Not copied: nobody overwrites it, or it was there a moment ago.
            pass_on(&chunk.committed(), chunk.is_complete());
        }
    }
}

/// Counts the messages that a snapshot would have now.
pub(in crate::session) fn count(core: &Core) -> Counts {
    let mut reader = RingReaders::new(core);
    let mut counts = Counts::default();
    for (writer, chunks) in find(&mut reader) {
        let mut to = Counting { seal: Seal::new(sequence_id(writer)), counts: &mut counts };
        walk(&mut reader, chunks.values(), &mut to);
    }
    counts
}

/// Counts the packets of a sequence.
struct Counting<'a> {
    seal: Seal,
    counts: &'a mut Counts,
}

impl PacketSink for Counting<'_> {
    fn packet(&mut self, packet: &[u8]) {
        self.counts.packet(packet, self.seal.size(packet.len()));
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        let mut rest = sized;
        for _ in 0..count {
            let Some((packet, after)) = split(rest) else { break };
            self.packet(packet);
            rest = after;
        }
    }
}
