//! The log: all messages and losses of a trace in the order of time, with the data to show them.

pub(crate) mod completed_stats;
pub(crate) mod empty_log;
pub(crate) mod entry;
pub(crate) mod fast_values;
pub(crate) mod line_plan;
pub(crate) mod log_items;
pub(crate) mod render;
pub(crate) mod repeats;
pub(crate) mod values;

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use protolog_core::schema::clock_id;

use crate::bytes::blocks::{BlockHint, Blocks};
use crate::clocks::Moment;
use crate::clocks::relations::{Route, Routes, Stretch};
use crate::decode::collect::{Collected, MessageRecord};
use crate::decode::record_order;
use crate::dictionary::Dictionary;
use crate::inputs::pid_apart::pid_apart;
use crate::log::repeats::{EarlierTexts, RepeatedRecords};
use crate::losses::loss::{Loss, LossReason};
use crate::losses::passed_over::PassedOver;
use crate::losses::stats::Stats;
use crate::sequences::session_filter::CommonFilter;
use crate::sequences::thread::{Thread, Threads};
use crate::spans;
use crate::spans::around::{SpanAround, ThreadSlices};
use crate::spans::slices::{SliceEdge, SliceRepair, Slices};
use crate::spans::span_slice::SpanSlice;

/// The log of a trace.
#[derive(Debug)]
pub struct Log {
    /// Times are nanoseconds of the trace's clock. Records are sorted by time; those of one time
    /// are in packet order.
    collected: Collected,
    losses: Vec<Loss>,
    /// Repeats on later pages, and the texts of messages on earlier ones that they are of.
    repeats_ahead: Vec<Loss>,
    earlier_texts: EarlierTexts,
    /// The messages of this page that its repeats may be of, once somebody asks.
    repeated_records: OnceLock<RepeatedRecords>,
    /// Those of all pages.
    passed_over: Vec<PassedOver>,
    slices: Slices,
    thread_slices: ThreadSlices,
    /// Begins and ends of spans that are in this page, as indices, and the first one that is in a
    /// later page.
    edges: Range<usize>,
    next_edge: usize,
    /// The route to the wall clock, if the trace relates it to its own clock.
    wall: Option<Route>,
    /// Symbolized stack traces, by the index of their string.
    symbolized: HashMap<u32, String>,
    /// The times of the first and the last entry of all pages.
    span: Option<(i64, i64)>,
}

impl Log {
    /// Sorts everything by time, after converting it to the trace's clock, and completes the
    /// dictionary.
    pub(crate) fn new(
        mut collected: Collected,
        files: &[viewer_config::Dictionary],
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
    ) -> Self {
        for file in files {
            Arc::make_mut(&mut collected.dictionary).fill_from(file);
        }
        let missing: Vec<u64> = collected.dictionary.missing().collect();
        for file in missing.into_iter().filter_map(find) {
            Arc::make_mut(&mut collected.dictionary).fill_from(&file);
        }
        Threads::name(&mut collected.threads, &collected.thread_names);
        let relations = mem::take(&mut collected.relations);
        let mut routes = relations.routes(relations.trace_clock());
        let first = collected.first.map_or(Moment::UNKNOWN, Moment::guess);
        let mut convert = |moment: &mut Moment| {
            if *moment == Moment::UNKNOWN {
                *moment = first;
            }
            convert_to_trace_clock(moment, &mut routes);
        };
        for record in &mut collected.records {
            convert(&mut record.moment);
            collected.stats.guessed_times += u64::from(record.moment.guessed);
        }
        record_order::sort(&mut collected.records);
        let mut losses = Vec::with_capacity(collected.losses.0.len());
        for mut found in mem::take(&mut collected.losses).0 {
            convert(&mut found.moment);
            let mut loss = found.converted(found.moment);
            loss.group = group_of(&collected, loss.thread, loss.group);
            losses.push(loss);
        }
        losses.sort_by_key(|loss| (loss.time, loss.guessed));
        let mut passed_over = mem::take(&mut collected.passed_over).converted(&mut convert);
        for it in &mut passed_over {
            it.group = group_of(&collected, it.thread, it.group);
        }
        let mut slices = collected.slices.finish(convert);
        spans::names::name(&mut slices.list, |id| {
            collected.dictionary.message(id).map(|known| (known.template(), known.names()))
        });
        let thread_slices = ThreadSlices::of(&slices.list);
        let wall = routes.back_to(clock_id::REALTIME);
        let edges = 0..slices.edges.len();
        let (symbolized, span, next_edge) = (HashMap::new(), None, edges.end);
        Self {
            collected,
            losses,
            repeats_ahead: Vec::new(),
            earlier_texts: EarlierTexts::new(),
            repeated_records: OnceLock::new(),
            passed_over,
            slices,
            thread_slices,
            edges,
            next_edge,
            wall,
            symbolized,
            span,
        }
    }

