//! Spans, written as slices on the track of their thread.
//!
//! A slice begins with the fields that are known when a thread enters the span, and ends with those that were recorded since; the
//! newest value of a field counts.
//!
//! Slices of a track are nested, but spans may be exited in any order. One that is exited while the thread is still in spans that
//! it entered later ends together with these, so each end belongs to the right slice.
//!
//! Each event has the depth of its slice, so that a reader finds out where an end or a begin was lost.
//!
//! Invariant: a thread writes exactly one end for each begin that it wrote, so a span that was entered while its level was off does not
//! end another slice.

use super::fields::EventFields;
use super::sites;
use crate::site::GroupLevel;
use crate::writer::slice::{MAX_SLICE, Slice};
use crate::writer::track::current_track;
use crate::writer::{self, Head, running};
use protolog_core::schema::track_event;
use protozero::{Fixed, Heap, Message, Writer};
use std::cell::{Cell, RefCell};
use tracing_core::span::Id;
use tracing_core::{Metadata, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Maximum bytes of a name or category.
const MAX_NAME: usize = 200;

/// Maximum bytes of a slice's annotations; further fields are left out.
const MAX_ANNOTATIONS: usize = MAX_SLICE - 3 * MAX_NAME;

/// Maximum depth of nested spans that become slices.
const MAX_DEPTH: usize = 64;

/// A span's fields, as annotations of its slices.
#[derive(Default)]
struct Annotations {
    list: Vec<Annotation>,
    /// Number of values recorded so far.
    count: u32,
    bytes: usize,
}

struct Annotation {
    name: &'static str,
    /// Number of this value in the order of recording, from 1.
    number: u32,
    /// The encoded field of the event, with its tag.
    field: Vec<u8>,
}

/// The spans that a thread is in.
struct SpanStack {
    /// Outermost first; the first `depth` are in use.
    list: [EnteredSpan; MAX_DEPTH],
    depth: usize,
    /// Number of deeper spans, which have no slices.
    deeper: usize,
}

/// A span that a thread has entered.
#[derive(Clone, Copy)]
struct EnteredSpan {
    /// None after the thread has exited it.
    id: Option<u64>,
    metadata: Option<&'static Metadata<'static>>,
    /// Number of values recorded when the begin was written; none if none was written.
    begun: Option<u32>,
}

thread_local! {
    static STACK: RefCell<SpanStack> = const { RefCell::new(SpanStack::new()) };
    /// The thread's track, and the epoch of sessions in which it was computed: after a fork it is another.
    static TRACK: Cell<(u32, u64)> = const { Cell::new((0, 0)) };
}

/// Adds the fields that `record` records to the span's annotations.
pub(super) fn add_fields<S>(
    id: &Id,
    context: &Context<'_, S>,
    record: impl FnOnce(&mut EventFields),
) where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let mut fields = EventFields::new();
    record(&mut fields);
    let mut extensions = span.extensions_mut();
    if extensions.get_mut::<Annotations>().is_none() {
        extensions.insert(Annotations::default());
    }
    let Some(annotations) = extensions.get_mut::<Annotations>() else { return };
    fields.for_each_annotation(|name, annotation| {
        let mut writer = Writer::new(Heap::new());
        writer.message().bytes(track_event::DEBUG_ANNOTATIONS, annotation);
        annotations.set(name, writer.into_vec().unwrap_or_default());
    });
}

/// Writes the begin of a span that the calling thread enters.
pub(super) fn begin<S>(id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let metadata = span.metadata();
    with_stack(|stack| {
        let Some(entered) = stack.list.get_mut(stack.depth) else {
            stack.deeper += 1;
            return;
        };
        let extensions = span.extensions();
        let annotations = extensions.get::<Annotations>();
        let depth = stack.depth;
        let begun = write(metadata, depth, |to| {
            to.uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN)
                .string(track_event::CATEGORIES, shortened(metadata.target()))
                .string(track_event::NAME, shortened(metadata.name()));
            append_annotations(annotations, 0, to);
        });
        let begun = begun.then(|| annotations.map_or(0, |annotations| annotations.count));
        *entered = EnteredSpan { id: Some(id.into_u64()), metadata: Some(metadata), begun };
        stack.depth += 1;
    });
}

