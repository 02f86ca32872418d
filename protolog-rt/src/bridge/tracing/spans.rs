//! Spans as slices of time.
//!
//! Invariant: a thread writes an end for each begin that it wrote, and for no other, so that slices that began before
//! somebody wanted them do not end another one.

use super::fields::Fields;
use super::sites;
use crate::session::running;
use crate::writer::slice::{MAX_SLICE, Slice, current_track};
use crate::writer::{self, Head};
use protolog_core::schema::track_event;
use protozero::{Fixed, Heap, Message, Writer};
use std::cell::Cell;
use tracing_core::span::Id;
use tracing_core::{Metadata, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The most bytes of a name or category.
const MAX_NAME: usize = 200;

/// The most bytes of a slice's annotations; fields beyond are left out.
const MAX_ANNOTATIONS: usize = MAX_SLICE - 3 * MAX_NAME;

/// A span's fields, as the annotations that its slices get.
#[derive(Default)]
struct Annotations(Vec<u8>);

thread_local! {
    /// Of the spans that this thread is in, innermost first, whether a begin was written; those deeper than 64 have none.
    static BEGUN: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
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
    let Some(Annotations(kept)) = extensions.get_mut() else { return };
    fields.annotations(|annotation| {
        let mut writer = Writer::new(Heap::new());
        writer.message().bytes(track_event::DEBUG_ANNOTATIONS, annotation);
        let field = writer.into_vec().unwrap_or_default();
        if kept.len() + field.len() <= MAX_ANNOTATIONS {
            kept.extend(field);
        }
    });
}

/// The calling thread enters a span.
pub(super) fn begin<S>(id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let (bits, depth) = BEGUN.get();
    let extensions = span.extensions();
    let kept = extensions.get().map_or(&[][..], |Annotations(kept)| kept);
    if depth >= u64::BITS {
        return BEGUN.set((bits, depth.saturating_add(1)));
    }
    let begun = write(span.metadata(), |to| {
        to.uint32(track_event::TYPE, track_event::TYPE_SLICE_BEGIN)
            .string(track_event::CATEGORIES, shortened(span.metadata().target()))
            .string(track_event::NAME, shortened(span.metadata().name()))
            .raw(kept);
    });
    BEGUN.set((bits << 1 | u64::from(begun), depth + 1));
}

/// The calling thread leaves a span.
pub(super) fn end<S>(id: &Id, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let (bits, depth) = BEGUN.get();
    if depth > u64::BITS {
        return BEGUN.set((bits, depth - 1));
    }
    BEGUN.set((bits >> 1, depth.saturating_sub(1)));
    if bits & 1 != 0 {
        write(span.metadata(), |to| {
            to.uint32(track_event::TYPE, track_event::TYPE_SLICE_END);
        });
    }
}

/// Writes an event on the thread's track; false where nobody wants it.
fn write(
    metadata: &'static Metadata<'static>,
    fill: impl FnOnce(&mut Message<'_, Fixed<'_>>),
) -> bool {
    let head = sites::with(metadata, |site| Head { id: 0, level: site.level, group: site.group });
    // An enum that is new says no session wants it; a group of a target is not.
    if !head.group.is_enabled(head.level) || !head.group.traced(head.level) {
        return false;
    }
    let mut memory = [0; MAX_SLICE];
    let mut writer = Writer::new(Fixed::new(&mut memory));
    let mut event = writer.message();
    event.uint64(track_event::TRACK_UUID, track());
    fill(&mut event);
    let Ok(done) = writer.finish() else { return false };
    let length = done.length as usize;
    writer::write(head, &Slice(&memory[..length]));
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
