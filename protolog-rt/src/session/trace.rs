//! A trace in the making: what it begins and ends with, whatever is between.
//!
//! Invariant: what is lost is told once in a trace, on the sequence that lost it.

use super::core::Core;
use super::dictionary::Dictionary;
use super::drain::{OWN_SEQUENCE, sequence};
use super::file::{Finished, TraceFile};
use super::gap::Gap;
use crate::clock;
use crate::error::Error;
use crate::loss::{LossCount, LossCounters, UnattributedSnapshot};
use crate::stats::{self, BufferStats, Loss, Summary};
use crate::writer::state::loss_record;
use crate::writer::{UNATTRIBUTED, Writer};
use protolog_core::process_track;
use protolog_core::schema::{
    buffer_stats, clock as clock_field, clock_id, clock_snapshot, packet, process_descriptor,
    sequence_flags, sequence_info, thread_descriptor, trace_stats, track_descriptor, track_event,
};
use protozero::{Heap, Message};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Trace {
    core: Arc<Core>,
    pub(super) file: TraceFile,
    dictionary: Dictionary,
    /// Losses that the trace tells of, but for those that writers put into their chunks.
    told: LossCounters,
    /// What threads without a sequence had lost before.
    before: UnattributedSnapshot,
    /// The clocks when they were written last.
    clocks: Clocks,
}

/// The clocks of [`clock::snapshot`].
type Clocks = [(u32, u64); 3];

/// The wall clock was set if it is so much nearer to BOOTTIME, or farther from it, in nanoseconds. The clocks are read one
/// after the other, and the thread may be preempted in between.
const SET: u64 = 100_000_000;

/// What became of a trace.
#[derive(Debug)]
pub(super) struct End {
    pub(super) summary: Summary,
    /// The losses that it tells of.
    pub(super) told: Vec<LossCount>,
    /// What threads without a sequence had lost by then.
    pub(super) before: UnattributedSnapshot,
    /// What could not be written, and what it does not tell of.
    pub(super) gap: Gap,
    /// Why the file is not whole, or not there.
    pub(super) error: Option<Error>,
}

impl Trace {
    /// Writes the beginning: process, clocks, dictionary.
    pub(super) fn begin(core: Arc<Core>, file: TraceFile) -> Self {
        let (before, started) = (core.owner.before.clone(), core.owner.started);
        Self::start(core, file, before, started, "protolog session started")
    }

    /// Writes the beginning of a trace that goes on where another one ends; what that one tells of, comes by
    /// [`Self::lost_before`].
    pub(super) fn go_on(core: Arc<Core>, file: TraceFile) -> Self {
        let before = core.owner.before.clone();
        Self::start(core, file, before, clock::boottime(), "protolog session goes on")
    }

    /// Leaves out losses of threads without a sequence up to `mark`.
    pub(super) fn lost_before(&mut self, mark: UnattributedSnapshot) {
        self.before = mark;
    }

    fn start(
        core: Arc<Core>,
        file: TraceFile,
        before: UnattributedSnapshot,
        nanos: u64,
        what: &str,
    ) -> Self {
        let (dictionary, told) = (Dictionary::default(), LossCounters::new());
        let mut trace = Self { core, file, dictionary, told, before, clocks: clock::snapshot() };
        trace.head(nanos, what);
        trace.file.begin();
        trace
    }

    /// Goes on with a file that could not be written for a while: says what is missing, and all that a trace begins with,
    /// which may be missing too.
    pub(super) fn go_on_after_gap(&mut self) {
        self.dictionary = Dictionary::default();
        self.head(clock::boottime(), "protolog session goes on");
        self.unwritten();
        self.file.flush();
    }

    /// What a trace begins with.
    fn head(&mut self, nanos: u64, what: &str) {
        let pid = self.core.pid;
        self.wall_clock(clock::snapshot());
        self.own_packet(|to| process(to, pid));
        self.own_packet(|to| mark(to, pid, nanos, what));
        self.seen();
        self.images();
    }

    /// Says once more what the wall clock shows, if somebody has set it: what is logged from now on has its new date.
    pub(super) fn follow_wall_clock(&mut self) {
        let now = clock::snapshot();
        if is_set(&self.clocks, &now) {
            self.wall_clock(now);
        }
    }

    /// Ties BOOTTIME to the clocks that people and other traces use.
    fn wall_clock(&mut self, now: Clocks) {
        self.clocks = now;
        self.own_packet(|to| {
            let mut snapshot = to.nested(packet::CLOCK_SNAPSHOT);
            for (id, nanos) in now {
                snapshot
                    .nested(clock_snapshot::CLOCKS)
                    .uint32(clock_field::CLOCK_ID, id)
                    .uint64(clock_field::TIMESTAMP, nanos);
            }
            snapshot.uint32(clock_snapshot::PRIMARY_TRACE_CLOCK, clock_id::BOOTTIME);
        });
    }

