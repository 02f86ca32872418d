//! Losses, what sampling passed over, and spans as rows of their tables.
//!
//! Each row says how many messages of its trace come before it, and its place among losses and
//! spans: so the order of all items is that of the trace.

use std::collections::BTreeMap;

use foldhash::HashMap;
use protolog_reader::{Level, Log, Loss, SpanSlice, Thread};

use super::json::span_args;
use super::messages::{RowOrigin, wall_and_offset};
use super::partition::day;
use super::table::Cell;

/// The place of an item that is no message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemPlace {
    /// The number of messages of the trace before it.
    pub(super) after: u64,
    /// Its number among those that are no messages.
    pub(super) number: u64,
}

/// A loss.
pub(super) struct LossRow<'a> {
    pub(super) log: &'a Log,
    pub(super) loss: &'a Loss,
    pub(super) place: ItemPlace,
}

impl LossRow<'_> {
    pub(super) fn process(&self) -> Option<&str> {
        self.log.process_name(self.log.thread_of(self.loss))
    }

    /// Calls `take` with the cells of the row.
    pub(super) fn with_cells<T>(
        &self,
        origin: &RowOrigin<'_>,
        take: impl FnOnce(&[Cell<'_>]) -> T,
    ) -> T {
        let (log, loss) = (self.log, self.loss);
        let (time, offset) = wall_and_offset(log, loss.time);
        let group = loss.group.map(|id| log.dictionary().group_name(id));
        let [pid, tid, process, thread] = thread_cells(log, log.thread_of(loss));
        take(&[
            Cell::Int(time),
            offset.into(),
            Cell::Bool(loss.time_is_guess()),
            Cell::Text(origin.source),
            origin.host.into(),
            pid,
            tid,
            process,
            thread,
            Cell::Text(loss.reason.name()),
            group.as_deref().into(),
            loss.count.map(|count| count as i64).into(),
            loss.from.map(|from| loss.time.wrapping_sub(from)).into(),
            Cell::Int(self.place.after as i64),
            Cell::Int(self.place.number as i64),
            Cell::Null,
            Cell::Null,
        ])
    }
}

/// A process whose session has no end.
pub(super) struct Unended<'a> {
    pub(super) log: &'a Log,
    pub(super) pid: u32,
    /// The time of the last item.
    pub(super) time: i64,
    pub(super) place: ItemPlace,
}

/// The reason in the row of a process whose session has no end.
pub(super) const UNENDED: &str = "unended";

impl Unended<'_> {
    /// Calls `take` with the cells of the row.
    pub(super) fn with_cells<T>(
        &self,
        origin: &RowOrigin<'_>,
        take: impl FnOnce(&[Cell<'_>]) -> T,
    ) -> T {
        let (time, offset) = wall_and_offset(self.log, self.time);
        take(&[
            Cell::Int(time),
            offset.into(),
            Cell::Bool(true),
            Cell::Text(origin.source),
            origin.host.into(),
            Cell::Int(self.pid.into()),
            Cell::Null,
            self.log.name_of_pid(self.pid).into(),
            Cell::Null,
            Cell::Text(UNENDED),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Int(self.place.after as i64),
            Cell::Int(self.place.number as i64),
            Cell::Null,
            Cell::Null,
        ])
    }
}

/// Messages of one process, group, level and day that sampling passed over.
pub(super) struct PassedOverRow<'a> {
    log: &'a Log,
    pid: Option<u32>,
    pub(super) process: Option<&'a str>,
    group: Option<u32>,
    level: Option<Level>,
    /// The time of the last record about them.
    pub(super) time: i64,
    time_is_guess: bool,
    count: u64,
}

/// The reason in the row of messages that sampling passed over.
pub(super) const PASSED_OVER: &str = "passed_over";

/// What sampling passed over in all of a log, in an order that the log alone decides.
pub(super) fn passed_over(log: &Log) -> Vec<PassedOverRow<'_>> {
    let mut rows = BTreeMap::new();
    for one in log.passed_over() {
        let thread = log.thread_of_passed_over(one);
        let process = log.process_name(thread);
        let of_day = log.wall_time(one.time).map(day);
        let key = (of_day, thread.pid, process, one.group, one.level);
        let row = rows.entry(key).or_insert_with(|| PassedOverRow {
            log,
            pid: thread.pid,
            process,
            group: one.group,
            level: one.level,
            time: one.time,
            time_is_guess: false,
            count: 0,
        });
        // They are by time.
        (row.time, row.time_is_guess) = (one.time, one.time_is_guess());
        row.count = row.count.saturating_add(one.count);
    }
    rows.into_values().collect()
}