    /// Makes the log one of several pages, with these times of first and last entries.
    pub(crate) fn begin_pages(&mut self, spans: impl Iterator<Item = (i64, i64)>) {
        self.span = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let is_repeat = |loss: &&Loss| loss.message.is_some();
        self.repeats_ahead = self.losses.iter().filter(is_repeat).copied().collect();
        self.next_edge = 0;
    }

    /// The contents of the log, for readers of its pages.
    pub(crate) fn collected_mut(&mut self) -> &mut Collected {
        self.repeated_records = OnceLock::new();
        &mut self.collected
    }

    /// Makes this the log of the next page: its entries and losses, by time, and the spans that
    /// begin or end before `limit`; if there is none, all that are left. Returns the parts of the
    /// page before.
    pub(crate) fn turn_page(
        &mut self,
        collected: Collected,
        losses: Vec<Loss>,
        limit: Option<i64>,
    ) -> Collected {
        self.symbolized.clear();
        if !self.repeats_ahead.is_empty() {
            let texts = self.texts_for(&self.repeats_ahead);
            self.earlier_texts = texts;
            let here = losses.iter().filter(|loss| loss.message.is_some()).count();
            self.repeats_ahead.drain(..here.min(self.repeats_ahead.len()));
        }
        self.losses = losses;
        self.repeated_records = OnceLock::new();
        let edges = &self.slices.edges;
        let is_before = |edge: &SliceEdge| limit.is_none_or(|limit| edge.time < limit);
        let end = edges.partition_point(is_before).max(self.next_edge);
        self.edges = self.next_edge..end;
        self.next_edge = end;
        mem::replace(&mut self.collected, collected)
    }

    /// Leaves out begins and ends of spans before this time. Before the first page only.
    pub(crate) fn skip_edges(&mut self, time: i64) {
        self.next_edge = self.slices.edges.partition_point(|edge| edge.time < time);
    }

    /// Makes this the log of all pages, without entries.
    pub(crate) fn end_pages(&mut self, collected: Collected, losses: Vec<Loss>) {
        self.next_edge = 0;
        self.turn_page(collected, losses, None);
    }

    /// The time of the first begin or end of a span that is in a later page.
    pub(crate) fn next_edge_time(&self) -> Option<i64> {
        self.slices.edges.get(self.next_edge).map(|edge| edge.time)
    }

    /// The times of the first and the last item of all pages, in nanoseconds of the trace's clock.
    pub fn span(&self) -> Option<(i64, i64)> {
        let records = &self.collected.records;
        let entries = records.first().zip(records.last());
        let entries = self.span.or(entries.map(|(first, last)| (first.moment.ns, last.moment.ns)));
        let losses = self.losses.first().zip(self.losses.last());
        let losses = losses.map(|(first, last)| (first.time, last.time));
        let edges = &self.slices.edges;
        let edges = edges.first().zip(edges.last()).map(|(first, last)| (first.time, last.time));
        let all = entries.into_iter().chain(losses).chain(edges);
        all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The collected packets that the log was made of, without its losses and its relations of
    /// clocks.
    pub(crate) fn into_collected(self) -> Collected {
        self.collected
    }

    /// All losses, by time.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The messages that sampling passed over, by time: those of all pages. They are not lost.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// The ids of the requests that messages belong to, each once: those of the pages so far.
    pub fn requests(&self) -> impl Iterator<Item = &str> {
        self.collected.requests.ids()
    }

    /// The request of the message at this address.
    #[inline]
    pub(crate) fn request_at(&self, at: u64) -> Option<&str> {
        let requests = &self.collected.requests;
        if requests.are_none() { None } else { requests.of(at) }
    }

    /// The spans that threads were in, by their begin, if the trace was read with them.
    pub fn slices(&self) -> &[SpanSlice] {
        &self.slices.list
    }

    /// Returns whether spans are known that messages may have been logged in.
    pub(crate) fn has_spans_around(&self) -> bool {
        !self.thread_slices.is_empty()
    }

    /// The spans that a thread was in at this time, the outermost first.
    pub(crate) fn spans_at(&self, thread: u32, time: i64) -> Vec<SpanAround<'_>> {
        self.thread_slices.spans_at(self.slices(), thread, time)
    }

