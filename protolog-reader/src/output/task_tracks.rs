//! Tracks of tasks, for Perfetto's UI: on the tracks of threads, a task is a slice for each poll,
//! now here and now there.
//!
//! A task is a span that has several slices, and that is in no other such span. Its track has it
//! from its first begin to its last end, and within it the spans that it made, each as one slice.
//! Spans that run at the same time within a task, such as those of futures that are joined, are not
//! nested, so the later one is on a further track. Of more than [`MOST_TRACKS`] at a time, the rest
//! are on the tracks of threads alone.
//!
//! Invariant: slices of a track are nested, and each but the outermost lies within the span in
//! which it began.

use std::collections::HashMap;

use crate::log::Log;

/// The most tracks of a task: so that a trace of any bytes takes a time in proportion to it.
const MOST_TRACKS: usize = 64;

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    /// Its first slice, by its index.
    pub(super) slice: usize,
    /// The edges on each of its tracks, in the order of their times.
    pub(super) tracks: Vec<Vec<TaskEdge>>,
}

/// The begin or the end of a span of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskEdge {
    pub(super) time: i64,
    /// At a begin, the first slice of the span.
    pub(super) begins: Option<usize>,
}

/// A span: all slices with its number, or the one that it has.
#[derive(Clone, Copy, Debug)]
struct WholeSpan {
    /// Its first slice, and the time of its begin.
    slice: usize,
    begin: i64,
    /// The last end; none if it is not in the trace.
    end: Option<i64>,
    has_several: bool,
    /// The span in which it began.
    outer: Option<usize>,
}

/// A track while it is filled.
#[derive(Debug, Default)]
struct Lane {
    edges: Vec<TaskEdge>,
    /// Open spans, the innermost last.
    open: Vec<usize>,
}

/// The tasks of a log, in the order in which they began.
pub(super) fn tasks(log: &Log) -> Vec<Task> {
    let spans = spans(log);
    let mut task_of: Vec<Option<usize>> = Vec::with_capacity(spans.len());
    let mut members: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut places = HashMap::new();
    for (at, span) in spans.iter().enumerate() {
        let around = span.outer.and_then(|outer| task_of[outer]);
        let task = around.or_else(|| span.has_several.then_some(at));
        task_of.push(task);
        let Some(task) = task else { continue };
        let place = *places.entry(task).or_insert(members.len());
        if place == members.len() {
            members.push((task, Vec::new()));
        }
        members[place].1.push(at);
    }
    let task = |(task, members): (usize, Vec<usize>)| Task {
        slice: spans[task].slice,
        tracks: tracks(&spans, &members),
    };
    members.into_iter().map(task).collect()
}

/// The spans of a log, in the order in which they began.
fn spans(log: &Log) -> Vec<WholeSpan> {
    let mut spans: Vec<WholeSpan> = Vec::new();
    let mut numbered = HashMap::new();
    let mut threads: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, slice) in log.slices().iter().enumerate() {
        let around = threads.entry(slice.thread_index()).or_default();
        around.truncate(slice.depth as usize);
        let process = log.pid_apart(log.thread_of_slice(slice));
        let known = slice.number().map(|number| (process, number));
        let end = slice.end_time();
        let new = spans.len();
        let span = known.map_or(new, |known| *numbered.entry(known).or_insert(new));
        if span == new {
            let outer = around.last().copied();
            spans.push(WholeSpan { slice: at, begin: slice.begin, end, has_several: false, outer });
        } else {
            let span = &mut spans[span];
            span.has_several = true;
            span.end = span.end.zip(end).map(|(one, other)| one.max(other));
        }
        around.push(span);
    }
    spans
}

/// The tracks of a task with these spans, which are in the order of their begins, the task first.
fn tracks(spans: &[WholeSpan], members: &[usize]) -> Vec<Vec<TaskEdge>> {
    let mut lanes: Vec<Lane> = Vec::new();
    for &at in members {
        let span = &spans[at];
        let holds = |outer: usize| {
            spans[outer].end.is_none_or(|outer| span.end.is_some_and(|end| end <= outer))
        };
        for lane in &mut lanes {
            lane.end_until(spans, Some(span.begin));
        }
        let is_within = |lane: &Lane| {
            lane.open.last().is_some_and(|last| span.outer == Some(*last) && holds(*last))
        };
        let lane = lanes.iter().position(is_within);
        let lane = lane.or_else(|| lanes.iter().position(|lane| lane.open.is_empty()));
        let lane = lane.unwrap_or(lanes.len());
        if lane == MOST_TRACKS {
            continue;
        }
        if lane == lanes.len() {
            lanes.push(Lane::default());
        }
        lanes[lane].edges.push(TaskEdge { time: span.begin, begins: Some(span.slice) });
        lanes[lane].open.push(at);
    }
    for lane in &mut lanes {
        lane.end_until(spans, None);
    }
    lanes.into_iter().map(|lane| lane.edges).collect()
}

impl Lane {
    /// Ends the spans that had ended by then, or that end at all.
    fn end_until(&mut self, spans: &[WholeSpan], time: Option<i64>) {
        let is_over = |end: &i64| time.is_none_or(|time| *end <= time);
        while let Some(end) = self.open.last().and_then(|last| spans[*last].end).filter(is_over) {
            self.edges.push(TaskEdge { time: end, begins: None });
            self.open.pop();
        }
    }
}
