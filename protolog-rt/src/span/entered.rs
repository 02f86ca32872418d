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
use crate::writer::arg_slice::ArgSlice;
use crate::writer::slice::{SpanProgress, enter_span, leave_span};
#[cfg(feature = "tracing")]
use crate::writer::slice::{end_outer, is_traced_within};
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
#[inline]
pub(super) fn begin<A: FastArgs>(span: &SpanSite, args: &A) -> u64 {
    let mut forks = running::forks();
    if !span.site.group_level.is_trace_only() {
        match log::with_slice(args, |args| asked(span, args)) {
            Some(true) => forks |= IS_FOR_ALL,
            Some(false) => {}
            None => return 0,
        }
    }
    SPANS.with(|spans| {
        let index = spans.len.get();
        let Some(entry) = spans.list.get(index) else { return 0 };
        let number = span.task.number();
        let head = Head { id: span.site.id, group_level: span.site.group_level };
        let serial = spans.newest.get() + 1;
        spans.newest.set(serial);
        let depth = enter_span();
        let progress = SpanProgress { number, message: head.id, times: None };
        event::write_begin(head, (depth, progress, forks & IS_FOR_ALL != 0), span, args);
        entry.serial.set(serial);
        entry.number.set(number);
        entry.group_level.set(Some(head.group_level));
        entry.depth.set(depth);
        entry.forks.set(forks);
        spans.len.set(index + 1);
        serial << INDEX_BITS | index as u64
    })
}

/// Asks the rules of a call, where there are any, or who else takes it: text output shows no spans.
/// None if no session records it; true if all do, whatever they record of its group.
#[cold]
fn asked(span: &SpanSite, args: &[Arg<'_>]) -> Option<bool> {
    let (site, (group, level)) = (span.site, span.site.group_level.parts());
    let head = Head { id: site.id, group_level: site.group_level };
    let mut rule = log::state(head, site.note);
    if log::may_be_sampled(rule) {
        let key = site_key(site.note, site.id);
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
pub(super) fn end(key: u64, times: Option<(u64, u64)>) {
    SPANS.with(|spans| {
        let index = key as usize % MAX_DEPTH;
        let is_it = |entry: &ThreadSpan| entry.serial.get() == key >> INDEX_BITS;
        let Some(entry) = spans.list.get(index).filter(|entry| is_it(entry)) else { return };
        if spans.len.get() <= index {
            return;
        }
        #[cfg(feature = "tracing")]
        if is_traced_within(entry.depth.get()) {
            return spans.end_later(index, times);
        }
        while spans.len.get() > index + 1 {
            let last = spans.len.get() - 1;
            let Some(inner) = spans.list.get(last) else { break };
            inner.end(None);
            spans.len.set(last);
        }
        entry.end(times);
        spans.len.set(index);
        #[cfg(feature = "tracing")]
        end_outer(spans.innermost());
    });
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

impl ThreadSpan {
    /// Writes its end, unless its begin is of another process. The span counts until then: what a
    /// signal handler begins meanwhile is within it, and has an entry of its own.
    #[inline]
    fn end(&self, times: Option<(u64, u64)>) {
        let forks = self.forks.get();
        let is_own = forks & !IS_FOR_ALL == running::forks();
        if let Some(group_level) = self.group_level.get().filter(|_| is_own) {
            let progress = SpanProgress { number: self.number.get(), message: 0, times };
            let head = Head { id: 0, group_level };
            event::write_end(head, (self.depth.get(), progress, forks & IS_FOR_ALL != 0));
        }
        leave_span();
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
