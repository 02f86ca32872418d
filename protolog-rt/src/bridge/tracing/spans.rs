//! Spans, written as slices on the track of their thread.
//!
//! A slice begins with the fields that are known when a thread enters the span, and ends with those
//! that were recorded since; the newest value of a field counts.
//!
//! Slices of a track are nested, but spans may be exited in any order. A span that is exited while
//! the thread is still in spans that it entered later ends together with these, also in those of
//! `span!`. So each end belongs to the right slice, with the fields that the span had when it was
//! exited.
//!
//! Each event has the depth of its slice, so that a reader finds out where an end or a begin was
//! lost. It also has the number of its span, since a task that waits has a slice for each time that
//! a thread is in its span. The end of every slice but the first says how long all slices of the
//! span took, and how long ago the span was made.
//!
//! Invariants: a thread writes exactly one end for each begin that it wrote, whatever its level is
//! by then. It writes none for a begin of the process that this one was forked from. So a span that
//! was entered while its level was off does not end another slice, and a span whose level is off
//! when it is exited does not stay open. Spans of two registries with one id, and slices of two
//! layers in one registry, are told apart.

use super::fields::EventFields;
use super::sites;
use super::span_fields::{MAX_NAME, SpanFields, shortened};
use crate::clock::boottime;
use crate::site::GroupLevel;
use crate::span::{end_waiting, innermost};
use crate::writer::request::{MAX_ID, RequestMark, enter_request, leave_request};
use crate::writer::slice::{
    MAX_BESIDE, MAX_SLICE, Slice, SpanProgress, enter_span, leave_span, next_span, note_traced,
    wait_for_inner,
};
use crate::writer::track::current_track;
use crate::writer::{self, Head, running};
use protolog_core::MAX_PARAMS;
use protolog_core::schema::track_event;
use protozero::{Fixed, Heap, Message, Writer};
use std::cell::RefCell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use tracing_core::span::Id;
use tracing_core::{Metadata, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The field of a span that is a request: the request's id.
const REQUEST_ID: &str = "request_id";

/// Maximum depth of nested spans that become slices.
const MAX_DEPTH: usize = 64;

/// A span, for all layers of its registry.
struct TracedSpan {
    fields: SpanFields,
    /// Its number in the process, from 1; 0 before it has a slice.
    number: AtomicU64,
    /// When it was made, in nanoseconds.
    made: u64,
    /// The layer that makes slices first: others make the same.
    layer: u32,
    /// The number of its slices that ended, and the nanoseconds of all of them.
    slices: u64,
    busy: u64,
    /// The request that it is, if it has a field that says so.
    request: Option<RequestMark>,
}

/// The spans that a thread is in.
struct SpanStack {
    /// Outermost first; the first `depth` are in use.
    list: [EnteredSpan; MAX_DEPTH],
    depth: usize,
    /// Deeper ones, which have no slices, outermost first.
    deeper: Vec<SpanKey>,
    /// Ends of spans that were exited while the thread was in later ones, with the depth.
    waiting: Vec<(usize, SpanEnd)>,
}

/// A span that a thread has entered.
#[derive(Clone, Copy)]
struct EnteredSpan {
    /// None after the thread has exited it.
    key: Option<SpanKey>,
    metadata: Option<&'static Metadata<'static>>,
    /// The number of spans that the thread was in, also of other copies of the runtime.
    depth: u32,
    /// None if no begin was written.
    begun: Option<Begun>,
    /// The key of the request's scope; 0 without one.
    request: u64,
}

/// The span of a layer.
#[derive(Clone, Copy)]
struct SpanKey {
    layer: u32,
    id: u64,
    metadata: &'static Metadata<'static>,
}

/// A slice whose begin was written.
#[derive(Clone, Copy)]
struct Begun {
    /// Number of values recorded until then.
    recorded: u32,
    at: u64,
    /// The number of forks between the process that wrote it and the first one.
    forks: u32,
}

/// The fields of the end of a slice.
#[derive(Default)]
struct SpanEnd {
    /// Encoded fields of the event.
    fields: Vec<u8>,
    span: SpanProgress,
}

thread_local! {
    static STACK: RefCell<SpanStack> = const { RefCell::new(SpanStack::new()) };
}

/// Returns a number for another layer.
pub(super) fn next_layer() -> u32 {
    static LAYERS: AtomicU64 = AtomicU64::new(0);
    LAYERS.fetch_add(1, Ordering::Relaxed) as u32
}

/// Adds the fields that `record` records to the span.
pub(super) fn add_fields<S>(
    layer: u32,
    id: &Id,
    context: &Context<'_, S>,
    record: impl FnOnce(&mut EventFields<MAX_PARAMS>),
) where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let mut fields = EventFields::<MAX_PARAMS>::new();
    record(&mut fields);
    let mut extensions = span.extensions_mut();
    if extensions.get_mut::<TracedSpan>().is_none() {
        extensions.insert(TracedSpan::new(layer));
    }
    // Another layer of the registry has added the same.
    let Some(span) = extensions.get_mut::<TracedSpan>().filter(|span| span.layer == layer) else {
        return;
    };
    if span.request.is_none() {
        let id = fields.text_of::<MAX_ID>(REQUEST_ID);
        span.request = id.map(|id| RequestMark::new(next_span(), id.text()));
    }
    fields.for_each_annotation(|name, value| span.fields.set(name, value));
}

