//! The choice of the sink for each message.
//!
//! Invariants: there is one sink, which never changes once it is set, so that finding it takes no lock; a sink that logs or
//! panics does not hurt the log call.

use super::lines::{LINE, print};
use super::logd::Logd;
use super::sink::{TextLine, TextSink};
use super::stderr::Stderr;
use crate::sys;
use crate::sys::fork::is_incomplete;
use crate::sys::once::ForkOnce;
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

/// Sends text to `sink` for the life of the process, instead of to standard error or, on Android, the log daemon.
///
/// # Errors
/// A sink was set before.
pub fn set_sink(sink: impl TextSink + 'static) -> Result<(), SinkIsSet> {
    SINK.set(Box::new(sink)).map_err(|_| SinkIsSet)
}

/// Shows the message that `fill` writes.
pub(super) fn show(level: Level, tag: &str, fill: impl FnOnce(&mut dyn Write) -> fmt::Result) {
    let Some(sink) = sink() else {
        return print(&mut Stderr, level, tag, fill);
    };
    let mut buffer = FixedString::<LINE>::new();
    // The buffer drops what does not fit, so writing can't fail.
    let _ = fill(&mut buffer);
    let line = TextLine { level, tag, text: buffer.text() };
    SHOWING.set(true);
    let shown = catch_unwind(AssertUnwindSafe(|| sink.show(&line)));
    SHOWING.set(false);
    if shown.is_err() {
        print(&mut Stderr, level, tag, |out| out.write_str(line.text));
    }
}

/// Returns the sink; none for standard error, where messages that a sink logs go as well, and those of a child in which the sink's locks
/// may be held for ever.
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