    /// Says what could not be written before, if there is such a thing.
    fn unwritten(&mut self) {
        let gap = std::mem::take(&mut self.file.gap);
        if gap.is_empty() {
            return;
        }
        let (pid, mut losses) = (self.core.pid, self.dictionary.unwritten(&gap.messages));
        self.count(&losses);
        losses.extend(gap.told);
        self.own_packet(|to| {
            mark(to, pid, clock::boottime(), "protolog could not write");
            append(to, &losses);
        });
    }

    /// Writes the end, which `what` names.
    pub(super) fn end(mut self, what: &str) -> End {
        self.write_unattributed();
        if !self.file.has_failed() {
            self.unwritten();
        }
        let pid = self.core.pid;
        let buffer = stats::of_buffer(&self.core.buffer);
        self.own_packet(|to| trace_stats(to, &buffer));
        self.own_packet(|to| mark(to, pid, clock::boottime(), what));
        let (losses, told) = self.totals();
        let Finished { bytes, counts, lost, gap, error } = self.file.finish();
        let counts = counts.except(&lost);
        let groups = self.dictionary.groups(&counts, &losses);
        let summary = Summary { messages: counts.messages(), bytes, losses, groups, buffer };
        End { summary, told, before: self.before, gap, error }
    }

    /// Names the thread, in Perfetto's terms and in ours, and says what was lost since its last chunk began. State is
    /// cleared, since Perfetto skips the name of a sequence that never had any: one that found no chunk at all.
    pub(super) fn farewell(&mut self, writer: &Writer, more: Option<LossCount>) {
        let pid = self.core.pid;
        let thread = &writer.thread;
        let mut losses = self.take(&writer.losses);
        losses.extend(more);
        self.packet(sequence(writer.id), |to| {
            to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            to.nested(packet::THREAD_DESCRIPTOR)
                .uint32(thread_descriptor::PID, pid)
                .uint32(thread_descriptor::TID, thread.id)
                .string(thread_descriptor::THREAD_NAME, thread.name());
            to.nested(packet::SEQUENCE_INFO)
                .uint32(sequence_info::PID, pid)
                .uint32(sequence_info::TID, thread.id)
                .string(sequence_info::THREAD_NAME, thread.name());
            append(to, &losses);
        });
        self.count(&losses);
    }

    /// Writes the losses of threads that had no sequence.
    fn write_unattributed(&mut self) {
        let mut losses = self.take(&self.core.unattributed);
        let dictionary = &self.dictionary;
        losses.extend(UNATTRIBUTED.take_since(&mut self.before, |group, severity| {
            let levels = dictionary.group(group).map(|name| self.core.owner.filter.levels(name));
            levels.is_none_or(|levels| levels & 1 << severity != 0)
        }));
        if !losses.is_empty() {
            self.own_packet(|to| append(to, &losses));
            self.count(&losses);
        }
    }

    /// Counts losses that the trace tells of.
    fn count(&self, losses: &[LossCount]) {
        for lost in losses {
            self.told.add(lost.group, lost.cause, lost.count);
        }
    }

    /// The losses that no packet of the trace tells of yet. Those of a buffer that keeps something stay, since there may be
    /// several traces of it.
    fn take(&self, losses: &LossCounters) -> Vec<LossCount> {
        let mut taken = Vec::new();
        losses.take(|lost| {
            taken.push(lost);
            true
        });
        if !self.core.is_stream() {
            for lost in &taken {
                losses.restore(*lost);
            }
        }
        taken
    }

