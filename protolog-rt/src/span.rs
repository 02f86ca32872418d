//! Spans: how long something takes, as a guard of the [`span!`](crate::span!) macro.
//!
//! ```text
//! span!                      begin, unless switched off -> entered.rs: the thread's spans -> event.rs: the packet
//! drop of the guard, `end`   the ends of all spans from this one on
//! in_span                    task.rs: a guard for each poll
//! ```
//!
//! The packets are those of the bridge from `tracing`: the begin and the end of a timeline slice on
//! the thread's track, each with the number of spans that the thread is in.
//!
//! Invariants: a guard's key is 0, or names one entry of its own thread's list. A span that is off
//! costs what a call that is off does, and a test of that word.

mod entered;
mod event;
mod task;

#[cfg(feature = "tracing")]
pub(crate) use entered::{end_waiting, innermost};
pub use task::{InSpan, TaskNumber, task_number};

use crate::arguments::Visitor;
use crate::log::FastArgs;
use crate::note::NoteRef;
use crate::site::{GroupLevel, Site};
use protolog_core::Level;
use std::marker::PhantomData;

/// A span that the thread is in until this guard is dropped. [`span!`](crate::span!) returns it.
///
/// It belongs to its thread, so it can't be sent to another one: a future that holds one over an
/// `await` can't be spawned on several threads. For futures there is [`InSpan::in_span`].
///
/// Spans of a thread are nested. One whose guard outlives the guard of the span around it ends with
/// that span, and the drop of its own guard does nothing more. So does the span of a guard that is
/// never dropped ([`std::mem::forget`]). In a child of a fork, the drop of the parent's guards
/// writes nothing.
///
/// ```compile_fail
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// let span = protolog_rt::span!(AppLog::Net, "request %s", "/index");
/// std::thread::spawn(move || drop(span)); // error: `*mut ()` cannot be sent between threads safely
/// ```
#[derive(Debug)]
#[must_use = "the span ends when its guard is dropped: bind it, as in `let _span = span!(…)`"]
pub struct Span {
    /// 0 if nothing was begun.
    key: u64,
    thread: PhantomData<*mut ()>,
}

impl Span {
    /// No span: for the other branch of a condition.
    ///
    /// ```
    /// # use protolog_rt::{Span, span};
    /// # #[derive(protolog_rt::ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let (is_first, path) = (true, "/index");
    /// let _span = if is_first { span!(AppLog::Net, "request %s", path) } else { Span::none() };
    /// ```
    #[inline]
    pub const fn none() -> Self {
        Self { key: 0, thread: PhantomData }
    }

    /// Ends the span, as the end of one of several slices where there are `times`.
    fn end(mut self, times: Option<(u64, u64)>) {
        let key = std::mem::take(&mut self.key);
        if key != 0 {
            entered::end_slice(key, times);
        }
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if self.key != 0 {
            entered::end(self.key);
        }
    }
}

/// A span's call, as it passes from the macro's expansion to the writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanSite {
    pub(crate) site: Site,
    /// The bytes of its name, and, from bit 16 on, those of its template without names of
    /// arguments.
    pub(crate) lengths: u32,
    pub(crate) task: TaskNumber,
}

/// Begins a span with the arguments that it gets, and puts its key into a guard.
pub(crate) struct BeginSpan<'a> {
    pub(crate) span: &'a mut Span,
    pub(crate) site: SpanSite,
}

impl Visitor for BeginSpan<'_> {
    #[inline]
    fn visit<A: FastArgs>(self, args: A) {
        let SpanSite { site: Site { id, group_level, note }, lengths, task } = self.site;
        self.span.key = begin(args, id, note, group_level, lengths, task);
    }

    #[cold]
    fn count_cut(&self) {
        let (group, level): (_, Level) = self.site.site.group_level.parts();
        crate::writer::drop_message(group, level, crate::LossCause::Truncated);
    }
}

/// One instance for all calls with arguments of the same types.
#[inline(never)]
#[allow(clippy::needless_pass_by_value)] // A reference would send the arguments through memory.
fn begin<A: FastArgs>(
    args: A,
    id: u64,
    note: NoteRef,
    group_level: GroupLevel,
    lengths: u32,
    task: TaskNumber,
) -> u64 {
    entered::begin(SpanSite { site: Site { id, group_level, note }, lengths, task }, &args)
}
