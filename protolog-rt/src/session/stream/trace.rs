//! A trace in the making: its beginning, its trailer, and the packets of the session itself.
//!
//! Invariant: a drop is reported once in a trace, on the sequence that dropped the message.

use crate::clock;
use crate::error::Error;
use crate::loss::{LossCount, LossCounters, UnattributedSnapshot};
use crate::session::arbiter::session_arbiter::Core;
use crate::session::file::trace_file::{Finished, TraceFile};
use crate::session::packets::copied::{MESSAGE, OWN_SEQUENCE, sequence_id};
use crate::session::packets::dictionary::Dictionary;
use crate::session::packets::gap::{Gap, records};
use crate::session::packets::own::{
    append_instant, append_losses, append_losses_of, append_sequence_end,
};
use crate::session::packets::process_packet::describe_process;
use crate::session::packets::remains::Remains;
use crate::stats::{BufferStats, Loss, Summary};
use crate::writer::fields::Fields;
use crate::writer::{UNATTRIBUTED, Writer};
use protolog_core::schema::{
    buffer_stats, clock as clock_field, clock_id, clock_snapshot, filtered, packet, sequence_flags,
    trace_stats,
};
use protozero::{Heap, Message};
use std::collections::HashSet;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct Trace {
    core: Arc<Core>,
    pub(in crate::session) file: TraceFile,
    dictionary: Dictionary,
    /// Drops that the trace reports, but for those that writers put into their chunks.
    reported: LossCounters,
    /// Repeats of messages that packets of a session report which keeps them in memory, until they
    /// are taken off its counters.
    copied: Vec<LossCount>,
    /// Unattributed drops that are no matter of this trace.
    before: UnattributedSnapshot,
    /// The clocks when they were written last.
    clocks: Clocks,
}

/// The clocks of [`clock::snapshot`].
type Clocks = [(u32, u64); 3];

/// A change of the distance between wall clock and BOOTTIME by which the wall clock counts as set,
/// in nanoseconds. The clocks are read one after the other, and the thread may be preempted in
/// between.
const MIN_CLOCK_STEP: u64 = 100_000_000;

/// The outcome of a trace.
#[derive(Debug)]
pub(in crate::session) struct TraceEnd {
    pub(in crate::session) summary: Summary,
    /// The drops that it reports.
    pub(in crate::session) reported: Vec<LossCount>,
    /// The unattributed drops that it reports, and those before.
    pub(in crate::session) before: UnattributedSnapshot,
    /// Drops that it does not report, since it could not be written.
    pub(in crate::session) gap: Gap,
    /// The error, if the file is incomplete or missing.
    pub(in crate::session) error: Option<Error>,
}

impl Trace {
    /// Writes the beginning: process, clocks, dictionary.
    pub(in crate::session) fn begin(core: Arc<Core>, file: TraceFile) -> Self {
        let (before, started) = (core.owner.before.clone(), core.owner.started);
        Self::start(core, file, before, started, "protolog session started")
    }

    /// Writes the beginning of a trace that continues another one;
    /// [`Self::skip_unattributed_before`] says which drops that one reports.
    pub(in crate::session) fn continued(core: Arc<Core>, file: TraceFile) -> Self {
        let before = core.owner.before.clone();
        Self::start(core, file, before, clock::boottime(), "protolog session goes on")
    }

    /// Leaves out unattributed drops up to `mark`.
    pub(in crate::session) fn skip_unattributed_before(&mut self, mark: UnattributedSnapshot) {
        self.before = mark;
    }

    fn start(
        core: Arc<Core>,
        file: TraceFile,
        before: UnattributedSnapshot,
        nanos: u64,
        what: &str,
    ) -> Self {
        let (dictionary, reported) = (Dictionary::default(), LossCounters::new());
        let mut trace = Self {
            core,
            file,
            dictionary,
            reported,
            copied: Vec::new(),
            before,
            clocks: clock::snapshot(),
        };
        trace.write_beginning(nanos, what);
        trace.file.begin();
        trace
    }

    /// Continues a file that could not be written for a while: writes the beginning of a trace once
    /// more, which may be missing, and reports what is missing.
    pub(in crate::session) fn continue_after_gap(&mut self) {
        self.dictionary = Dictionary::default();
        self.write_beginning(clock::boottime(), "protolog session goes on");
        self.report_gap();
        self.file.flush();
    }

    /// Counts all messages of the file as lost but those that remain in it, and has what is written
    /// next report that. Returns their number.
    pub(in crate::session) fn lose_all_but(&mut self, remains: &Remains) -> u64 {
        self.file.lose_all_but(remains, self.reported.pending())
    }