impl PassedOverRow<'_> {
    /// Calls `take` with the cells of the row.
    pub(super) fn with_cells<T>(
        &self,
        origin: &RowOrigin<'_>,
        place: ItemPlace,
        take: impl FnOnce(&[Cell<'_>]) -> T,
    ) -> T {
        let (time, offset) = wall_and_offset(self.log, self.time);
        let group = self.group.map(|id| self.log.dictionary().group_name(id));
        take(&[
            Cell::Int(time),
            offset.into(),
            Cell::Bool(self.time_is_guess),
            Cell::Text(origin.source),
            origin.host.into(),
            self.pid.into(),
            Cell::Null,
            self.process.into(),
            Cell::Null,
            Cell::Text(PASSED_OVER),
            group.as_deref().into(),
            // They are in no sum of what is lost.
            Cell::Null,
            Cell::Null,
            Cell::Int(place.after as i64),
            Cell::Int(place.number as i64),
            self.level.map(Level::name).into(),
            Cell::Int(i64::try_from(self.count).unwrap_or(i64::MAX)),
        ])
    }
}

/// The spans that have begun and not ended, by their place in the log's list.
#[derive(Default)]
pub(super) struct SpanRows {
    open: HashMap<SliceKey, ItemPlace>,
}

/// The key of a slice within one log: its address, which stays the same.
type SliceKey = usize;

fn key(slice: &SpanSlice) -> SliceKey {
    std::ptr::from_ref(slice).addr()
}

/// A span.
pub(super) struct SpanRow<'a> {
    log: &'a Log,
    slice: &'a SpanSlice,
    begin: ItemPlace,
    end: Option<ItemPlace>,
}

impl SpanRows {
    /// Notes the place of a begin.
    pub(super) fn begin(&mut self, slice: &SpanSlice, place: ItemPlace) {
        self.open.insert(key(slice), place);
    }

    /// The row of a span that ends there, or has no end.
    pub(super) fn end<'a>(
        &mut self,
        log: &'a Log,
        slice: &'a SpanSlice,
        end: Option<ItemPlace>,
    ) -> Option<SpanRow<'a>> {
        let begin = self.open.remove(&key(slice))?;
        Some(SpanRow { log, slice, begin, end })
    }

    /// The spans without an end.
    pub(super) fn open<'a>(&self, log: &'a Log) -> Vec<&'a SpanSlice> {
        log.slices().iter().filter(|slice| self.open.contains_key(&key(slice))).collect()
    }
}

impl SpanRow<'_> {
    pub(super) fn process(&self) -> Option<&str> {
        self.log.process_name(self.log.thread_of_slice(self.slice))
    }

    /// Calls `take` with the cells of the row.
    pub(super) fn with_cells<T>(
        &self,
        origin: &RowOrigin<'_>,
        take: impl FnOnce(&[Cell<'_>]) -> T,
    ) -> T {
        let (log, slice) = (self.log, self.slice);
        let (time, offset) = wall_and_offset(log, slice.begin);
        let end_time = slice.end_time().map(|end| wall_and_offset(log, end).0);
        let [pid, tid, process, thread] = thread_cells(log, log.thread_of_slice(slice));
        let begin_args = span_args(&slice.args[..slice.begin_args.min(slice.args.len())]);
        let args = span_args(&slice.args);
        let number = |number: Option<u64>| Cell::from(number.map(|number| number as i64));
        take(&[
            Cell::Int(time),
            offset.into(),
            end_time.into(),
            slice.duration().into(),
            slice.longest().into(),
            number(slice.busy()),
            number(slice.age()),
            Cell::Bool(slice.end_time().is_none() && !slice.may_end),
            Cell::Text(origin.source),
            origin.host.into(),
            pid,
            tid,
            process,
            thread,
            Cell::Text(&slice.name),
            Cell::Text(&slice.target),
            number(slice.number()),
            Cell::Int(slice.depth.into()),
            Cell::Text(&begin_args),
            Cell::Text(&args),
            Cell::Int(self.begin.after as i64),
            Cell::Int(self.begin.number as i64),
            number(self.end.map(|end| end.after)),
            number(self.end.map(|end| end.number)),
        ])
    }
}

fn thread_cells<'a>(log: &'a Log, thread: &'a Thread) -> [Cell<'a>; 4] {
    [
        thread.pid.into(),
        thread.tid.into(),
        log.process_name(thread).into(),
        thread.name.as_deref().into(),
    ]
}
