//! The spans that a thread is in.
//!
//! Slices of a track are nested, and a guard may be dropped at any time, or never. So the end of a
//! span ends all spans within it first, whose own guards then find that they are over. A guard
//! finds its span by a number that no other span of the thread has. Where spans of `tracing` are
//! within it, which only their own exit ends, the end waits for that.
//!
//! Invariants: a thread writes at most one end for each begin that it wrote, the innermost first,
//! and none for a begin of the process that this one was forked from. What a signal handler begins,
//! it ends, so between two steps here the list is as it was.

use super::SpanSite;
use super::event;
use crate::level;
use crate::log::{self, FastArgs};
use crate::site::GroupLevel;
use crate::site::key as site_key;
use crate::sync::light_barrier;
use crate::writer::arg_slice::ArgSlice;
#[cfg(feature = "tracing")]
use crate::writer::slice::{end_outer, is_traced_within};
use crate::writer::slice::{enter_span, leave_span};
use crate::writer::{Head, running};
use protolog_core::Arg;
use std::cell::Cell;

/// Spans that are deeper have no slices.
const MAX_DEPTH: usize = 64;

/// A span that a thread has entered.
struct ThreadSpan {
    /// Its number on the thread, from 1.
    serial: Cell<u64>,
    /// Its number in the process, if it may have several slices; else 0.
    number: Cell<u64>,
    /// None if the entry is of no span.
    group_level: Cell<Option<GroupLevel>>,
    /// The number of spans that the thread was in, of whatever kind.
    depth: Cell<u32>,
    /// The number of forks between the process that began it and the first one. The top bit is set
    /// if all sessions have its begin, whatever they record of its group.
    forks: Cell<u32>,
    /// Its end is to be written once it is the innermost one of the thread.
    #[cfg(feature = "tracing")]
    waits: Cell<bool>,
    /// The times of that end.
    #[cfg(feature = "tracing")]
    times: Cell<Option<(u64, u64)>>,
}

/// The part of a [`ThreadSpan`] that its end needs.
#[derive(Clone, Copy)]
struct SpanToEnd {
    number: u64,
    group_level: Option<GroupLevel>,
    depth: u32,
    forks: u32,
}

/// See [`ThreadSpan::forks`].
const IS_FOR_ALL: u32 = 1 << 31;

impl ThreadSpan {
    const fn none() -> Self {
        Self {
            serial: Cell::new(0),
            number: Cell::new(0),
            group_level: Cell::new(None),
            depth: Cell::new(0),
            forks: Cell::new(0),
            #[cfg(feature = "tracing")]
            waits: Cell::new(false),
            #[cfg(feature = "tracing")]
            times: Cell::new(None),
        }
    }
}

/// The spans that a thread has entered, outermost first.
struct ThreadSpans {
    list: [ThreadSpan; MAX_DEPTH],
    /// The number of those that are in use.
    len: Cell<usize>,
    /// The serial number of the newest one.
    newest: Cell<u64>,
}

/// A key has the index in its lowest bits, and the serial number above.
const INDEX_BITS: u32 = MAX_DEPTH.ilog2();

thread_local! {
    /// Without a destructor, so it is there as long as the thread.
    static SPANS: ThreadSpans = const {
        ThreadSpans {
            list: [const { ThreadSpan::none() }; MAX_DEPTH],
            len: Cell::new(0),
            newest: Cell::new(0),
        }
    };
}

/// Begins a span, and returns its key; 0 if no session records it.
#[inline(always)]
#[allow(clippy::inline_always)] // One function for each list of types.
pub(super) fn begin<A: FastArgs>(span: SpanSite, args: &A) -> u64 {
    let mut forks = running::forks();
    if !span.site.group_level.is_trace_only() {
        match asked(span, *args) {
            Some(true) => forks |= IS_FOR_ALL,
            Some(false) => {}
            None => return 0,
        }
    }
    let number = span.task.number();
    let entered = SPANS.with(|spans| spans.enter(span.site.group_level, number, forks));
    let Some((key, depth)) = entered else { return 0 };
    event::write_begin(span, args, (number, depth, forks & IS_FOR_ALL != 0));
    key
}