    /// The spans around a slice, and itself, the outermost first.
    pub fn spans_at_slice(&self, slice: &SpanSlice) -> Vec<SpanAround<'_>> {
        self.thread_slices.spans_at_slice(self.slices(), slice)
    }

    /// Edges of spans that were lost, for readers that match ends by their order alone.
    pub(crate) fn slice_repairs(&self) -> &[SliceRepair] {
        &self.slices.repairs
    }

    /// Number of spans that are left out since their begin is not in the trace.
    pub fn slices_without_begin(&self) -> u64 {
        self.slices.unmatched
    }

    /// The thread that was in a span.
    pub fn thread_of_slice(&self, slice: &SpanSlice) -> &Thread {
        self.thread(slice.thread_index())
    }

    /// The tag of the group that a span's target is; of an unknown one the target.
    pub fn tag_of_slice<'a>(&'a self, slice: &'a SpanSlice) -> &'a str {
        match self.dictionary().group_of_name(&slice.target) {
            Some(group) if !group.tag.is_empty() => &group.tag,
            _ => &slice.target,
        }
    }

    /// Those in this page.
    pub(crate) fn slice_edges(&self) -> &[SliceEdge] {
        self.slices.edges.get(self.edges.clone()).unwrap_or_default()
    }

    /// Statistics of the reading, and of everything that went wrong.
    pub fn stats(&self) -> &Stats {
        &self.collected.stats
    }

    /// Returns whether all that is in the trace was read. What the program or the tracing service
    /// lost before is another matter: see [`losses`](Self::losses).
    pub fn is_complete(&self) -> bool {
        let stats = self.stats();
        let bundles = stats.broken_bundles + stats.oversized_bundles + stats.cut_bundles;
        let malformed = stats.lost.keys().any(|(reason, _)| *reason == LossReason::Malformed);
        let skipped = stats.skipped_bytes + stats.damaged_bytes;
        let is_damaged = malformed || stats.malformed_elements + skipped > 0;
        stats.ended_early.is_none() && bundles + stats.cut_texts == 0 && !is_damaged
    }

    /// The bytes that the entries of this page were read from.
    pub fn size(&self) -> usize {
        self.collected.blocks.size()
    }

    /// The dictionary of the messages.
    pub fn dictionary(&self) -> &Dictionary {
        &self.collected.dictionary
    }

    /// Texts of messages on earlier pages that repeats may be of.
    pub(crate) fn earlier_texts(&self) -> &EarlierTexts {
        &self.earlier_texts
    }

    /// The thread that a loss belongs to.
    pub fn thread_of(&self, loss: &Loss) -> &Thread {
        self.thread(loss.thread)
    }

    /// The thread whose messages sampling passed over.
    pub fn thread_of_passed_over(&self, passed_over: &PassedOver) -> &Thread {
        self.thread(passed_over.thread)
    }

    /// The threads of all sequences, each once, in no particular order.
    pub fn threads(&self) -> &[Thread] {
        self.collected.threads.known()
    }

    /// The name of a thread's process, if the trace has it.
    pub fn process_name(&self, thread: &Thread) -> Option<&str> {
        let (pid, processes) = (thread.pid?, &self.collected.processes);
        let own = thread.process.and_then(|process| processes.get(&(pid, Some(process))));
        let name = own.or_else(|| processes.get(&(pid, None)));
        name.map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The pid by which readers know the process that know nothing else of it: not its own one
    /// where a merge told several apart.
    pub(crate) fn pid_apart(&self, thread: &Thread) -> Option<u32> {
        let apart = thread.pid.zip(thread.process).map(|(pid, process)| pid_apart(pid, process));
        apart.filter(|pid| self.collected.told_apart.contains(pid)).or(thread.pid)
    }

    /// The number of the track of a thread's process, if the trace has it.
    pub(crate) fn process_track(&self, thread: &Thread) -> Option<u64> {
        let tracks = &self.collected.process_tracks;
        let of = |pid| tracks.get(&pid).copied();
        self.pid_apart(thread).and_then(of).or_else(|| thread.claimed.and_then(of))
    }

    /// The name of the process with this id, the last one that the trace has.
    pub fn name_of_pid(&self, pid: u32) -> Option<&str> {
        self.process_name(&Thread { pid: Some(pid), ..Thread::default() })
    }

    /// The wall clock, in nanoseconds since 1970 (UTC), at a time of the trace; none if the trace
    /// does not relate the two.
    pub fn wall_time(&self, time: i64) -> Option<i64> {
        self.wall.as_ref().map(|wall| wall.convert(time))
    }

    /// The times around `time` at which the wall clock is as far ahead of the trace's as then.
    pub(crate) fn wall_stretch(&self, time: i64) -> Option<Stretch> {
        self.wall.as_ref().map(|wall| wall.stretch(time))
    }

    /// The times of the trace's clock, in nanoseconds, before which the wall clock is certain to be
    /// less than `wall`, and from which on it is certain not to be; none if the trace does not
    /// relate the two. They differ if the wall clock was set.
    pub fn times_at_wall(&self, wall: i64) -> Option<(i64, i64)> {
        self.wall.as_ref().map(|route| route.convert_back(wall))
    }

    /// The filter of the sessions.
    pub(crate) fn filter(&self) -> &CommonFilter {
        self.collected.sessions.filter()
    }

    /// Returns whether the trace has begins or ends of spans, whether it was read with them or not.
    pub fn has_spans(&self) -> bool {
        self.collected.sessions.has_spans()
    }

    /// The nanoseconds for which the one session ran.
    pub(crate) fn session_duration(&self) -> Option<u64> {
        self.collected.sessions.duration()
    }

    /// All messages, by time.
    pub(crate) fn records(&self) -> &[MessageRecord] {
        &self.collected.records
    }

    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        &mut self.collected.stats
    }

    pub(crate) fn blocks(&self) -> &Blocks {
        &self.collected.blocks
    }

    pub(crate) fn thread(&self, index: u32) -> &Thread {
        self.collected.threads.get(index)
    }

    /// The string with this index; none for the two reserved indices.
    pub(crate) fn interned(&self, index: u32) -> Option<&str> {
        let span = self.collected.strings.get(index as usize)?;
        Some(self.collected.blocks.text(*span))
    }

    /// The bytes of the string with this index, which are UTF-8, near where the last ones were:
    /// those with the rest of their block, and their number.
    #[inline]
    pub(crate) fn interned_near(&self, index: u32, hint: &mut BlockHint) -> Option<(&[u8], usize)> {
        let span = self.collected.strings.get(index as usize)?;
        Some((self.collected.blocks.window_near(*span, hint), span.len as usize))
    }

    /// Rehints each stack trace by the result of `symbolize`, for traces that hold addresses.
    pub fn symbolize_stack_traces(&mut self, mut symbolize: impl FnMut(&str) -> String) {
        let traces: BTreeSet<u32> =
            self.collected.records.iter().map(|record| record.stack_trace).collect();
        for index in traces {
            if let Some(text) = self.interned(index).map(&mut symbolize) {
                self.symbolized.insert(index, text);
            }
        }
    }

    /// The stack trace with this index.
    pub(crate) fn stack_trace(&self, index: u32) -> Option<&str> {
        self.symbolized.get(&index).map(String::as_str).or_else(|| self.interned(index))
    }

    /// Indices of strings, from the first one of a message on.
    pub(crate) fn strings_from(&self, first: usize) -> &[u32] {
        self.collected.string_refs.get(first..).unwrap_or_default()
    }
}

/// Converts a moment of any clock to the trace's clock.
fn convert_to_trace_clock(moment: &mut Moment, routes: &mut Routes<'_>) {
    match routes.convert_moment(moment.clock, moment.ns) {
        Some(ns) => moment.ns = ns,
        None => moment.guessed = true,
    }
}

/// Returns the id of a group here that the process of a thread gives another id, maybe.
fn group_of(collected: &Collected, thread: u32, group: Option<u32>) -> Option<u32> {
    let origin = collected.threads.get(thread).origin;
    group.map(|id| collected.dictionary.group_of(origin, id))
}
