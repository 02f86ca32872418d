//! The choice of the sink for each message, and its way there.
//!
//! Invariants: there is one sink, which never changes once it is set, so that finding it takes no
//! lock; a sink that logs, panics or waits does not hurt the log call.

use super::lines::{LINE, print, print_with};
use super::logd::Logd;
use super::sink::{TextLine, TextSink};
use super::stderr::Stderr;
use crate::sys;
use crate::sys::copies::{self, Interface};
use crate::sys::fork::is_incomplete;
use crate::sys::once::ForkOnce;
use crate::text_queue::{self, Consumer, QueuedMessage};
use crate::value::FixedString;
use core::cell::Cell;
use core::fmt::{self, Write};
use protolog_core::Level;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The error of setting a second sink.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SinkIsSet;

impl fmt::Debug for SinkIsSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SinkIsSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text has a sink already")
    }
}

impl Error for SinkIsSet {}

static SINK: ForkOnce<Box<dyn TextSink>> = ForkOnce::new();

thread_local! {
    /// True while this thread is in the sink.
    static SHOWING: Cell<bool> = const { Cell::new(false) };
}

/// Sends text to `sink` for the life of the process, instead of to standard error or, on Android,
/// the log daemon.
///
/// # Errors
/// A sink was set before.
pub fn set_sink(sink: impl TextSink + 'static) -> Result<(), SinkIsSet> {
    SINK.set(Box::new(sink)).map_err(|_| SinkIsSet)
}

/// Shows the message that `fill` writes.
pub(super) fn show(level: Level, tag: &str, fill: impl FnOnce(&mut dyn Write) -> fmt::Result) {
    if let Some(host) = copies::host().filter(|_| SINK.get().is_none()) {
        return show_at(host, level, tag, fill);
    }
    let Some(sink) = sink() else {
        return print_with(&mut Stderr, &TextLine::new(level, tag, ""), fill);
    };
    let mut buffer = FixedString::<LINE>::new();
    // The buffer drops what does not fit, so writing can't fail.
    let _ = fill(&mut buffer);
    let line = TextLine::new(level, tag, buffer.text());
    // A message that overtook those that wait would be out of order.
    if text_queue::is_idle() && give(sink, &line, |sink| sink.show_now(&line)) == Some(true) {
        text_queue::report_dropped_before();
        return;
    }
    text_queue::set_consumer(Consumer { show: show_queued, show_dropped });
    let is_queued = text_queue::push_message(&QueuedMessage {
        level: level.severity(),
        thread: line.thread,
        time: line.time,
        tag,
        text: line.text,
    });
    if !is_queued {
        give(sink, &line, |sink| sink.show(&line));
    }
}

/// Shows the message that `fill` writes in the text output of the program whose runtime this copy
/// has joined.
fn show_at(
    host: &Interface,
    level: Level,
    tag: &str,
    fill: impl FnOnce(&mut dyn Write) -> fmt::Result,
) {
    let mut buffer = FixedString::<LINE>::new();
    // The buffer drops what does not fit, so writing can't fail.
    let _ = fill(&mut buffer);
    host.show(level.severity(), tag, buffer.text());
}

/// Shows a message of another copy of this runtime, which has joined this one.
pub(crate) fn show_for_guest(level: Level, tag: &str, text: &str) {
    show(level, tag, |out| out.write_str(text));
}

/// Shows a message that was queued, on the thread for that.
fn show_queued(message: &QueuedMessage<'_>) {
    let QueuedMessage { level, thread, time, tag, text } = *message;
    let level = Level::ALL.into_iter().find(|known| known.severity() == level);
    let line = TextLine { level: level.unwrap_or(Level::Wtf), tag, text, time, thread };
    if let Some(sink) = SINK.get() {
        give(sink.as_ref(), &line, |sink| sink.show(&line));
    } else {
        print(&mut Stderr, &line);
    }
}

/// Shows the number of messages that were dropped; false if they were lines for standard error.
fn show_dropped(count: u64) -> bool {
    let Some(sink) = SINK.get() else { return false };
    let mut text = FixedString::<128>::new();
    let (messages, them) =
        if count == 1 { ("message was", "it") } else { ("messages were", "them") };
    let text =
        text.print(&format_args!("{count} {messages} dropped: the text sink did not take {them}"));
    let line = TextLine::new(Level::Warn, "protolog", text);
    give(sink.as_ref(), &line, |sink| sink.show(&line));
    true
}

/// Gives a message to the sink by `f`. If the sink panics, the message goes to standard error, and
/// there is no result.
fn give<R>(
    sink: &dyn TextSink,
    line: &TextLine<'_>,
    f: impl FnOnce(&dyn TextSink) -> R,
) -> Option<R> {
    let was_showing = SHOWING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(|| f(sink)));
    SHOWING.set(was_showing);
    if result.is_err() {
        print(&mut Stderr, line);
    }
    result.ok()
}

/// Returns the sink; none for standard error, where messages that a sink logs go as well, and those
/// of a child in which the sink's locks may be held for ever.
fn sink() -> Option<&'static dyn TextSink> {
    if SHOWING.get() || is_incomplete() {
        return None;
    }
    SINK.get().map(AsRef::as_ref).or_else(platform)
}

/// The sink of a program that has set none.
fn platform() -> Option<&'static dyn TextSink> {
    static LOGD: ForkOnce<Option<Logd>> = ForkOnce::new();
    if !sys::HAS_LOGD {
        return None;
    }
    // A signal handler must not wait for its own thread.
    SHOWING.set(true);
    let logd = LOGD.get_or_make(|| Logd::later().ok());
    SHOWING.set(false);
    logd.as_ref().map(|logd| logd as &dyn TextSink)
}