/// Writes the end of a span that the calling thread exits, once all spans that it entered later have ended.
pub(super) fn end<S>(id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    with_stack(|stack| {
        let this = Some(id.into_u64());
        let entered = &mut stack.list[..stack.depth];
        let Some(at) = entered.iter().rposition(|entered| entered.id == this) else {
            stack.deeper = stack.deeper.saturating_sub(1);
            return;
        };
        entered[at].id = None;
        // Ends all at the top that were exited. Only the uppermost of them can be the one that is exited now.
        while let Some(top) = stack.depth.checked_sub(1).map(|top| stack.list[top])
            && top.id.is_none()
        {
            stack.depth -= 1;
            let (Some(metadata), Some(begun)) = (top.metadata, top.begun) else { continue };
            let extensions = span.extensions();
            let annotations = extensions.get::<Annotations>().filter(|_| stack.depth == at);
            write(metadata, stack.depth, |to| {
                to.uint32(track_event::TYPE, track_event::TYPE_SLICE_END);
                append_annotations(annotations, begun, to);
            });
        }
    });
}

/// Calls `f` with the thread's stack of spans.
fn with_stack(f: impl FnOnce(&mut SpanStack)) {
    STACK.with(|stack| {
        // Nothing that `f` calls enters a span; if it did, a span without a slice is better than a panic.
        if let Ok(mut stack) = stack.try_borrow_mut() {
            f(&mut stack);
        }
    });
}

/// Appends the annotations with a number above `after`.
fn append_annotations(
    annotations: Option<&Annotations>,
    after: u32,
    to: &mut Message<'_, Fixed<'_>>,
) {
    for annotation in annotations.into_iter().flat_map(|annotations| &annotations.list) {
        if annotation.number > after {
            to.raw(&annotation.field);
        }
    }
}

impl Annotations {
    /// Adds a value, or replaces the field's earlier one.
    fn set(&mut self, name: &'static str, field: Vec<u8>) {
        let known = self.list.iter().position(|annotation| annotation.name == name);
        let before = known.map_or(0, |known| self.list[known].field.len());
        let bytes = self.bytes - before + field.len();
        if bytes > MAX_ANNOTATIONS {
            return;
        }
        self.bytes = bytes;
        self.count = self.count.saturating_add(1);
        let annotation = Annotation { name, number: self.count, field };
        match known {
            Some(known) => self.list[known] = annotation,
            None => self.list.push(annotation),
        }
    }
}

impl SpanStack {
    const fn new() -> Self {
        let none = EnteredSpan { id: None, metadata: None, begun: None };
        Self { list: [none; MAX_DEPTH], depth: 0, deeper: 0 }
    }
}

/// Writes an event of a slice at this depth on the thread's track. Returns false if its level is off.
fn write(
    metadata: &'static Metadata<'static>,
    depth: usize,
    fill: impl FnOnce(&mut Message<'_, Fixed<'_>>),
) -> bool {
    let (group, level) = sites::with(metadata, |site| (site.group, site.level));
    // The first test registers the group; the second one asks for sessions only.
    if !group.is_enabled(level) || !group.is_trace_enabled(level) {
        return false;
    }
    let mut memory = [0; MAX_SLICE];
    let mut writer = Writer::new(Fixed::new(&mut memory));
    let mut event = writer.message();
    event.uint64(track_event::TRACK_UUID, track());
    fill(&mut event);
    let Ok(done) = writer.finish() else { return false };
    let length = done.length as usize;
    let head = Head { id: 0, group_level: GroupLevel::new(group, level) };
    writer::write_packet(head, &Slice { event: &memory[..length], depth: depth as u8 });
    true
}

fn track() -> u64 {
    let epoch = running::epoch();
    let (asked, known) = TRACK.get();
    if asked == epoch {
        return known;
    }
    let track = current_track();
    TRACK.set((epoch, track));
    track
}

/// Truncates a name to [`MAX_NAME`] bytes.
fn shortened(name: &str) -> &str {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}
