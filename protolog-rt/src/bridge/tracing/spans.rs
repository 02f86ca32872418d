//! Spans as slices of time.
//!
//! A slice begins with the fields that are known when a thread enters the span, and ends with those that were recorded since;
//! the newest value of a field counts.
//!
//! Slices of a track lie within each other, but spans may be left in any order. One that is left while the thread is in
//! others that it entered later is ended together with them, so that each end is that of the right slice.
//!
//! Invariant: a thread writes an end for each begin that it wrote, and for no other, so that slices that began before
//! somebody wanted them do not end another one.

use super::fields::Fields;
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

/// The most bytes of a name or category.
const MAX_NAME: usize = 200;

/// The most bytes of a slice's annotations; fields beyond are left out.
const MAX_ANNOTATIONS: usize = MAX_SLICE - 3 * MAX_NAME;

/// The most spans within each other that become slices.
const MAX_DEPTH: usize = 64;

/// A span's fields, as the annotations that its slices get.
#[derive(Default)]
struct Annotations {
    list: Vec<Annotation>,
    /// How many values were recorded.
    count: u32,
    bytes: usize,
}

struct Annotation {
    name: &'static str,
    /// Which of the values that were recorded it is, from 1.
    number: u32,
    /// A field of the event, with its tag.
    field: Vec<u8>,
}

/// The spans that a thread is in.
struct Stack {
    /// Outermost first; the first `depth` are there.
    list: [Entered; MAX_DEPTH],
    depth: usize,
    /// Those deeper, which have no slices.
    more: usize,
}

/// A span that a thread has entered.
#[derive(Clone, Copy)]
struct Entered {
    /// None once it was left.
    id: Option<u64>,
    metadata: Option<&'static Metadata<'static>>,
    /// How many values had been recorded when the begin was written; none where no begin was written.
    begun: Option<u32>,
}

thread_local! {
    static STACK: RefCell<Stack> = const { RefCell::new(Stack::new()) };
    /// The thread's track, and the epoch of sessions in which it was asked for: after a fork it is another.
    static TRACK: Cell<(u32, u64)> = const { Cell::new((0, 0)) };
}

/// Keeps the fields that `record` gives, with those that are kept already.
pub(super) fn keep<S>(id: &Id, context: &Context<'_, S>, record: impl FnOnce(&mut Fields))
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let mut fields = Fields::new();
    record(&mut fields);
    let mut extensions = span.extensions_mut();
    if extensions.get_mut::<Annotations>().is_none() {
        extensions.insert(Annotations::default());
    }
    let Some(kept) = extensions.get_mut::<Annotations>() else { return };
    fields.annotations(|name, annotation| {
        let mut writer = Writer::new(Heap::new());
        writer.message().bytes(track_event::DEBUG_ANNOTATIONS, annotation);
        kept.put(name, writer.into_vec().unwrap_or_default());
    });
}

/// The calling thread enters a span.
pub(super) fn begin<S>(id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let metadata = span.metadata();
    with_stack(|stack| {
        let Some(entered) = stack.list.get_mut(stack.depth) else {
            stack.more += 1;
            return;
        };
        let extensions = span.extensions();
        let kept = extensions.get::<Annotations>();
        let begun = write(metadata, |to| {
            to.uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN)
                .string(track_event::CATEGORIES, shortened(metadata.target()))
                .string(track_event::NAME, shortened(metadata.name()));
            add(kept, 0, to);
        });
        let begun = begun.then(|| kept.map_or(0, |kept| kept.count));
        *entered = Entered { id: Some(id.into_u64()), metadata: Some(metadata), begun };
        stack.depth += 1;
    });
}

/// The calling thread leaves a span.
pub(super) fn end<S>(id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    with_stack(|stack| {
        let this = Some(id.into_u64());
        let entered = &mut stack.list[..stack.depth];
        let Some(at) = entered.iter().rposition(|entered| entered.id == this) else {
            stack.more = stack.more.saturating_sub(1);
            return;
        };
        entered[at].id = None;
        // All at the top that were left; the one that is left now can be the uppermost of them only.
        while let Some(top) = stack.depth.checked_sub(1).map(|top| stack.list[top])
            && top.id.is_none()
        {
            stack.depth -= 1;
            let (Some(metadata), Some(begun)) = (top.metadata, top.begun) else { continue };
            let extensions = span.extensions();
            let kept = extensions.get::<Annotations>().filter(|_| stack.depth == at);
            write(metadata, |to| {
                to.uint32(track_event::TYPE, track_event::TYPE_SLICE_END);
                add(kept, begun, to);
            });
        }
    });
}

/// Calls `f` with the spans that the thread is in.
fn with_stack(f: impl FnOnce(&mut Stack)) {
    STACK.with(|stack| {
        // What is called meanwhile enters no spans; and nobody's program may end here.
        if let Ok(mut stack) = stack.try_borrow_mut() {
            f(&mut stack);
        }
    });
}

/// Adds the annotations that were recorded after so many.
fn add(kept: Option<&Annotations>, after: u32, to: &mut Message<'_, Fixed<'_>>) {
    for annotation in kept.into_iter().flat_map(|kept| &kept.list) {
        if annotation.number > after {
            to.raw(&annotation.field);
        }
    }
}

impl Annotations {
    /// Keeps a value, in the place of the field's earlier one.
    fn put(&mut self, name: &'static str, field: Vec<u8>) {
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

impl Stack {
    const fn new() -> Self {
        let none = Entered { id: None, metadata: None, begun: None };
        Self { list: [none; MAX_DEPTH], depth: 0, more: 0 }
    }
}

/// Writes an event on the thread's track; false where nobody wants it.
fn write(
    metadata: &'static Metadata<'static>,
    fill: impl FnOnce(&mut Message<'_, Fixed<'_>>),
) -> bool {
    let (group, level) = sites::with(metadata, |site| (site.group, site.level));
    // An enum that is new says no session wants it; a group of a target is not.
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
    writer::write_packet(head, &Slice(&memory[..length]));
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

/// At most [`MAX_NAME`] bytes of a name.
fn shortened(name: &str) -> &str {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}
