//! Spans of futures: a slice on the thread that polls, for each time that it does.
//!
//! The guard of a poll comes from a closure of the program, which calls `span!`. The number of the
//! task's span goes to that call by a word of the thread. The call takes it before its arguments
//! are evaluated, so no other span gets it.

use super::{Span, entered};
use crate::clock::boottime;
use crate::writer::slice::next_span;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;

/// Puts a future into a span.
///
/// ```
/// use protolog_rt::{InSpan, span};
///
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # async fn answer(_: &str) {}
/// async fn serve(path: String) {
///     answer(&path).in_span(|| span!(AppLog::Net, "request %s", path = path)).await;
/// }
/// # let _ = serve(String::new());
/// ```
pub trait InSpan: Future + Sized {
    /// Returns a future that is in the span while it is polled: in the trace, each poll is a slice
    /// on the thread that makes it. All have the number of the span, by which readers and the
    /// Perfetto UI tie them together, and each end but the first has the time of all of them, and
    /// since the first one began.
    ///
    /// `span` is called for each poll, and its arguments are evaluated each time, if the span's
    /// level is enabled by then. Spans that the future makes are within it; a guard that it holds
    /// over an `await` ends with the poll.
    ///
    /// The future can be sent to another thread if it and `span` can.
    fn in_span<S: FnMut() -> Span>(self, mut span: S) -> impl Future<Output = Self::Output> {
        async move {
            let mut task = TaskSpan::default();
            let mut future = pin!(self);
            poll_fn(|context| {
                let entered = task.enter(&mut span);
                let polled = future.as_mut().poll(context);
                task.leave(entered);
                polled
            })
            .await
        }
    }
}

impl<F: Future> InSpan for F {}

/// The number of the span of a task that is about to be entered, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskNumber(pub(super) u64);

impl TaskNumber {
    /// No task: the span has one slice.
    pub(super) const NONE: Self = Self(0);
    /// The span has no number yet.
    const NEW: Self = Self(u64::MAX);

    /// Returns the number for a span that begins; 0 for one that has one slice.
    #[inline]
    pub(super) fn number(self) -> u64 {
        if self == Self::NEW { next_span() } else { self.0 }
    }
}

thread_local! {
    /// The task whose guard is being made.
    static TASK: Cell<TaskNumber> = const { Cell::new(TaskNumber::NONE) };
}

/// Takes the number of the task that is being entered. A part of each span's call, before its
/// arguments.
#[inline]
pub fn task_number() -> TaskNumber {
    TASK.replace(TaskNumber::NONE)
}

/// The span of a task.
#[derive(Debug, Default)]
struct TaskSpan {
    /// 0 before it has a slice.
    number: u64,
    /// When its first slice began, in nanoseconds.
    first: u64,
    /// The nanoseconds of its slices.
    busy: u64,
}

/// The guard of a poll, and when it began.
struct EnteredTask {
    span: Span,
    at: u64,
}

impl TaskSpan {
    fn enter(&mut self, span: &mut impl FnMut() -> Span) -> Option<EnteredTask> {
        /// Forgets the task also where the closure panics.
        struct Forget;
        impl Drop for Forget {
            fn drop(&mut self) {
                TASK.set(TaskNumber::NONE);
            }
        }
        let number = if self.number == 0 { TaskNumber::NEW } else { TaskNumber(self.number) };
        TASK.set(number);
        let forget = Forget;
        let span = span();
        drop(forget);
        if span.key == 0 {
            return None;
        }
        let at = boottime();
        if self.number == 0 {
            (self.number, self.first) = (entered::number_of(span.key), at);
        }
        Some(EnteredTask { span, at })
    }

    fn leave(&mut self, entered: Option<EnteredTask>) {
        let Some(EnteredTask { span, at }) = entered else { return };
        let now = boottime();
        let is_first = self.first == at;
        self.busy = self.busy.saturating_add(now.saturating_sub(at));
        let times = (self.busy, now.saturating_sub(self.first));
        span.end((!is_first).then_some(times));
    }
}