/// Asks the rules of a call, where there are any, or who else takes it: text output shows no spans.
/// None if no session records it; true if all do, whatever they record of its group. By value, as
/// [`begin`] has all in registers.
#[cold]
#[inline(never)]
fn asked<A: FastArgs>(span: SpanSite, args: A) -> Option<bool> {
    log::with_slice(&args, |args| asked_by(&span, args))
}

fn asked_by(span: &SpanSite, args: &[Arg<'_>]) -> Option<bool> {
    let (site, (group, level)) = (span.site, span.site.group_level.parts());
    let head = Head { id: site.id, group_level: site.group_level };
    let mut rule = log::state(head, site.note);
    if log::may_be_sampled(rule) {
        let (key, head) = (site_key(site.note, site.id), Head { id: 0, ..head });
        rule = log::pass_asked(head, key, rule, &ArgSlice(args))?.state;
    }
    let is_recorded = if rule.is_traced() {
        level::is_recording()
    } else {
        !rule.is_untraced() && group.is_trace_enabled(level)
    };
    is_recorded.then_some(rule.is_traced())
}

/// Ends the span with this key, those within it first, unless it is over.
#[inline(never)]
pub(super) fn end(key: u64) {
    end_at(key, None);
}

/// As [`end`], at the end of one of several slices where there are `times`.
#[inline(never)]
pub(super) fn end_slice(key: u64, times: Option<(u64, u64)>) {
    end_at(key, times);
}

#[inline(always)]
#[allow(clippy::inline_always)] // Most ends have no times.
fn end_at(key: u64, times: Option<(u64, u64)>) {
    // A part of it in one closure would be a call.
    let Some((index, is_last, span)) = SPANS.with(|spans| spans.find(key)) else { return };
    let is_innermost = is_last && !span.has_traced_within();
    if !is_innermost && !SPANS.with(|spans| spans.end_inner(index, times)) {
        return;
    }
    span.end(times);
    SPANS.with(|spans| spans.len.set(index));
    #[cfg(feature = "tracing")]
    end_outer(innermost());
}

/// Ends the spans whose ends were waiting for the one that the thread has just left. Returns
/// whether there were any.
#[cfg(feature = "tracing")]
pub(crate) fn end_waiting() -> bool {
    SPANS.with(|spans| std::iter::from_fn(|| spans.end_newest().then_some(())).count() > 0)
}

/// Returns the depth of the innermost span of the calling thread that this copy of the runtime
/// writes.
#[cfg(feature = "tracing")]
pub(crate) fn innermost() -> Option<u32> {
    SPANS.with(ThreadSpans::innermost)
}

impl ThreadSpans {
    /// Adds a span, and returns its key and its depth. None if there are too many.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every span.
    fn enter(&self, group_level: GroupLevel, number: u64, forks: u32) -> Option<(u64, u32)> {
        let index = self.len.get();
        let entry = self.list.get(index)?;
        let serial = self.newest.get() + 1;
        self.newest.set(serial);
        let depth = enter_span();
        // From here on the entry is this span's: a signal handler takes the one after it.
        self.len.set(index + 1);
        light_barrier();
        entry.serial.set(serial);
        entry.number.set(number);
        entry.group_level.set(Some(group_level));
        entry.depth.set(depth);
        entry.forks.set(forks);
        Some((serial << INDEX_BITS | index as u64, depth))
    }

    /// Finds the span with this key, unless it is over, and says whether it is the last one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every span.
    fn find(&self, key: u64) -> Option<(usize, bool, SpanToEnd)> {
        let (index, len) = (key as usize % MAX_DEPTH, self.len.get());
        let entry = self.list.get(index)?;
        let is_it = entry.serial.get() == key >> INDEX_BITS && index < len;
        is_it.then(|| (index, index + 1 == len, entry.to_end()))
    }

    /// Ends the spans within the one at `index`. False where that waits for its own end.
    #[cold]
    #[inline(never)]
    fn end_inner(&self, index: usize, times: Option<(u64, u64)>) -> bool {
        #[cfg(feature = "tracing")]
        if self.list.get(index).is_some_and(|entry| entry.to_end().has_traced_within()) {
            self.end_later(index, times);
            return false;
        }
        let _ = times;
        while self.len.get() > index + 1 {
            let last = self.len.get() - 1;
            let Some(inner) = self.list.get(last) else { break };
            inner.end(None);
            self.len.set(last);
        }
        true
    }
}

#[cfg(feature = "tracing")]
impl ThreadSpans {
    /// Returns the depth of the innermost one.
    fn innermost(&self) -> Option<u32> {
        Some(self.list.get(self.len.get().checked_sub(1)?)?.depth.get())
    }

    /// Ends the span at `index` and those within it, the innermost first, as far as no other span
    /// is within them; the rest waits for that.
    #[cold]
    fn end_later(&self, index: usize, times: Option<(u64, u64)>) {
        let from_index = || self.list.iter().take(self.len.get()).skip(index);
        from_index().for_each(ThreadSpan::wait);
        if let Some(entry) = self.list.get(index) {
            entry.times.set(times);
        }
        end_waiting();
        end_outer(self.innermost());
    }

    /// Ends the newest span if it waits for that, and is the innermost one.
    fn end_newest(&self) -> bool {
        let Some(last) = self.len.get().checked_sub(1) else { return false };
        let Some(newest) = self.list.get(last).filter(|it| it.waits.get()) else { return false };
        if is_traced_within(newest.depth.get()) {
            return false;
        }
        // A signal handler finds nothing to do.
        newest.waits.set(false);
        newest.end(newest.times.get());
        self.len.set(last);
        true
    }
}

impl SpanToEnd {
    /// Returns whether a span of `tracing` is within it.
    #[inline]
    #[cfg_attr(not(feature = "tracing"), allow(clippy::unused_self))] // There are none.
    fn has_traced_within(self) -> bool {
        #[cfg(feature = "tracing")]
        return is_traced_within(self.depth);
        #[cfg(not(feature = "tracing"))]
        false
    }

    /// Writes its end, unless its begin is of another process. The span counts until then: what a
    /// signal handler begins meanwhile is within it, and has an entry of its own.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every span.
    fn end(self, times: Option<(u64, u64)>) {
        let is_own = self.forks & !IS_FOR_ALL == running::forks();
        if let Some(group_level) = self.group_level.filter(|_| is_own) {
            let place = (self.number, self.depth, self.forks & IS_FOR_ALL != 0);
            event::write_end(group_level, place, times);
        }
        leave_span();
    }
}

impl ThreadSpan {
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every span.
    fn to_end(&self) -> SpanToEnd {
        SpanToEnd {
            number: self.number.get(),
            group_level: self.group_level.get(),
            depth: self.depth.get(),
            forks: self.forks.get(),
        }
    }

    /// Ends it out of line.
    fn end(&self, times: Option<(u64, u64)>) {
        self.to_end().end(times);
    }

    /// Has the end wait. Its guard is gone, or finds that the span is over.
    #[cfg(feature = "tracing")]
    fn wait(&self) {
        if !self.waits.replace(true) {
            self.serial.set(0);
            self.times.set(None);
        }
    }
}

/// Returns the number in the process of the span with this key; 0 without one.
pub(super) fn number_of(key: u64) -> u64 {
    SPANS.with(|spans| {
        let entry = spans.list.get(key as usize % MAX_DEPTH);
        let entry = entry.filter(|entry| entry.serial.get() == key >> INDEX_BITS);
        entry.map_or(0, |entry| entry.number.get())
    })
}