    /// Writes the first packets of every trace.
    fn write_beginning(&mut self, nanos: u64, what: &str) {
        let pid = self.core.pid;
        self.write_clocks(clock::snapshot());
        let owner = Arc::clone(&self.core.owner);
        let set = self.file.segments_of().map(str::to_owned);
        self.own_packet(|to| {
            describe_process(to, pid, &owner.session_id, &owner.filter, set.as_deref());
        });
        self.own_packet(|to| append_instant(to, pid, nanos, what));
        self.write_interned();
        self.write_module_texts();
    }

    /// Writes the clocks once more if the wall clock was set: later messages have its new date.
    pub(in crate::session) fn follow_wall_clock(&mut self) {
        let now = clock::snapshot();
        if is_set(&self.clocks, &now) {
            self.write_clocks(now);
        }
    }

    /// Ties BOOTTIME to the clocks that people and other traces use.
    fn write_clocks(&mut self, now: Clocks) {
        self.clocks = now;
        self.own_packet(|to| append_clocks(to, &now));
    }

    /// Reports messages that could not be written before, if there are any.
    pub(in crate::session) fn report_gap(&mut self) {
        let gap = std::mem::take(&mut self.file.gap);
        if gap.is_empty() {
            return;
        }
        let (pid, mut losses) = (self.core.pid, self.dictionary.unwritten(&gap));
        self.count(&losses);
        losses.extend(gap.reported);
        self.own_packet(|to| {
            append_instant(to, pid, clock::boottime(), "protolog could not write");
            append_losses(to, &losses);
        });
    }

    /// Writes the trailer; `what` names the end.
    pub(in crate::session) fn end(mut self, what: &str) -> TraceEnd {
        self.report_unattributed();
        if !self.file.has_failed() {
            self.report_gap();
        }
        let pid = self.core.pid;
        let buffer = self.core.buffer.stats();
        let pinned_buffer = self.core.pinned().map(|pinned| pinned.buffer.stats());
        self.own_packet(|to| trace_stats(to, &buffer, pinned_buffer.as_ref()));
        self.own_packet(|to| append_instant(to, pid, clock::boottime(), what));
        let (losses, reported) = self.totals();
        let passed_over = self.dictionary.passed_over(reported.iter().copied());
        let Finished { bytes, counts, lost, gap, error } = self.file.finish();
        let counts = counts.except(&lost);
        let groups = self.dictionary.groups(&counts, &losses);
        let messages = counts.messages();
        let mut summary = Summary { messages, bytes, losses, groups, buffer, ..Summary::default() };
        summary.pinned_buffer = pinned_buffer;
        summary.passed_over = passed_over;
        summary.has_spans = counts.has_spans();
        TraceEnd { summary, reported, before: self.before, gap, error }
    }

    /// Finishes a sequence: names its thread, in Perfetto's terms and in ours, and reports drops
    /// since its last chunk began. State is cleared, since Perfetto skips the name of a sequence
    /// that never had any: one that found no chunk at all.
    pub(in crate::session) fn finish_sequence(&mut self, writer: &Writer, more: Option<LossCount>) {
        let pid = self.core.pid;
        let thread = &writer.thread;
        let mut losses = self.take_unreported(&writer.losses);
        losses.extend(more);
        self.packet(sequence_id(writer.id), |to| append_sequence_end(to, pid, thread, &losses));
        self.count(&losses);
    }

    /// Reports the messages of writers that limits have suppressed, and sampling has passed over,
    /// since their last chunks began, on the session's own sequence where the file has no packets
    /// of the writer: `written` says of which it has some. Returns whether there were any.
    pub(in crate::session) fn report_held_back(&mut self, written: &HashSet<u16>) -> bool {
        let mut has_any = false;
        for writer in self.core.all_writers() {
            // Of repeats there is a message, whose chunk is not copied yet.
            let losses = writer.losses.take_held_back(written.contains(&writer.id));
            if losses.is_empty() {
                continue;
            }
            has_any = true;
            if written.contains(&writer.id) {
                let (pid, thread) = (self.core.pid, &writer.thread);
                self.packet(sequence_id(writer.id), |to| {
                    append_losses_of(to, pid, thread, &losses);
                });
            } else {
                self.own_packet(|to| append_losses(to, &losses));
            }
            self.count(&losses);
        }
        has_any
    }