/// Writes the begin of a span that the calling thread enters.
pub(super) fn begin<S>(layer: u32, id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let metadata = span.metadata();
    let key = SpanKey { layer, id: id.into_u64(), metadata };
    with_stack(|stack| {
        let Some(entered) = stack.list.get_mut(stack.depth) else {
            stack.deeper.push(key);
            return;
        };
        let extensions = span.extensions();
        let span = extensions.get::<TracedSpan>();
        let is_on = is_on(metadata);
        let number = if is_on { span.map_or(0, TracedSpan::number) } else { 0 };
        let progress = SpanProgress { number, message: 0, times: None };
        let fill = |to: &mut Message<'_, Fixed<'_>>| {
            to.uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN)
                .string(track_event::CATEGORIES, shortened(metadata.target(), MAX_NAME))
                .string(track_event::NAME, shortened(metadata.name(), MAX_NAME))
                .fixed64(track_event::FLOW_IDS, progress.flow());
            if let Some(span) = span {
                span.fields.append(0, to);
            }
        };
        // By now it is known whether there is a host.
        let depth = enter_span();
        // Before the time of the event, and at the end after the fields were encoded: the sum is
        // near that of the events.
        let at = if is_on { boottime() } else { 0 };
        let is_written = is_on && write(metadata, (depth, progress), fill);
        let recorded = span.map_or(0, |it| it.fields.recorded());
        let begun = is_written.then(|| Begun { recorded, at, forks: running::forks() });
        let request = span.and_then(|span| span.request).map_or(0, enter_request);
        *entered = EnteredSpan { key: Some(key), metadata: Some(metadata), depth, begun, request };
        stack.depth += 1;
        note_traced(Some(depth));
    });
}

/// Writes the end of a span that the calling thread exits, once all spans that it entered later
/// have ended.
pub(super) fn end<S>(layer: u32, id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let key = SpanKey { layer, id: id.into_u64(), metadata: span.metadata() };
    with_stack(|stack| {
        if let Some(at) = stack.deeper.iter().rposition(|it| it.is(&key)) {
            stack.deeper.remove(at);
            return;
        }
        let entered = &mut stack.list[..stack.depth];
        let is_it = |it: &EnteredSpan| it.key.is_some_and(|known| known.is(&key));
        let Some(at) = entered.iter().rposition(is_it) else { return };
        entered[at].key = None;
        leave_request(entered[at].request);
        // By the time that the end is written, the span may be closed.
        if let Some(begun) = entered[at].begun {
            let mut extensions = span.extensions_mut();
            let end = extensions.get_mut::<TracedSpan>().map(|span| span.end(layer, begun));
            stack.waiting.push((at, end.unwrap_or_default()));
        }
        stack.end_exited();
    });
}

/// Calls `f` with the thread's stack of spans. A thread that ends may have none any more.
fn with_stack(f: impl FnOnce(&mut SpanStack)) {
    let _ = STACK.try_with(|stack| {
        // Nothing that `f` calls enters a span; if it did, a span without a slice is better than a
        // panic.
        if let Ok(mut stack) = stack.try_borrow_mut() {
            f(&mut stack);
        }
    });
}