    /// Writes what was lost on a sequence before `time`, when what comes next begins, with a state of its own. `info` says
    /// whose the sequence is: nothing else of it may be there before.
    pub(super) fn gap(&mut self, sequence: u32, time: u64, info: &[u8], lost: LossCount) {
        self.packet(sequence, |to| {
            // Of the trace's clock, since the state is cleared.
            to.uint64(packet::TIMESTAMP, time)
                .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED)
                .uint32(packet::PREVIOUS_PACKET_DROPPED, 1)
                .bytes(packet::SEQUENCE_INFO, info);
            append(to, &[lost]);
        });
        self.count(&[lost]);
    }

    /// All that the trace tells of, with the names of groups and with their ids.
    fn totals(&self) -> (Vec<Loss>, Vec<LossCount>) {
        self.core.reported.take(|lost| {
            self.told.add(lost.group, lost.cause, lost.count);
            true
        });
        let told = self.told.pending();
        (self.dictionary.losses(told.iter().copied()), told)
    }

    /// What [`Self::farewell`] told of losses so far.
    pub(super) fn told(&self) -> Vec<LossCount> {
        self.told.pending()
    }

    /// Writes the texts of messages that were copied since the last time, if they came with a library meanwhile.
    pub(super) fn catch_up(&mut self) {
        if self.file.counts.take_new().iter().any(|id| !self.dictionary.has(*id)) {
            self.seen();
            self.images();
        }
    }

    /// Writes texts of loaded images that the trace does not have yet.
    pub(super) fn images(&mut self) {
        let file = &mut self.file;
        self.dictionary.images(&mut |packet| file.packet(OWN_SEQUENCE, packet));
    }

    /// Writes texts that were first seen at run time.
    pub(super) fn seen(&mut self) {
        let file = &mut self.file;
        self.dictionary.seen(&mut |packet| file.packet(OWN_SEQUENCE, packet));
    }

    fn own_packet(&mut self, fill: impl FnOnce(&mut Message<'_, Heap>)) {
        self.packet(OWN_SEQUENCE, fill);
    }

    fn packet(&mut self, sequence: u32, fill: impl FnOnce(&mut Message<'_, Heap>)) {
        let mut writer = protozero::Writer::new(Heap::new());
        fill(&mut writer.message());
        if let Ok(packet) = writer.into_vec() {
            self.file.packet(sequence, &packet);
        }
    }
}

/// Appends records of losses.
fn append(to: &mut Message<'_, Heap>, losses: &[LossCount]) {
    for lost in losses {
        to.bytes(packet::LOSS, loss_record(*lost).bytes());
    }
}

/// Whether the wall clock was set between two looks at the clocks.
fn is_set(before: &Clocks, now: &Clocks) -> bool {
    let distance = |[(_, wall), _, (_, boot)]: &Clocks| wall.wrapping_sub(*boot);
    let moved = distance(now).wrapping_sub(distance(before)) as i64;
    moved.unsigned_abs() >= SET
}

/// Names the process, in Perfetto's terms and in ours.
pub(super) fn process(to: &mut Message<'_, Heap>, pid: u32) {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let name = arguments.first().map_or("", String::as_str);
    let mut track = to.nested(packet::TRACK_DESCRIPTOR);
    track.uint64(track_descriptor::UUID, process_track(pid));
    let mut process = track.nested(track_descriptor::PROCESS);
    process.uint32(process_descriptor::PID, pid);
    for argument in &arguments {
        process.string(process_descriptor::CMDLINE, argument);
    }
    process.string(process_descriptor::PROCESS_NAME, name);
    drop(process);
    drop(track);
    let mut info = to.nested(packet::SEQUENCE_INFO);
    info.uint32(sequence_info::PID, pid);
    if let Some(id) = boot_id() {
        info.bytes(sequence_info::BOOT_ID, &id);
    }
}

/// Which boot of the machine this is, where the kernel says it.
pub(super) fn boot_id() -> Option<[u8; 16]> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let mut digits = text.chars().filter_map(|c| c.to_digit(16));
    let mut id = [0; 16];
    for place in &mut id {
        *place = (digits.next()? << 4 | digits.next()?) as u8;
    }
    Some(id)
}

/// What went through the buffer, in Perfetto's terms, and what it has none for.
fn trace_stats(to: &mut Message<'_, Heap>, stats: &BufferStats) {
    to.nested(packet::TRACE_STATS)
        .nested(trace_stats::BUFFER_STATS)
        .uint64(buffer_stats::BYTES_WRITTEN, stats.bytes_written)
        .uint64(buffer_stats::CHUNKS_WRITTEN, stats.chunks_written)
        .uint64(buffer_stats::CHUNKS_OVERWRITTEN, stats.chunks_overwritten)
        .uint64(buffer_stats::BUFFER_SIZE, stats.size)
        .uint64(buffer_stats::BYTES_OVERWRITTEN, stats.bytes_overwritten)
        .uint64(buffer_stats::BYTES_READ, stats.bytes_read)
        .uint64(buffer_stats::CHUNKS_READ, stats.chunks_read)
        .uint64(buffer_stats::CHUNKS_DISCARDED, stats.chunks_discarded)
        .uint64(buffer_stats::HIGH_WATER, stats.high_water);
}

/// An instant on the process's track: with nothing but messages, Perfetto takes a trace for empty.
fn mark(to: &mut Message<'_, Heap>, pid: u32, nanos: u64, name: &str) {
    to.uint64(packet::TIMESTAMP, nanos);
    to.nested(packet::TRACK_EVENT)
        .uint32(track_event::TYPE, track_event::TYPE_INSTANT)
        .uint64(track_event::TRACK_UUID, process_track(pid))
        .string(track_event::NAME, name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_is_told_from_one_that_goes_on() {
        const HOUR: u64 = 3_600_000_000_000;
        let clocks = |wall: u64, boot: u64| [(1, wall), (3, boot), (6, boot)];
        let before = clocks(50 * HOUR, 3 * HOUR);
        for (wall, is) in [
            (51 * HOUR, false),
            (51 * HOUR + SET - 1, false),
            (51 * HOUR - SET + 1, false),
            (51 * HOUR + SET, true),
            (51 * HOUR - SET, true),
            (0, true),
            (20_000 * HOUR, true),
        ] {
            assert_eq!(is_set(&before, &clocks(wall, 4 * HOUR)), is, "{wall}");
        }
        // Set to before the machine was started.
        assert!(!is_set(&clocks(0, 3 * HOUR), &clocks(HOUR, 4 * HOUR)));
    }
}