    /// Reports the drops of threads that had no sequence.
    fn report_unattributed(&mut self) {
        let core = Arc::clone(&self.core);
        let mut losses = Vec::new();
        for ring in core.arbiter.rings() {
            losses.extend(self.take_unreported(&ring.unattributed));
        }
        let dictionary = &self.dictionary;
        if !self.core.is_scoped() {
            losses.extend(UNATTRIBUTED.take_since(&mut self.before, |group, severity| {
                let levels =
                    dictionary.group(group).map(|name| self.core.owner.filter.levels(name));
                levels.is_none_or(|levels| levels & 1 << severity != 0)
            }));
        }
        if !losses.is_empty() {
            self.own_packet(|to| append_losses(to, &losses));
            self.count(&losses);
        }
    }

    /// Counts drops that the trace reports.
    fn count(&self, losses: &[LossCount]) {
        for lost in losses {
            self.reported.add(lost.group, lost.cause, lost.count);
        }
    }

    /// Takes the drops that no packet of the trace reports yet. Those of a buffer that is no stream
    /// stay, since there may be several traces of it.
    fn take_unreported(&mut self, losses: &LossCounters) -> Vec<LossCount> {
        let mut taken = Vec::new();
        losses.take(|lost| {
            taken.push(lost);
            true
        });
        if !self.core.is_stream() {
            for lost in &taken {
                losses.restore(*lost);
            }
            self.leave_out_copied(&mut taken);
        }
        taken
    }

    /// Notes the records in a packet that is copied, of repeated messages of a session that keeps
    /// messages in memory: its counters have them, too.
    pub(in crate::session) fn note_records(&mut self, packet: &[u8]) {
        // As nearly all packets are.
        if packet.first().is_none_or(|first| *first == MESSAGE) {
            return;
        }
        for lost in records(packet) {
            self.count(&[lost]);
            self.copied.push(lost);
        }
    }

    /// Takes what the trace has in packets off counts, and tells those that were overwritten from
    /// those that no packet reports.
    fn leave_out_copied(&mut self, taken: &mut Vec<LossCount>) {
        let mut overwritten = Vec::new();
        for lost in taken.iter_mut().filter(|lost| lost.recorded > 0) {
            let of = (lost.group, lost.message);
            let is_same = |it: &LossCount| (it.group, it.message) == of;
            let same = self.copied.iter().filter(|it| is_same(it));
            let copied: u64 = same.map(|it| it.count).sum();
            self.copied.retain(|it| !is_same(it));
            lost.count = lost.count.saturating_sub(lost.recorded);
            let count = lost.recorded.saturating_sub(copied);
            overwritten.push(LossCount::new(lost.group, lost.cause, count));
        }
        taken.extend(overwritten);
        taken.retain(|lost| lost.count > 0);
    }