impl TracedSpan {
    fn new(layer: u32) -> Self {
        let (fields, number) = (SpanFields::default(), AtomicU64::new(0));
        Self { fields, number, made: boottime(), layer, slices: 0, busy: 0, request: None }
    }

    /// Returns its number. It gets one with its first slice: by then it is known whether another
    /// copy of the runtime counts.
    fn number(&self) -> u64 {
        let known = self.number.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let new = next_span();
        // Another thread may have been faster.
        let set = self.number.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
        set.err().unwrap_or(new)
    }

    /// Returns the fields of the end of a slice that begun so.
    fn end(&mut self, layer: u32, begun: Begun) -> SpanEnd {
        let mut fields = Vec::new();
        if self.fields.recorded() > begun.recorded {
            let mut writer = Writer::new(Heap::new());
            self.fields.append(begun.recorded, &mut writer.message());
            fields = writer.into_vec().unwrap_or_default();
        }
        let now = boottime();
        if self.layer == layer {
            self.slices += 1;
            self.busy = self.busy.saturating_add(now.saturating_sub(begun.at));
        }
        let times = (self.slices > 1).then(|| (self.busy, now.saturating_sub(self.made)));
        SpanEnd { fields, span: SpanProgress { number: self.number(), message: 0, times } }
    }
}

impl SpanKey {
    fn is(&self, other: &Self) -> bool {
        (self.layer, self.id) == (other.layer, other.id) && ptr::eq(self.metadata, other.metadata)
    }
}

impl SpanStack {
    const fn new() -> Self {
        let none = EnteredSpan { key: None, metadata: None, depth: 0, begun: None, request: 0 };
        Self { list: [none; MAX_DEPTH], depth: 0, deeper: Vec::new(), waiting: Vec::new() }
    }

    /// Writes the ends of all spans at the top that were exited, and of those of `span!` between
    /// them.
    fn end_exited(&mut self) {
        while self.end_last() || end_waiting() {}
    }

    /// Ends the last span, if it was exited and is the innermost one.
    fn end_last(&mut self) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return false };
        let EnteredSpan { key: None, metadata, depth: entered, begun, .. } = self.list[depth]
        else {
            return false;
        };
        if innermost().is_some_and(|inner| inner > entered) {
            wait_for_inner(entered, || with_stack(Self::end_exited));
            return false;
        }
        self.depth = depth;
        let outer = depth.checked_sub(1).map(|outer| self.list[outer].depth);
        note_traced(outer);
        leave_span();
        let Some(at) = self.waiting.iter().position(|(at, _)| *at == depth) else { return true };
        let (_, SpanEnd { fields, span }) = self.waiting.swap_remove(at);
        let is_own = begun.is_some_and(|begun| begun.forks == running::forks());
        if let Some(metadata) = metadata.filter(|_| is_own) {
            write(metadata, (entered, span), |to| {
                to.uint32(track_event::TYPE, track_event::TYPE_SLICE_END).raw(&fields);
            });
        }
        true
    }
}

/// Returns whether a session records spans of this level.
fn is_on(metadata: &'static Metadata<'static>) -> bool {
    // The first test registers the group; the second one asks for sessions only.
    sites::with(metadata, |site| {
        site.group.is_on(site.level) && site.group.is_trace_enabled(site.level)
    })
}

/// Writes an event of a slice at this depth on the thread's track, to the sessions whose filter has
/// its level. Returns false if it was too long, which it is not.
fn write(
    metadata: &'static Metadata<'static>,
    (depth, span): (u32, SpanProgress),
    fill: impl FnOnce(&mut Message<'_, Fixed<'_>>),
) -> bool {
    let (group, level) = sites::with(metadata, |site| (site.group, site.level));
    let mut memory = [0; MAX_SLICE];
    let mut writer = Writer::new(Fixed::new(&mut memory));
    let mut event = writer.message();
    event.uint64(track_event::TRACK_UUID, current_track());
    fill(&mut event);
    let Ok(done) = writer.finish() else { return false };
    let length = done.length as usize;
    let mut beside = [0; MAX_BESIDE];
    let Some(beside_length) = span.encode(depth, &mut beside) else { return false };
    let head = Head { id: 0, group_level: GroupLevel::new(group, level) };
    let slice = Slice { event: &memory[..length], beside: &beside[..beside_length] };
    writer::write_packet(head, &slice);
    true
}