    /// Reports drops on a sequence before `time`, when its next packet begins. `info` names its
    /// thread: nothing else of the sequence may be in the trace before.
    pub(in crate::session) fn report_gap_of(
        &mut self,
        sequence: u32,
        time: u64,
        info: &[u8],
        lost: LossCount,
    ) {
        self.packet(sequence, |to| {
            // Of the trace's clock, since the state is cleared.
            to.uint64(packet::TIMESTAMP, time)
                .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED)
                .uint32(packet::PREVIOUS_PACKET_DROPPED, 1)
                .bytes(packet::SEQUENCE_INFO, info);
            append_losses(to, &[lost]);
        });
        self.count(&[lost]);
    }

    /// Says that the trace has the messages of some requests, and how many others were left out.
    pub(in crate::session) fn report_filtered(&mut self, left_out: u64) {
        self.own_packet(|to| {
            to.nested(packet::FILTERED).uint64(filtered::MESSAGES, left_out);
        });
    }

    /// Returns all drops that the trace reports, with the names of groups and with their ids.
    fn totals(&self) -> (Vec<Loss>, Vec<LossCount>) {
        for ring in self.core.arbiter.rings() {
            ring.reported.take(|lost| {
                self.reported.add(lost.group, lost.cause, lost.count);
                true
            });
        }
        let reported = self.reported.pending();
        (self.dictionary.losses(reported.iter().copied()), reported)
    }

    /// Returns the drops reported so far.
    pub(in crate::session) fn reported(&self) -> Vec<LossCount> {
        self.reported.pending()
    }

    /// Writes the texts of messages copied since the last call that have none yet: they came with a
    /// library meanwhile.
    pub(in crate::session) fn write_missing_texts(&mut self) {
        if self.file.counts.take_new().iter().any(|id| !self.dictionary.has(*id)) {
            self.write_interned();
            self.write_module_texts();
        }
    }

    /// Writes texts of loaded modules that the trace does not have yet.
    pub(in crate::session) fn write_module_texts(&mut self) {
        let file = &mut self.file;
        self.dictionary.write_modules(&mut |packet| file.packet(OWN_SEQUENCE, packet));
    }

    /// Writes texts that were interned at run time.
    pub(in crate::session) fn write_interned(&mut self) {
        let file = &mut self.file;
        self.dictionary.write_interned(&mut |packet| file.packet(OWN_SEQUENCE, packet));
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

/// Appends a snapshot of the clocks, with sizes of one byte, as Java writes it.
fn append_clocks(to: &mut Message<'_, Heap>, now: &Clocks) {
    let mut snapshot = Fields::<64>::new();
    for (id, nanos) in now {
        let mut record = Fields::<16>::new();
        record.add(|to| {
            to.uint32(clock_field::CLOCK_ID, *id).uint64(clock_field::TIMESTAMP, *nanos);
        });
        snapshot.nested(clock_snapshot::CLOCKS, &record);
    }
    snapshot.add(|to| {
        to.uint32(clock_snapshot::PRIMARY_TRACE_CLOCK, clock_id::BOOTTIME);
    });
    to.bytes(packet::CLOCK_SNAPSHOT, snapshot.bytes());
}

/// Returns whether the wall clock was set between two snapshots.
fn is_set(before: &Clocks, now: &Clocks) -> bool {
    let distance = |[(_, wall), _, (_, boot)]: &Clocks| wall.wrapping_sub(*boot);
    let moved = distance(now).wrapping_sub(distance(before)) as i64;
    moved.unsigned_abs() >= MIN_CLOCK_STEP
}

/// Appends statistics of the buffers, in Perfetto's fields and in ours; those of the session's
/// usual buffer last, as which readers take them.
fn trace_stats(to: &mut Message<'_, Heap>, stats: &BufferStats, pinned: Option<&BufferStats>) {
    let mut all = to.nested(packet::TRACE_STATS);
    for stats in pinned.into_iter().chain([stats]) {
        buffer_stats(&mut all, stats);
    }
}

fn buffer_stats(to: &mut Message<'_, Heap>, stats: &BufferStats) {
    to.nested(trace_stats::BUFFER_STATS)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::{add_all, hex};

    /// Java's tests have the same vectors.
    #[test]
    fn losses_and_clocks_match_the_vectors() {
        let vectors = include_str!("../../../../protolog-core/testdata/session.tsv");
        let mut checked = [0, 0];
        for row in vectors.lines().skip(1) {
            let [kind, input, expected] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let mut writer = protozero::Writer::new(Heap::new());
            match kind {
                "losses" => {
                    let (counters, mut losses) = (LossCounters::new(), Vec::new());
                    add_all(&counters, input);
                    counters.take(|lost| {
                        losses.push(lost);
                        true
                    });
                    append_losses(&mut writer.message(), &losses);
                    checked[0] += 1;
                }
                "clocks" => {
                    let times: Vec<u64> =
                        input.split(' ').map(|time| time.parse().unwrap()).collect();
                    // The ids in the order of `clock::snapshot`.
                    let ids = clock::snapshot().map(|(id, _)| id);
                    let now: Clocks = std::array::from_fn(|at| (ids[at], times[at]));
                    append_clocks(&mut writer.message(), &now);
                    checked[1] += 1;
                }
                // See `writer/state.rs`.
                _ => continue,
            }
            assert_eq!(hex(&writer.into_vec().unwrap()), expected, "{kind} {input}");
        }
        assert!(checked[0] > 5 && checked[1] > 3);
    }

    #[test]
    fn a_set_clock_differs_from_a_running_one() {
        const HOUR: u64 = 3_600_000_000_000;
        let clocks = |wall: u64, boot: u64| [(1, wall), (3, boot), (6, boot)];
        let before = clocks(50 * HOUR, 3 * HOUR);
        for (wall, is) in [
            (51 * HOUR, false),
            (51 * HOUR + MIN_CLOCK_STEP - 1, false),
            (51 * HOUR - MIN_CLOCK_STEP + 1, false),
            (51 * HOUR + MIN_CLOCK_STEP, true),
            (51 * HOUR - MIN_CLOCK_STEP, true),
            (0, true),
            (20_000 * HOUR, true),
        ] {
            assert_eq!(is_set(&before, &clocks(wall, 4 * HOUR)), is, "{wall}");
        }
        // Set to before the machine was started.
        assert!(!is_set(&clocks(0, 3 * HOUR), &clocks(HOUR, 4 * HOUR)));
    }
}
